"""Write the scorecard of an exam, and its means beside published ones."""

import pandas as pd

from topics.exam.judge import beside_published, scorecard


def reasons(runs, cca) -> dict[str, str]:
    """Return scenario -> why a CCA has no valid run there, in the words of its first run's checks."""
    of_cca = runs[runs["cca"] == cca]
    failed = of_cca[~of_cca.groupby("scenario")["valid"].transform("any")]
    return {name: f"no valid run: {rows['invalid_because'].iloc[0]}" for name, rows in failed.groupby("scenario")}


def judge_exam(exam_values, runs, exam, scenarios, confidence, significance) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `SCORECARD` and `EXAM_PUBLISHED`."""
    values = exam_values.astype({"replication": int})
    missing = reasons(runs, exam["cca"])
    table = scorecard(values, scenarios, exam, confidence, significance, missing)
    return table, beside_published(values, scenarios, confidence)
