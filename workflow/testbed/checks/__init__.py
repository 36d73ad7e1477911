"""Where a run is judged: each check on what the kernel said."""
