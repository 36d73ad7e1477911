"""Rank-based effect sizes for paired values, and the interval of the Hodges-Lehmann estimate.

`contrasts` is a numpy.ndarray of float, shape (n,), from `paired_contrasts.contrasts`. `walsh` is the result of
`walsh_averages` for these contrasts, if already computed. Intervals are (low, high).
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

# Maximum number of contrasts for which the exact signed-rank distribution is used; for more, the normal approximation is used.
EXACT_MAX_PAIRS = 200


def walsh_averages(contrasts) -> np.ndarray:
    """Return the n (n + 1) / 2 means of all pairs of contrasts, including each with itself, in ascending order."""
    return np.sort(np.concatenate([contrasts[i:] + contrasts[i] for i in range(len(contrasts))])) / 2


def hodges_lehmann(contrasts, walsh=None) -> float:
    """Return the Hodges-Lehmann estimate: the median of the Walsh averages (Hodges and Lehmann, 1963)."""
    walsh = walsh_averages(contrasts) if walsh is None else walsh
    return float(np.median(walsh))


def hodges_lehmann_interval(contrasts, confidence, walsh=None) -> tuple[float, float] | None:
    """Return the Hodges-Lehmann estimate's interval, which inverts the signed-rank test (Hollander and Wolfe, 1999, section 3.3).

    The actual confidence is at least the requested confidence: for 0.95, it is 0.969 with 6 contrasts and 0.951 with 10. The result is
    None if there are too few contrasts for the requested confidence: fewer than 6 for 0.95.
    """
    k = _critical_count(len(contrasts), (1 - confidence) / 2)
    if k is None:
        return None
    walsh = walsh_averages(contrasts) if walsh is None else walsh
    return float(walsh[k - 1]), float(walsh[-k])


def rank_biserial(contrasts) -> float:
    """Return the matched-pairs rank-biserial correlation.

    It is the share of the rank sum from positive contrasts minus the share from negative contrasts (Kerby,
    2014, "The simple difference formula"). The ranks of zeros count for neither side, but are part of the
    rank sum: the result is -1 or 1 only if all pairs differ in the same direction.
    """
    ranks = doubled_ranks(contrasts)
    return float((ranks * np.sign(contrasts)).sum() / ranks.sum())


def cliffs_delta(a, b) -> float:
    """Return Cliff's delta: the share of (a > b) minus the share of (a < b) over all combinations (Cliff, 1993).

    ``a`` and ``b`` (numpy.ndarray of float, shapes (n,) and (m,)) have at least one value each; pairing
    is ignored.
    """
    ordered = np.sort(b)
    below = np.searchsorted(ordered, a, side="left").sum()
    above = len(a) * len(b) - np.searchsorted(ordered, a, side="right").sum()
    return float(below - above) / (len(a) * len(b))


def doubled_ranks(contrasts) -> np.ndarray:
    """Return the doubled mid-ranks of the contrasts' absolute values, as whole numbers; zeros are ranked too."""
    from scipy.stats import rankdata  # imported here: it takes half a second

    return np.rint(2 * rankdata(np.abs(contrasts))).astype(int)


@lru_cache(maxsize=256)
def _critical_count(n: int, tail: float) -> int | None:
    """Return the number k that determines the interval of the Hodges-Lehmann estimate for n contrasts.

    The interval extends from the k-th smallest to the k-th largest Walsh average; k is the smallest v for
    which P(V <= v) > tail (Hollander and Wolfe, 1999, section 3.3; `qsignrank` in R). None if n is too small
    for this tail.
    """
    if 2.0**-n > tail:
        return None
    if n > EXACT_MAX_PAIRS:
        centre, variance = n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24
        return max(1, math.ceil(centre + special.ndtri(tail) * math.sqrt(variance)))
    shares = np.ones(1)
    for rank in range(1, n + 1):  # distribution of the sum of positive ranks: each rank is included or not
        shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
    return int(np.searchsorted(np.cumsum(shares), tail, side="right"))
