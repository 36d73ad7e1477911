"""Describe what real-time streams get in each cell: delay, jitter and loss over the replications."""

import pandas as pd

from experiment.flow_groups import REAL_TIME
from rule_script import run_rule
from run_tables.estimated_cells import estimated_cells
from run_tables.group_tables import GROUPS
from run_tables.reading import read_table
from run_tables.run_keys import CELL
from run_tables.tidy_tables import SCENARIOS
from topics.real_time.tables import REAL_TIME_CELLS
from topics.short_flows.conditions import conditions_of_scenarios


def describe_real_time(groups, scenarios, confidence) -> pd.DataFrame:
    """Return `REAL_TIME_CELLS`: a row a cell and group, in the order of ``groups``."""
    streams, named = groups[groups["application"] == REAL_TIME], conditions_of_scenarios(scenarios)
    return estimated_cells(REAL_TIME_CELLS, streams, confidence, (*CELL, "group", "beside"), named)


def main(inputs, outputs, params) -> None:
    """Read groups and scenarios, write the cells."""
    groups, scenarios = read_table(inputs.groups, GROUPS), read_table(inputs.scenarios, SCENARIOS)
    cells = describe_real_time(groups, scenarios, params.confidence)
    cells.to_csv(outputs.real_time_cells, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
