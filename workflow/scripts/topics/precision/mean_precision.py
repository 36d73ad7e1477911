"""Check whether a metric's mean in a cell is as precise as the study requires."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from inference.cell_estimates import cell_estimate
from inference.percentile_interval import UPPER, least_values
from run_tables.metrics import METRICS, Metric
from run_tables.resolution import copied_runs, resolution_of
from run_tables.run_keys import CELL

PRECISE, ONE, EQUAL, NO_VALUE = "precise", "one measurement", "equal values", "no value"
TOO_WIDE, TWO_KINDS, TOO_FEW, EQUAL_SO_FAR = "too wide", "two kinds of run", "too few values", "equal so far"
#: Verdicts on means that are as precise as required.
SETTLED = (PRECISE, ONE, EQUAL)
#: Verdicts that call for more replications of a scenario. `NO_VALUE` isn't one of them, because further runs wouldn't produce a value.
OPEN = (TOO_WIDE, TWO_KINDS, TOO_FEW, EQUAL_SO_FAR)
#: Largest share of all runs that may have a different value from the runs of a cell with equal values, at the interval's confidence level.
OTHER_RUNS = 0.1


@dataclass(frozen=True)
class MeanPrecision:
    """A mean, the ends of its interval, and the verdict on its precision.

    ``half_width`` is the larger half-width of the interval, in % of the mean or in points.
    """

    verdict: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    half_width: float | None = None


def mean_precision(values, metric: Metric, wanted, level, resolution=0.0, copied=True) -> MeanPrecision:
    """Return the precision of a metric's mean in a cell.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Values of the valid runs, in the metric's unit.
    wanted : float
        Largest acceptable half-width of the interval: in points if the metric is compared in points, otherwise in % of the mean.
    level : float
        Confidence level of the interval, between 0 and 1 (`inference.looks_at_spread.level_of_looks`).
    resolution : float
        Smallest distinguishable difference between values, in the metric's unit.
    copied : bool
        Whether equal values are copies of one measurement. Otherwise they are equal by chance, such as losses of 0, and only a sufficient
        number of them (`OTHER_RUNS`) is precise.
    """
    values = np.asarray(values, float)
    if not len(values):
        return MeanPrecision(NO_VALUE)
    # The half-width is that of the entire interval, not of the part within the metric's bounds.
    known = cell_estimate(values, level, resolution=resolution)
    mean, low, high = known.mean, known.low, known.high
    if low is None:
        if known.apart or known.measurements > 1 or known.n < 2:
            return MeanPrecision(TWO_KINDS if known.apart else TOO_FEW, mean)
        enough = known.n >= least_values(1 - OTHER_RUNS, level, UPPER)
        return MeanPrecision(ONE if copied else EQUAL if enough else EQUAL_SO_FAR, mean)
    half_width = max(high - mean, mean - low) * (1 if metric.scale == "points" else 100 / abs(mean))
    return MeanPrecision(PRECISE if half_width <= wanted else TOO_WIDE, mean, low, high, half_width)


def precision_rows(runs: pd.DataFrame, until: Mapping[str, float], level: float) -> Iterator[dict]:
    """Yield one row of `PRECISION` for each cell and each metric for which a precision is required.

    Parameters
    ----------
    until : mapping
        ``replications.until`` of a resolved study.
    level : float
        Confidence level of the intervals.
    """
    copied = copied_runs(runs[runs["valid"]], CELL)
    for cell, group in runs.groupby(CELL, sort=False):
        valid = group[group["valid"]]
        for metric in (metric for metric in METRICS if metric.difference in until):
            values = valid[metric.column].dropna()
            wanted = until[metric.difference]
            judged = mean_precision(
                values, metric, wanted, level, resolution_of(valid, metric.column), copied[valid.index].all()
            )
            yield {
                **dict(zip(CELL, cell, strict=True)), "scenario_label": group["scenario_label"].iloc[0],
                "metric": metric.column, "unit": metric.unit, "replications": len(group), "n": len(values),
                "level_percent": round(100 * level, 2), "wanted": wanted, "precision_unit": "points" if metric.scale == "points" else "%",
                **vars(judged),
            }  # fmt: skip
