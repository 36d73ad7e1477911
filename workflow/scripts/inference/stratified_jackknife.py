"""Uncertainty of a statistic over several strata: jackknife over whole replications, t intervals, Fieller's interval for a ratio.

A statistic comes as rows: the first of all data, then one for each replication left out, stratum by stratum. What
replications have in common (a seed, say) so stays in common. A mean in one stratum has the t interval.
"""

from dataclasses import dataclass

import numpy as np

from inference.student_t import chance_below, quantile


@dataclass(frozen=True)
class Stratum:
    """The rows in which a replication of one stratum is left out, and its degrees of freedom."""

    rows: slice
    df: int


def covariances(one, other, strata) -> np.ndarray:
    """Return each stratum's part of the jackknife covariance of two statistics, shape (strata, *statistic).

    It is (n - 1)/n times the sum of products of the rows' deviations from their mean (Efron and Stein, 1981, The
    Annals of Statistics 9(3), equation 1.5), of a mean exactly s^2/n.

    Parameters
    ----------
    one, other : numpy.ndarray of float, shape (1 + replications, ...)
    strata : sequence of Stratum
    """
    parts = []
    for stratum in strata:
        left, right = one[stratum.rows], other[stratum.rows]
        n = len(left)
        parts.append((n - 1) / n * ((left - left.mean(axis=0)) * (right - right.mean(axis=0))).sum(axis=0))
    return np.array(parts)


def degrees_of_freedom(variances, strata) -> np.ndarray:
    """Return the degrees of freedom of a sum of the strata's variances, shape of a statistic.

    They are (sum V)^2 / sum(V^2 / f) (Satterthwaite, 1946, Biometrics Bulletin 2(6), 110-114), of one stratum its own f.
    With three values a stratum they hold 93 to 97 % where 95 are meant; Welch's (1947, with f + 2, less 2) 91 to 95.
    """
    f = np.array([stratum.df for stratum in strata], float).reshape(-1, *[1] * (variances.ndim - 1))
    spread = (variances**2 / f).sum(axis=0)
    own = np.divide(variances.sum(axis=0) ** 2, spread, out=np.full(spread.shape, np.nan), where=spread > 0)
    return np.where(np.isnan(own), f.min(), np.maximum(own, f.min()))


def t_interval(rows, strata, tail) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of a smooth statistic's t interval, shape of the statistic.

    Parameters
    ----------
    rows : numpy.ndarray of float, shape (1 + replications, ...)
    strata : sequence of Stratum
    tail : float
        Chance of a miss on either side, below 0.5.
    """
    variances = covariances(rows, rows, strata)
    half = quantile(1 - tail, degrees_of_freedom(variances, strata)) * np.sqrt(variances.sum(axis=0))
    return rows[0] - half, rows[0] + half


def ratio_interval(above, below, strata, tail) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of a ratio of two statistics that are not below 0 (Fieller, 1954, JRSS B 16(2)).

    It holds the ratios r for which ``above - r below`` isn't far from 0, and so is right for any divisor and for
    pairs; without an upper end (infinite) where the divisor may be 0.

    Parameters
    ----------
    above, below : numpy.ndarray of float, shape (1 + replications, ...)
    strata : sequence of Stratum
    tail : float
        See `t_interval`.
    """
    ratio = np.divide(above[0], below[0], out=np.zeros(above[0].shape), where=below[0] > 0)
    difference = above - ratio * below
    df = degrees_of_freedom(covariances(difference, difference, strata), strata)
    square = quantile(1 - tail, df) ** 2
    pairs = ((above, above), (above, below), (below, below))
    # The coefficients of r^2 * last - 2 r * middle + first <= 0.
    first, middle, last = (
        one[0] * other[0] - square * covariances(one, other, strata).sum(axis=0) for one, other in pairs
    )
    root = np.sqrt(np.maximum(middle**2 - first * last, 0))
    bounded = last > 0
    scale = np.where(last == 0, 1, last)
    low = np.where(bounded, (middle - root) / scale, np.where(first > 0, (middle - root) / scale, 0))
    high = np.where(bounded, (middle + root) / scale, np.inf)
    return np.minimum(np.maximum(low, 0), ratio), np.maximum(high, ratio)


def chances(rows, strata) -> tuple[np.ndarray, np.ndarray]:
    """Return two one-sided p values: for a statistic of 0 or more, and for one below 0.

    Where no row differs from the data it is certain: p is 0 or 1.

    ``rows``, ``strata``: as for `t_interval`.
    """
    variances = covariances(rows, rows, strata)
    error = np.sqrt(variances.sum(axis=0))
    t = np.divide(rows[0], error, out=np.where(rows[0] >= 0, np.inf, -np.inf), where=error > 0)
    below = chance_below(t, degrees_of_freedom(variances, strata))
    return 1 - below, below


def at_least(p_values, number) -> np.ndarray:
    """Return the p value for at least a given number of several statements being true, over the last axis.

    Bonferroni's partial conjunction, (m - u + 1) times the u-th smallest (Benjamini and Heller, 2008, Biometrics 64(4)).
    """
    m = p_values.shape[-1]
    return np.minimum((m - number + 1) * np.sort(p_values, axis=-1)[..., number - 1], 1)


def certain(p_values, significance) -> int:
    """Return the number of several statements that are confirmed by Holm's steps (1979, Scand. J. Statist. 6(2))."""
    p = np.sort(np.ravel(p_values))
    holds = p * np.arange(len(p), 0, -1) <= significance
    return len(p) if holds.all() else int(holds.argmin())
