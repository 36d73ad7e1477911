"""Means over the replications of a cell, with the intervals that the report prints."""

import math
from dataclasses import replace

import numpy as np

from inference.mean_interval import MeasuredMean, measured_mean


def cell_estimate(values, confidence, least=None, most=None, resolution=0.0) -> MeasuredMean:
    """Return the mean of a cell's runs with its interval, which is clipped to the bounds of the measure.

    The interval is for the mean of runs like these (see `collapses`); if some runs are outliers, there is no interval.
    An interval from few values can extend beyond the possible values, such as below 0 % or above 100 %. Clipping the interval to
    the bounds doesn't reduce the coverage, because the true mean lies inside the bounds.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        One value per run; missing values are ignored.
    confidence : float
        Confidence level of the two-sided interval, between 0 and 1.
    least, most : float, optional
        Bounds of the measure, such as 0 and 100 for a share in percent.
    resolution : float
        Smallest distinguishable difference between two values, in their unit.
    """
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    known = measured_mean(values, confidence, resolution)
    if known.low is None:
        return known
    # A difference such as RTT minus base RTT may exceed its bound by the clock's resolution: keep the mean inside the interval.
    low = known.low if least is None else min(max(known.low, least), known.mean)
    high = known.high if most is None else max(min(known.high, most), known.mean)
    return replace(known, low=low, high=high)


def estimate_columns(estimate, mean, ends="") -> dict[str, float]:
    """Return an estimate as columns: ``<mean>``, ``<ends>_low`` and ``<ends>_high``; the default of ``ends`` is ``mean``."""
    names = (mean, f"{ends or mean}_low", f"{ends or mean}_high")
    values = (estimate.mean, estimate.low, estimate.high)
    return {name: math.nan if value is None else value for name, value in zip(names, values, strict=True)}
