"""The vocabulary of an experiment, shared by the workflow, the testbed and the simulator: studies and run specifications."""
