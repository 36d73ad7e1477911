"""Distribution-free intervals for percentiles, from one order statistic to another.

As many of n independent values of any distribution are below its p-th quantile as n tosses of a coin with chance p come up.
So the chance that two of the ordered values hold it between them is a sum of binomial ones (Thompson, 1936, Annals of
Mathematical Statistics 7(3); David and Nagaraja, Order Statistics, 2003, section 7.1), and of few values none do with the
confidence that is asked for: then there is no interval, and how many it takes is all that can be said (as in TriScale: Jacob and
others, 2021, Journal of Systems Research 1(1)).
"""

import math
from dataclasses import dataclass

import numpy as np

TWO_SIDED, UPPER, NONE = "interval", "upper bound", "none"


@dataclass(frozen=True)
class PercentileEstimate:
    """An estimate of a percentile."""

    n: int  # values
    kind: str  # `TWO_SIDED`, or `UPPER` where there are too few for that, or `NONE`
    value: float | None = (
        None  # the smallest value that so much of all is at or below; None where n is too small for one above it
    )
    low: float | None = None
    high: float | None = None
    held: float | None = (
        None  # exact chance, as a fraction, that both ends, or the upper one, hold it; of ties at least this
    )


def least_values(share: float, confidence: float, kind: str = TWO_SIDED) -> int:
    """Return the smallest number of values for an interval of a percentile: enough that the extreme values lie beyond it.

    Parameters
    ----------
    share : float
        Share of values below the percentile, between 0 and 1: 0.95.
    confidence : float
    kind : str
        `TWO_SIDED`, with the same chance of a miss at either end, or `UPPER`.

    Examples
    --------
    >>> [least_values(share, 0.95) for share in (0.5, 0.9, 0.95)]
    [6, 36, 72]
    >>> [least_values(share, 0.95, UPPER) for share in (0.5, 0.9, 0.95, 0.99)]
    [5, 29, 59, 299]
    """
    miss = 1 - confidence if kind == UPPER else (1 - confidence) / 2
    farthest = share if kind == UPPER else max(share, 1 - share)
    # The chance that all values are on one side; rounded, for of a whole number the logarithms may say a little more.
    return math.ceil(round(math.log(miss) / math.log(farthest), 9))


def percentile_interval(values, share: float, confidence: float) -> PercentileEstimate:
    """Return a percentile of independent values with its interval, or its upper bound, as n allows.

    Both ends are values themselves. The interval misses to either side with half of the rest at most, the upper bound
    with all of it.

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
    from scipy import stats  # here: it takes half a second, which each job with fewer values would pay

    below = stats.binom(n, share)
    if n >= least_values(share, confidence):
        # Ranks from 1: fewer than `low` are below the percentile with a chance under half of the rest, `high` or more as well.
        low, high = int(below.ppf((1 - confidence) / 2)), int(below.ppf((1 + confidence) / 2)) + 1
        held = float(below.cdf(high - 1) - below.cdf(low - 1))
        return PercentileEstimate(n, TWO_SIDED, value, float(ordered[low - 1]), float(ordered[high - 1]), held)
    high = int(below.ppf(confidence)) + 1
    return PercentileEstimate(n, UPPER, value, None, float(ordered[high - 1]), float(below.cdf(high - 1)))
