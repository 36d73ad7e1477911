"""Distribution-free intervals for percentiles: both ends are order statistics.

Of n independent values, the number below the p-th quantile of any distribution is binomial with n trials and probability p. So the
probability that the quantile lies between two of the ordered values is a sum of binomial probabilities (Thompson, 1936, Annals of
Mathematical Statistics 7(3); David and Nagaraja, Order Statistics, 2003, section 7.1). If there are too few values, not even the interval
between the two extremes reaches the requested confidence. Then there is no interval, and only the number of values needed is known (as in
TriScale: Jacob and others, 2021, Journal of Systems Research 1(1)).
"""

import math
from dataclasses import dataclass

import numpy as np

TWO_SIDED, UPPER, NONE = "interval", "upper bound", "none"


@dataclass(frozen=True)
class PercentileEstimate:
    """An estimate of a percentile."""

    n: int  # number of values
    kind: str  # kind of bounds: `TWO_SIDED`, `UPPER` if there are too few values for two bounds, or `NONE`
    value: float | None = (
        None  # smallest value with at least the given share of values at or below it; None if n is too small for a value above it
    )
    low: float | None = None
    high: float | None = None
    held: float | None = (
        None  # exact coverage of the interval or upper bound, as a fraction; a lower bound on the coverage if there are ties
    )


def least_values(share: float, confidence: float, kind: str = TWO_SIDED) -> int:
    """Return the minimum number of values for which the extremes bound a percentile with the given confidence.

    Parameters
    ----------
    share : float
        Share of values below the percentile, between 0 and 1, such as 0.95.
    confidence : float
        Confidence level, between 0 and 1.
    kind : str
        `TWO_SIDED`, with the same error probability at both ends, or `UPPER`.

    Examples
    --------
    >>> [least_values(share, 0.95) for share in (0.5, 0.9, 0.95)]
    [6, 36, 72]
    >>> [least_values(share, 0.95, UPPER) for share in (0.5, 0.9, 0.95, 0.99)]
    [5, 29, 59, 299]
    """
    miss = 1 - confidence if kind == UPPER else (1 - confidence) / 2
    farthest = share if kind == UPPER else max(share, 1 - share)
    # From the probability that all values are on one side; rounded, because the quotient of the logarithms may slightly exceed a whole
    # number.
    return math.ceil(round(math.log(miss) / math.log(farthest), 9))


def percentile_interval(values, share: float, confidence: float) -> PercentileEstimate:
    """Return a percentile of independent values, with its interval or upper bound if there are enough values.

    Both ends are values of the sample. Let a be 1 - ``confidence``. The percentile lies below the interval with a probability of at most
    a / 2, above the interval with a probability of at most a / 2, and above an upper bound with a probability of at most a.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Missing values are ignored.
    share, confidence : float
        See `least_values`.
    """
    ordered = np.sort(np.asarray(values, float))
    ordered = ordered[~np.isnan(ordered)]
    n = len(ordered)
    value = float(ordered[math.ceil(round(n * share, 9)) - 1]) if n * (1 - share) > 1 - 1e-9 else None
    if n < min(least_values(share, confidence), least_values(share, confidence, UPPER)):
        return PercentileEstimate(n, NONE, value)
    from scipy import stats  # imported here: it takes half a second

    below = stats.binom(n, share)
    if n >= least_values(share, confidence):
        # Ranks count from 1. Each of two events has at most half of the error probability: fewer than `low` values are below the
        # percentile, or at least `high` values are.
        low, high = int(below.ppf((1 - confidence) / 2)), int(below.ppf((1 + confidence) / 2)) + 1
        held = float(below.cdf(high - 1) - below.cdf(low - 1))
        return PercentileEstimate(n, TWO_SIDED, value, float(ordered[low - 1]), float(ordered[high - 1]), held)
    high = int(below.ppf(confidence)) + 1
    return PercentileEstimate(n, UPPER, value, None, float(ordered[high - 1]), float(below.cdf(high - 1)))
