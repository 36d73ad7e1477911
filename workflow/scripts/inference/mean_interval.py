"""The t interval of a mean, and where there is none: of copies of one measurement, and of a few runs that collapsed."""

import math
from dataclasses import dataclass

import numpy as np

from inference.collapses import collapse_words
from inference.student_t import quantile


@dataclass(frozen=True)
class MeasuredMean:
    """The mean of a cell's runs, and as much of an interval as they allow; None where there is none."""

    n: int  # values
    measurements: int  # what they are worth: 1 if they repeat one measurement
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""  # why there is no interval


def mean_interval(values, confidence) -> tuple[float, float, float]:
    """Return the mean of independent values and both ends of its two-sided t interval, in the unit of the values.

    The interval is mean +- t(1 - (1 - confidence)/2, n - 1) * s / sqrt(n) (Student, 1908; NIST/SEMATECH e-Handbook of
    Statistical Methods, section 1.3.5.2).

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Two or more.
    confidence : float
        Between 0 and 1.
    """
    values = np.asarray(values, float)
    n = len(values)
    if n < 2:
        raise ValueError(f"an interval of the mean needs 2 values or more, there are {n}")
    mean = float(values.mean())
    half = float(quantile((1 + confidence) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    return mean, mean - half, mean + half


def repeats_one_measurement(values, resolution=0.0) -> bool:
    """Return whether two values or more are equal or closer than they were measured: one measurement, however often repeated."""
    return len(values) > 1 and bool(np.min(values) == np.max(values) or np.ptp(values) < resolution)


def repeated_words(values) -> str:
    """Say that values are one measurement: "all 4 values are equal: one measurement repeated, so no interval"."""
    how = "equal" if np.min(values) == np.max(values) else "within the resolution of the measurement"
    return f"all {len(values)} values are {how}: one measurement repeated, so no interval"


def measured_mean(values, confidence, resolution=0.0, collapses=None) -> MeasuredMean:
    """Return the mean of independent runs with its t interval, if there is one.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        None missing; n may be 0.
    confidence : float
    resolution : float
        How far values must be apart to be told apart, in their unit.
    collapses : numpy.ndarray of bool, shape (n,), optional
        Which runs collapsed, as `collapses.collapsed` finds them. The mean of so few of them has no interval: of one run in
        ten that collapses, samples of ten show none, one or two.
    """
    values = np.asarray(values, float)
    n = len(values)
    if n == 0:
        return MeasuredMean(0, 0, note="no value")
    if n == 1:
        return MeasuredMean(1, 1, float(values[0]), note="one run: no interval")
    if repeats_one_measurement(values, resolution):
        # Exactly, not by way of a sum: the mean of equal values may differ from them in the last bit.
        mean = float(values[0] if values.min() == values.max() else values.mean())
        return MeasuredMean(n, 1, mean, note=repeated_words(values))
    if collapses is not None and np.any(collapses):
        return MeasuredMean(n, n, float(values.mean()), note=collapse_words(collapses))
    return MeasuredMean(n, n, *mean_interval(values, confidence))
