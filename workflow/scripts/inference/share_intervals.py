"""Intervals for bounded quantities, such as a share of a link or a fairness index.

A share of 0.97 can't be 0.2 too low in one study and 0.2 too high in the next: near a bound the
distribution is skewed, and an interval mean +- t s / sqrt(n) extends beyond the bound. The logit
scale has no bounds. With two flows, the logit of a flow's share is ln(goodput / goodput of the
other flow), the log-ratio used to analyse compositions (Aitchison, 1982, "The statistical
analysis of compositional data", J. R. Stat. Soc. B 44(2)). For proportions that aren't counts, logits
are more suitable than arcsines (Warton and Hui, 2011, "The arcsine is asinine", Ecology 92(1)).
A bootstrap alone doesn't help if there are few replications: its percentile intervals, including BCa intervals, are
too narrow in small samples (Hesterberg, 2015, "What teachers should know about the bootstrap", The
American Statistician 69(4)). tests/inference/test_share_intervals.py compares the coverage of this interval
(`mean_interval` of the logits) with the coverage of the BCa bootstrap.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from inference.collapses import kinds_words, other_kind
from inference.mean_interval import LEAST_RUNS, mean_interval, repeated_words, repeats_one_measurement, too_few_words

# Largest difference due to rounding: a double's 16 digits minus those lost in the computation.
NOISE = 1e-12


@dataclass(frozen=True)
class BoundedEstimate:
    """An estimate of the typical value of a bounded quantity; missing values are None."""

    n: int  # number of values
    value: float | None = None  # mean of the logits, converted back; its interval is converted in the same way
    low: float | None = None
    high: float | None = None
    mean: float | None = None  # mean of the values themselves; `smallest` and `largest` are the extremes of the values
    smallest: float | None = None
    largest: float | None = None
    note: str = ""  # reason why a result is missing, or another method was used


def logit(values, lower=0.0, upper=1.0) -> np.ndarray | np.float64:
    """Return ln((x - lower) / (upper - x)): infinite at the bounds."""
    return special.logit((np.asarray(values, float) - lower) / (upper - lower))


def expit(values, lower=0.0, upper=1.0) -> np.ndarray | np.float64:
    """Return the values that have the given logits; the inverse of `logit`."""
    return lower + (upper - lower) * special.expit(values)


def bounded_estimate(values, confidence, lower=0.0, upper=1.0, resolution=0.0) -> BoundedEstimate:
    """Estimate the typical value of a bounded quantity from independent values.

    If a value lies on a bound, it has no finite logit. The mean and interval are then computed from the values themselves, the interval
    is clipped to the bounds, and the note says so.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Values from `lower` to `upper`; missing values are ignored. Values outside this range raise `ValueError`.
    confidence : float
        Confidence level of the two-sided interval, between 0 and 1.
    resolution : float
        Smallest distinguishable difference between two values.
    """
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return BoundedEstimate(0, note="no valid run")
    if values.min() < lower - NOISE or values.max() > upper + NOISE:
        raise ValueError(f"{values.min():g} to {values.max():g} is beyond {lower:g} to {upper:g}")
    values = values.clip(lower, upper)
    known = {"mean": float(values.mean()), "smallest": float(values.min()), "largest": float(values.max())}
    if n == 1:
        return BoundedEstimate(1, known["mean"], note=too_few_words(1), **known)
    logits = logit(values, lower, upper)
    if repeats_one_measurement(values, max(resolution, NOISE)):
        # Use the value itself and not a sum, because the mean of equal values may differ from them in the last bit.
        value = known["smallest"] if np.ptp(values) <= NOISE else known["mean"]
        return BoundedEstimate(n, value, **known, note=repeated_words(values))
    # For a share close to 1, the share that remains for the other flows shows whether the share is an outlier.
    other = other_kind(values - lower, resolution) | other_kind(upper - values, resolution)
    if other.any() or n < LEAST_RUNS:
        value = float(expit(logits.mean(), lower, upper)) if np.isfinite(logits).all() else known["mean"]
        return BoundedEstimate(n, value, **known, note=kinds_words(other) if other.any() else too_few_words(n))
    if not np.isfinite(logits).all():
        low, high = np.clip(mean_interval(values, confidence)[1:], lower, upper)
        note = "a value on the bound has no logit: mean and interval of the values themselves"
        return BoundedEstimate(n, known["mean"], float(low), float(high), **known, note=note)
    value, low, high = (float(expit(point, lower, upper)) for point in mean_interval(logits, confidence))
    return BoundedEstimate(n, value, low, high, **known)
