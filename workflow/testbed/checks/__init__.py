"""The checks that judge a run by the kernel's counters and settings."""
