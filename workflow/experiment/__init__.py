"""The words of an experiment, for the workflow and for what carries runs out: what a study and a run's specification say."""
