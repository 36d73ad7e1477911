"""Runs in the ns-3 simulator."""
