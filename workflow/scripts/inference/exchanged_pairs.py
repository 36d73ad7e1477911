"""Sign tests for many rows of pairs.

The p-values are corrected for testing all rows, and need no assumption about the distribution of the values.

A row contains a sign for each replication: 1 if the second of a pair is worse by more than a margin, -1 if it is better by more than the
margin, else 0. If both sides are the same algorithm, they can be exchanged in a replication, in all rows simultaneously, without changing
any probability. So the p-value of a row is the share of all such exchanges in which at least one row deviates at least as much as this row.
The p-value is exact for skewed, heavy-tailed and bimodal values, rare events, missing runs, and any dependence between rows. Step-down
maxima of the exchanges control the family-wise error rate if some rows do differ (Westfall and Young, 1993, Resampling-Based Multiple
Testing; Romano and Wolf, 2005, J. Am. Stat. Assoc. 100, 94-108).

The deviation of a row is its McNemar statistic, the sum of its signs divided by the square root of the number of signs.
"""

import numpy as np

from inference.counts_of_draws import at_least

#: Maximum number of exchanges to try; if more are possible, this number is drawn at random, including the one that exchanges nothing.
MOST_EXCHANGES = 4096
#: Maximum number of signs in memory; if there are very many units, this limits the number of exchanges.
MOST_SIGNS = 20_000_000
#: Statistics that differ by less than this are equal except for rounding.
ROUNDING = 1e-9


def exchanges(units) -> np.ndarray:
    """Return the exchanges to try, as an array of shape (m, units): -1 exchanges a unit, 1 doesn't. The first row exchanges nothing.

    An exchange and its complement differ only in the direction of all rows. If all exchanges are tried, the first unit therefore stays
    fixed, which leaves 2^(units - 1) exchanges.
    """
    if 2 ** max(0, units - 1) <= MOST_EXCHANGES:
        number = np.arange(2 ** max(0, units - 1))
        return 1 - 2 * ((number[:, None] >> np.arange(units)[::-1]) & 1).astype(np.int8)
    number = min(MOST_EXCHANGES, MOST_SIGNS // units)
    drawn = np.random.default_rng(units).choice(np.array([1, -1], np.int8), (number, units))
    drawn[0] = 1
    return drawn


def corrected_p(signs) -> np.ndarray:
    """Return the p-value of each row, corrected for testing all rows (family-wise).

    ``signs`` (array_like of float, shape (rows, units)) contains signs or sums of signs. A unit is exchanged in all rows at once.
    """
    signs = np.asarray(signs, dtype=float)
    if not signs.size:
        return np.ones(len(signs))
    rows, place = np.unique(signs, axis=0, return_inverse=True)
    size = np.sqrt((rows**2).sum(axis=1))
    rows = rows / np.where(size > 0, size, 1)[:, None]
    observed, tried = np.abs(rows.sum(axis=1)), exchanges(signs.shape[1]).T.astype(float)
    order, p, farthest = np.argsort(observed, kind="stable"), np.ones(len(rows)), np.zeros(tried.shape[1])
    for row in order:
        if observed[row] > ROUNDING:
            farthest = np.maximum(farthest, np.abs(rows[row] @ tried))
            p[row] = np.mean(farthest >= observed[row] - ROUNDING)
    p[order[::-1]] = np.maximum.accumulate(p[order[::-1]])
    return p[place.ravel()]


def median_interval(values, confidence) -> tuple[float, float] | None:
    """Return a confidence interval for the median, whose ends are two of the values; None if there are too few values.

    The coverage is at least ``confidence`` (David and Nagaraja, 2003, Order Statistics, section 7.1).
    """
    ordered, n = np.sort(values), len(values)
    outside = [place for place in range(n // 2) if 2 * at_least(n - place, ((1, n),), 0.5) <= 1 - confidence]
    return (float(ordered[outside[-1]]), float(ordered[n - 1 - outside[-1]])) if outside else None
