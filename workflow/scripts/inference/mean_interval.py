"""The t interval of a mean."""

import math

import numpy as np
from scipy import stats


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
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    return mean, mean - half, mean + half
