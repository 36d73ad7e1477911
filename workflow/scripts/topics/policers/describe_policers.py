"""Estimate the mean loss and goodput in each cell of a study with policers."""

import pandas as pd

from run_tables.estimated_cells import estimated_cells
from run_tables.resolution import resolutions
from topics.policers.tables import POLICER_CELLS


def describe_policers(runs, policers, confidence) -> pd.DataFrame:
    """Return `POLICER_CELLS`: one row per cell, in the order of ``runs``; ``policers`` maps scenarios to their policers in words."""
    came = runs["packets_sent"] + runs["policer_drops"]
    came, ideal = came.where(came > 0), runs["ideal_goodput_mbps"]
    measured = runs.assign(
        goodput_percent=runs["ideal_percent"],
        policed_percent=100 * runs["policer_drops"] / came,
        policer=[policers.get(scenario, "") for scenario in runs["scenario"]],
    )
    steps = {
        "goodput_percent": 100 * resolutions(runs, "goodput_mbps") / ideal,
        "policed_percent": 100 / came,
        "loss_percent": resolutions(runs, "loss_percent"),
    }
    return estimated_cells(POLICER_CELLS, measured, confidence, steps=steps)
