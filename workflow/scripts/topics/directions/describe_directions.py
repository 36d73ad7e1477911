"""Describe each direction's goodput over the replications, in cells whose long flows send in both directions."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.run_keys import CELL, RUN
from topics.directions.tables import DIRECTION_CELLS


def describe_directions(flows, scenarios, offered, apart, confidence) -> pd.DataFrame:
    """Return `DIRECTION_CELLS`: one row per cell and direction, in the order of ``flows``.

    ``offered`` is the result of `topic.offered`: scenario -> direction -> average capacity of the path in Mbit/s. ``apart`` is the result
    of `topic.apart`.
    """
    both = flows[flows["scenario"].isin(offered)]
    of_run = both.groupby([*RUN, "direction"], sort=False)
    runs = of_run.agg(
        goodput_mbps=("goodput_lifetime_mbps", lambda values: values.sum(skipna=False)),
        rtt_mean_ms=("rtt_mean_ms", "mean"),
        rtt_path_ms=("rtt_path_ms", "mean"),
        flows=("flow", "nunique"),
        valid=("valid", "all"),
    ).reset_index()
    unsummed = set(map(tuple, apart))
    is_apart = [place in unsummed for place in zip(runs["scenario"], runs["direction"], strict=True)]
    runs["goodput_mbps"] = runs["goodput_mbps"].mask(is_apart)
    limits = [offered[row["scenario"]][row["direction"]] for row in runs.to_dict("records")]
    runs["used_percent"] = 100 * runs["goodput_mbps"] / pd.Series(limits, runs.index, float)
    labels = scenarios.set_index("scenario")[["label"]].rename(columns={"label": "scenario_label"})
    return estimated_cells(DIRECTION_CELLS, runs, confidence, (*CELL, "direction"), labels)
