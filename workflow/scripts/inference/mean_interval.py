"""Intervals for means, and the cases without an interval: too few runs, one measurement repeated, and outliers.

Student's t interval assumes normal values. With few skewed values it contains the mean too rarely (in 88 % of cases if they are
exponential), and so does the bootstrap-t interval with few heavy-tailed values (91 %). So an interval here extends from the smaller of the
two lower ends to the larger of the two upper ends. With at least `LEAST_RUNS` values, a nominal 95 % interval contains the mean of normal,
skewed, heavy-tailed and uniform values in 93 to 97 % of cases (`benchmarks/coverage.py`). With fewer values the bootstrap-t interval is up
to ten times as wide as Student's, and the coverage of the combination is more than 97 %.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from inference.collapses import kinds_words, other_kind
from inference.student_t import quantile

#: Minimum number of values for an interval.
LEAST_RUNS = 6
#: Maximum number of values for which the bootstrap-t interval is used; with more values, Student's t is sufficient even if they are skewed.
BOOTSTRAP_MAX_RUNS = 200
#: Number of resamples. Half of them mirror the other half, so that negating all values mirrors the interval.
RESAMPLES = 2000


@dataclass(frozen=True)
class MeasuredMean:
    """The mean of a cell's runs and its interval, if the runs allow one; missing values are None."""

    n: int  # number of values
    measurements: int  # effective number of measurements: 1 if all values repeat the same measurement
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""  # reason why there is no interval
    apart: int = 0  # number of outliers


def mean_interval(values, confidence) -> tuple[float, float, float]:
    """Return the mean of independent values and both ends of its two-sided interval, in the unit of the values.

    The interval is the smallest that contains both Student's interval and the bootstrap-t interval.
    Student's interval is mean +- t(1 - (1 - confidence)/2, n - 1) * s / sqrt(n) (Student, 1908; NIST/SEMATECH e-Handbook of
    Statistical Methods, section 1.3.5.2); the bootstrap-t interval uses the quantiles of the resamples' t (Efron and
    Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5; Hesterberg, 2015, The American Statistician 69(4)).

    Parameters
    ----------
    values : array_like of float, shape (n,)
        At least `LEAST_RUNS` values, not all equal.
    confidence : float
        Confidence level of the interval, between 0 and 1.

    Raises
    ------
    ValueError
        If there are fewer than `LEAST_RUNS` values.
    """
    # Sorted, so that resamples don't depend on the order of the values.
    values = np.sort(np.asarray(values, float))
    n = len(values)
    if n < LEAST_RUNS:
        raise ValueError(f"an interval for the mean needs at least {LEAST_RUNS} values, but there are {n}")
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    low = high = float(quantile((1 + confidence) / 2, n - 1))
    if n <= BOOTSTRAP_MAX_RUNS and deviation > 0:
        t = _resampled_t((values - mean) / deviation)
        outside = max(int((1 - confidence) / 2 * (len(t) + 1) + 1e-9), 1)
        low, high = max(low, t[-outside]), max(high, -t[outside - 1])
    error = deviation / math.sqrt(n)
    return mean, mean - low * error, mean + high * error


def _resampled_t(standardised):
    """Return the t statistics of resamples of the given values, in ascending order; the values have mean 0 and standard deviation 1.

    Quantised values can give resamples of equal values; for these, t is undefined, so they are excluded.
    """
    n = len(standardised)
    weights = _resamples(n)
    means = weights @ standardised
    variances = (weights @ standardised**2 - means**2) * n / (n - 1)
    known = variances > 1e-12
    # Rounded, so that the order in which the machine adds numbers has no effect.
    return np.round(np.sort(means[known] / np.sqrt(variances[known]) * math.sqrt(n)), 9)


@lru_cache(maxsize=16)
def _resamples(n) -> np.ndarray:
    """Return the weight of each of n values in each resample, shape (`RESAMPLES`, n).

    All samples of n values use the same weights.
    """
    drawn = np.random.default_rng(n).multinomial(n, [1 / n] * n, RESAMPLES // 2) / n
    return np.concatenate([drawn, drawn[:, ::-1]])


def repeats_one_measurement(values, resolution=0.0) -> bool:
    """Return whether two or more values are equal within their resolution, and thus repeat one measurement."""
    return len(values) > 1 and bool(np.min(values) == np.max(values) or np.ptp(values) < resolution)


def repeated_words(values) -> str:
    """Return the reason for a missing interval: "all 4 values are equal: one measurement repeated, so no interval"."""
    how = "equal" if np.min(values) == np.max(values) else "within the resolution of the measurement"
    return f"all {len(values)} values are {how}: one measurement repeated, so no interval"


def too_few_words(n) -> str:
    """Return the reason for a missing interval: "4 runs: an interval needs 6"."""
    return f"{'one run' if n == 1 else f'{n} runs'}: an interval needs {LEAST_RUNS}"


def measured_mean(values, confidence, resolution=0.0) -> MeasuredMean:
    """Return the mean of independent runs, with an interval if the runs allow one.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Values, none missing; n may be 0.
    confidence : float
        Confidence level of the interval, between 0 and 1.
    resolution : float
        Smallest distinguishable difference between two values, in their unit.
    """
    values = np.asarray(values, float)
    n = len(values)
    if n == 0:
        return MeasuredMean(0, 0, note="no value")
    if n > 1 and repeats_one_measurement(values, resolution):
        # Use the value itself and not a sum, because the mean of equal values may differ from them in the last bit.
        mean = float(values[0] if values.min() == values.max() else values.mean())
        return MeasuredMean(n, 1, mean, note=repeated_words(values))
    mean, other = float(values.mean()), other_kind(values, resolution)
    if other.any():
        return MeasuredMean(n, n, mean, note=kinds_words(other), apart=int(other.sum()))
    if n < LEAST_RUNS:
        return MeasuredMean(n, n, mean, note=too_few_words(n))
    return MeasuredMean(n, n, *mean_interval(values, confidence))
