"""The checks that decide, from the kernel's counters and settings, whether a run is valid."""
