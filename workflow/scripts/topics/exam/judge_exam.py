"""Write the scorecard of an exam, and the comparison of its means with published values."""

import pandas as pd

from topics.exam.beside_published import beside_published
from topics.exam.scorecard import scorecard


def judge_exam(exam_values, runs, exam, scenarios, confidence, significance) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `SCORECARD` and `EXAM_PUBLISHED`."""
    values, runs = exam_values.astype({"replication": int}), runs.astype({"replication": int})
    table = scorecard(values, scenarios, exam, confidence, significance, runs)
    return table, beside_published(values, scenarios, confidence)
