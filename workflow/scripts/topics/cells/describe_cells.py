"""Describe each metric in each cell: mean with interval, standard deviation, and normality.

The unit of analysis is the cell (scenario, CCA, IP version), with one value from each valid replication. Statistics that can't be computed
are left empty, and the column `note` gives the reason.
"""

import numpy as np
import pandas as pd

from inference.cell_estimates import cell_estimate
from inference.normality import SHAPIRO_MAX_N, SHAPIRO_MIN_N, shapiro_wilk
from run_tables.exclusions import runs_with_exclusions, with_kept
from run_tables.metrics import DESCRIBED_METRICS
from run_tables.resolution import coarsest, resolutions
from run_tables.run_keys import CELL
from run_tables.tidy_tables import RUNS
from topics.cells.tables import DESCRIPTIVE


def describe(values, runs, confidence, resolution=0.0, bounds=(None, None), worst=None) -> dict:
    """Describe one metric of one cell.

    Returns the columns of `DESCRIPTIVE` that follow `unit`, except mean_kept. Statistics that can't be computed are omitted; `note` gives
    the reason.

    Parameters
    ----------
    values : pandas.Series of float
        One value for each valid run; missing if none was measured.
    runs : int
        Number of runs in the cell, whether valid or not.
    confidence : float
        Confidence level of the interval for the mean.
    resolution : float
        Smallest distinguishable difference between values, in the values' unit. If all differences are smaller, the runs repeat one
        measurement.
    bounds : tuple of float
        Smallest and largest possible value; None for a side without a bound.
    worst : float, optional
        Worst value that the metric can have in a run.
    """
    known = values.dropna().to_numpy(float)
    n = len(known)
    row, notes = {}, []
    if len(values) == 0:
        notes.append(f"no valid run among {runs}")
    elif n < len(values):
        notes.append(f"{len(values) - n} of {len(values)} valid runs have no value")
    if 0 < n < runs:
        notes.append(
            f"{runs - n} of {runs} runs missing, not necessarily at random: mean, interval and SD cover the others"
        )
        if worst is not None:
            row["mean_worst"] = (known.sum() + (runs - n) * worst) / runs
    if n >= 1:
        mean = cell_estimate(known, confidence, *bounds, resolution)
        row |= {"measurements": mean.measurements, "mean": mean.mean, "ci_low": mean.low, "ci_high": mean.high}
        row["apart"] = mean.apart
        row |= {"median": np.median(known), "min": known.min(), "max": known.max()}
    if n == 1:
        notes.append("one value: no interval, no standard deviation, no test of normality")
    elif n >= 2:
        row["sd"] = 0.0 if known.min() == known.max() else known.std(ddof=1)
        if mean.note:
            notes.append(mean.note + " and no test of normality" * (mean.measurements == 1))
        if mean.measurements > 1 and n < SHAPIRO_MIN_N:
            notes.append(f"two values: a test of normality needs {SHAPIRO_MIN_N}")
        elif mean.measurements > 1:
            row["shapiro_w"], row["shapiro_p"] = shapiro_wilk(known)
            if n > SHAPIRO_MAX_N:
                notes.append(f"above n = {SHAPIRO_MAX_N} the p of Shapiro-Wilk is approximate")
    return {"runs": runs, "n": n, **row, "note": "; ".join(notes)}


def describe_valid(runs, confidence) -> pd.DataFrame:
    """Return `DESCRIPTIVE` for the valid runs of each cell; mean_kept stays empty."""
    rows, steps = [], {metric.column: resolutions(runs, metric.column) for metric in DESCRIBED_METRICS}
    for cell, group in runs.groupby(CELL, sort=False):
        valid = group[group["valid"]]
        same = {**dict(zip(CELL, cell, strict=True)), "scenario_label": group["scenario_label"].iloc[0]}
        for metric in DESCRIBED_METRICS:
            resolution = coarsest(steps[metric.column][valid.index])
            bounds = RUNS[metric.column].least, RUNS[metric.column].most
            statistics = describe(valid[metric.column], len(group), confidence, resolution, bounds, metric.worst)
            rows.append(same | {"metric": metric.column, "unit": metric.unit} | statistics)
    return pd.DataFrame(rows, columns=DESCRIPTIVE.names).astype({"measurements": "Int64", "apart": "Int64"})


def describe_cells(runs, confidence) -> pd.DataFrame:
    """Return `DESCRIPTIVE`."""
    table, kept = describe_valid(runs, confidence), runs_with_exclusions(runs)
    if kept is not None:
        table = with_kept(table, describe_valid(kept, confidence), [*CELL, "metric"], ["mean"])
    return table
