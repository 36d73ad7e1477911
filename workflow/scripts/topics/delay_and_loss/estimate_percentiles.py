"""Estimate percentiles of delays and completion times over each cell's replications, with intervals where possible."""

import numpy as np
import pandas as pd

from inference.percentile_interval import TWO_SIDED, UPPER, least_values, percentile_interval
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL
from run_tables.tidy_tables import RUNS
from topics.delay_and_loss.tables import DELAY_PERCENTILES

#: Percentiles that are estimated for each delay, in percent.
PERCENTILES = (50, 95)
DELAYS = ("rtt_mean_ms", "rtt_steady_ms", "transfer_s")
#: Delays that iperf3 prints to the microsecond.
PRINTED = ("rtt_mean_ms", "rtt_steady_ms")


def percentile_row(values: pd.Series, percentile: float, confidence: float, resolution: float = 0.0) -> dict:
    """Return the columns of `DELAY_PERCENTILES` from `percentile` to `note`.

    Parameters
    ----------
    values : pandas.Series of float
        Known values of the valid runs.
    percentile : float
        The percentile to estimate, such as 95.
    confidence : float
    resolution : float
        Smallest distinguishable difference between values. If no difference is larger, the values repeat one measurement, and no
        interval is given.
    """
    share = percentile / 100
    least, least_upper = (least_values(share, confidence, kind) for kind in (TWO_SIDED, UPPER))
    same = len(values) > 1 and np.ptp(values.to_numpy(float)) <= resolution
    interval = percentile_interval(values.iloc[:1] if same else values, share, confidence)
    row = {
        "percentile": percentile, "n": len(values), "value": values.iloc[0] if same else interval.value, "bounds": interval.kind,
        "low": interval.low, "high": interval.high, "held_percent": None if interval.held is None else 100 * interval.held,
        "least_interval": least, "least_upper": least_upper,
    }  # fmt: skip
    if same:
        return row | {"note": f"all {len(values)} values are one measurement repeated: n = 1"}
    if interval.kind == TWO_SIDED:
        return row | {"note": ""}
    if interval.kind == UPPER:
        return row | {"note": f"an interval needs {least} runs"}
    return row | {"note": f"an upper bound needs {least_upper} runs, and an interval needs {least}"}


def estimate_percentiles(runs, confidence) -> pd.DataFrame:
    """Return `DELAY_PERCENTILES` for every delay that was measured in the study."""
    rows = []
    for metric in DELAYS:
        for cell, group in runs[runs["valid"] & runs[metric].notna()].groupby(CELL, sort=False):
            place = {"metric": metric, "unit": RUNS[metric].unit, **dict(zip(CELL, cell, strict=True))}
            place["scenario_label"] = group["scenario_label"].iloc[0]
            resolution = resolution_of(group, "rtt_mean_ms") if metric in PRINTED else 0.0
            for percentile in PERCENTILES:
                rows.append(place | percentile_row(group[metric], percentile, confidence, resolution))
    return pd.DataFrame(rows).reindex(columns=DELAY_PERCENTILES.names)
