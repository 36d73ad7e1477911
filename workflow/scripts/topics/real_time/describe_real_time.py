"""Estimate the mean delay, jitter and loss of real-time streams in each cell."""

import pandas as pd

from experiment.flow_groups import REAL_TIME
from run_tables.estimated_cells import estimated_cells
from run_tables.run_keys import CELL
from topics.real_time.tables import REAL_TIME_CELLS


def describe_real_time(groups, settings, confidence) -> pd.DataFrame:
    """Return `REAL_TIME_CELLS`: one row per cell and group, in the order of ``groups``."""
    streams, of_scenario = groups[groups["application"] == REAL_TIME], pd.DataFrame.from_dict(settings, orient="index")
    return estimated_cells(REAL_TIME_CELLS, streams, confidence, (*CELL, "group", "beside"), of_scenario)
