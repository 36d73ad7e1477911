"""Describe how precise each mean is, and how many replications were run."""

import pandas as pd

from inference.looks_at_spread import level_of_looks
from study_files.study_replications import looks
from topics.precision.mean_precision import precision_rows
from topics.precision.tables import PRECISION


def describe_precision(runs, replications, confidence) -> pd.DataFrame:
    """Return `PRECISION`."""
    rule = {"replications": replications}
    level = level_of_looks(looks(rule), confidence)
    rows = precision_rows(runs, replications["until"], level)
    return pd.DataFrame(rows, columns=PRECISION.names)
