"""Definitions shared by the workflow, the testbed and the simulator: run specifications and the conditions that studies may set."""
