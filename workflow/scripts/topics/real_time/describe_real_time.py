"""Describe what real-time streams get in each cell: delay, jitter and loss over the replications."""

import pandas as pd

from experiment.flow_groups import REAL_TIME
from run_tables.estimated_cells import estimated_cells
from run_tables.run_keys import CELL
from topics.real_time.tables import REAL_TIME_CELLS
from topics.short_flows.conditions import conditions_of_scenarios


def describe_real_time(groups, scenarios, confidence) -> pd.DataFrame:
    """Return `REAL_TIME_CELLS`: a row a cell and group, in the order of ``groups``."""
    streams, named = groups[groups["application"] == REAL_TIME], conditions_of_scenarios(scenarios)
    return estimated_cells(REAL_TIME_CELLS, streams, confidence, (*CELL, "group", "beside"), named)
