"""Describe what real-time streams get in each cell: delay, jitter and loss over the replications."""

import pandas as pd

from rule_script import run_rule
from run_tables.group_tables import GROUPS
from run_tables.reading import read_table
from run_tables.run_keys import CELL
from run_tables.tidy_tables import SCENARIOS
from testbed.flow_groups import REAL_TIME
from topics.real_time.tables import MEASURES, REAL_TIME_CELLS
from topics.short_flows.conditions import conditions_of_scenarios
from topics.short_flows.estimates import estimate


def describe_real_time(groups, scenarios, confidence) -> pd.DataFrame:
    """Return `REAL_TIME_CELLS`: a row a cell and group, in the order of ``groups``."""
    named, rows = conditions_of_scenarios(scenarios), []
    keys = [*CELL, "group", "beside"]
    for key, of_cell in groups[groups["application"] == REAL_TIME].groupby(keys, sort=False):
        valid = of_cell[of_cell["valid"]]
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                **named.loc[key[0]].to_dict(),
                "n": len(valid),
                "packets": valid["packets"].mean(),
                **{name: value for measure in MEASURES for name, value in estimate(valid, measure.name, confidence)},
            }
        )
    return pd.DataFrame(rows, columns=REAL_TIME_CELLS.names)


def main(inputs, outputs, params) -> None:
    """Read groups and scenarios, write the cells."""
    groups, scenarios = read_table(inputs.groups, GROUPS), read_table(inputs.scenarios, SCENARIOS)
    cells = describe_real_time(groups, scenarios, params.confidence)
    cells.to_csv(outputs.real_time_cells, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
