"""Estimate, in each cell, the mean goodput and share of each group of long flows or programs."""

import pandas as pd

from experiment.flow_groups import LONG, PROGRAM
from run_tables.estimated_cells import estimated_cells
from run_tables.run_keys import CELL, RUN
from topics.flow_groups.tables import GROUP_CELLS


def describe_groups(groups, scenarios, pausing, confidence) -> pd.DataFrame:
    """Return `GROUP_CELLS`: one row per cell and group of long flows or programs, in the order of ``groups``.

    ``pausing`` contains (scenario, group) for each group whose flows pause.
    """
    long = groups[groups["application"].isin((LONG, PROGRAM))]
    labels = scenarios.set_index("scenario")[["label"]].rename(columns={"label": "scenario_label"})
    return estimated_cells(
        GROUP_CELLS,
        long.assign(share_percent=shares_percent(long, pausing)),
        confidence,
        (*CELL, "group"),
        labels,
        also=lambda row, _: {"flow_mbps": row["goodput_mbps"] / row["members"]},
    )


def shares_percent(groups, pausing=()) -> pd.Series:
    """Return the goodput of each group as a percentage of the total goodput in the same run and direction.

    The share is missing if the groups send at different times, if a group pauses (its goodput then covers only its on-times), or if the
    goodput of a group is missing.
    """
    names = zip(groups["scenario"], groups["group"], strict=True)
    groups = groups.assign(pauses=[name in set(map(tuple, pausing)) for name in names])
    of_run = groups.groupby([*RUN, "direction"], sort=False)
    total = of_run["goodput_mbps"].transform("sum", min_count=1)
    known = of_run["goodput_mbps"].transform(lambda values: values.notna().all())
    together = (of_run["start_s"].transform("nunique") == 1) & (of_run["stop_s"].transform("nunique") == 1)
    steady = ~of_run["pauses"].transform("any")
    return (100 * groups["goodput_mbps"] / total).where(known & together & steady & (total > 0))
