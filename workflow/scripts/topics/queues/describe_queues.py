"""Estimate the mean delay, goodput, drops and marks in each cell."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.resolution import RTT_RESOLUTION_MS, resolutions
from topics.queues.tables import QUEUE_CELLS


def describe_queues(runs, scenarios, settings, confidence) -> pd.DataFrame:
    """Return `QUEUE_CELLS`: one row per cell, in the order of ``runs``."""
    of_scenario = scenarios.set_index("scenario")
    runs = runs[(runs["topology"] != "chain") & (runs["multipath"] == "none")]
    offered = runs["packets_sent"].where(runs["packets_sent"] > 0)
    ideal = runs["ideal_goodput_mbps"].where(runs["ideal_goodput_mbps"] > 0)
    measured = runs.assign(
        queueing_ms=runs["queueing_mean_ms"],
        goodput_percent=runs["ideal_percent"],
        drop_percent=100 * runs["queue_drops"] / offered,
        mark_percent=100 * runs["queue_marks"] / offered,
    )
    steps = {
        "rtt_above_ms": pd.Series(RTT_RESOLUTION_MS, runs.index),
        "goodput_percent": 100 * resolutions(runs, "goodput_mbps") / ideal,
        "drop_percent": 100 / offered,
        "mark_percent": 100 / offered,
        "jain_index": resolutions(runs, "jain_index"),
    }
    return estimated_cells(
        QUEUE_CELLS,
        measured,
        confidence,
        of_scenario=of_scenario[["queue_parameters"]].join(pd.DataFrame.from_dict(settings, orient="index")),
        steps=steps,
    )
