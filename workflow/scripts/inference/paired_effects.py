"""Effect sizes of paired values, and their intervals.

`contrasts` are a numpy.ndarray of float, shape (n,), as `paired_contrasts.contrasts` gives them, `walsh` their
`walsh_averages`, if they are known, `counts` what `bootstrap_counts` gives. Intervals are (low, high).
"""

from bisect import bisect_left

import numpy as np

from inference.paired_tests import critical_count, doubled_ranks


def walsh_averages(contrasts) -> np.ndarray:
    """Return the n (n + 1) / 2 means of all pairs of contrasts, each with itself too, in ascending order."""
    return np.sort(np.concatenate([contrasts[i:] + contrasts[i] for i in range(len(contrasts))])) / 2


def hodges_lehmann(contrasts, walsh=None) -> float:
    """Return the Hodges-Lehmann estimate: the median of the Walsh averages (Hodges and Lehmann, 1963)."""
    walsh = walsh_averages(contrasts) if walsh is None else walsh
    return float(np.median(walsh))


def hodges_lehmann_interval(contrasts, confidence, walsh=None) -> tuple[float, float] | None:
    """Return the interval of the Hodges-Lehmann estimate that inverts the signed-rank test (Hollander and Wolfe, 1999, section 3.3).

    None if there are too few contrasts for this confidence: below 6 for 0.95.
    """
    k = critical_count(len(contrasts), (1 - confidence) / 2)
    if k is None:
        return None
    walsh = walsh_averages(contrasts) if walsh is None else walsh
    return float(walsh[k - 1]), float(walsh[-k])


def rank_biserial(contrasts) -> float:
    """Return the matched-pairs rank-biserial correlation.

    The share of the rank sum with positive contrasts minus that with negative ones (Kerby,
    2014, "The simple difference formula"). The ranks of zeros count for neither side, but belong
    to the sum: -1 and 1 mean that every pair shows the same direction.
    """
    ranks = doubled_ranks(contrasts)
    return float((ranks * np.sign(contrasts)).sum() / ranks.sum())


def cliffs_delta(a, b) -> float:
    """Return Cliff's delta: the share of (a > b) minus that of (a < b) over all combinations (Cliff, 1993).

    Parameters
    ----------
    a, b : numpy.ndarray of float, shapes (n,) and (m,)
        One value or more each; compared without regard to pairs.
    """
    ordered = np.sort(b)
    below = np.searchsorted(ordered, a, side="left").sum()
    above = len(a) * len(b) - np.searchsorted(ordered, a, side="right").sum()
    return float(below - above) / (len(a) * len(b))


def bootstrap_counts(n, resamples, seeds) -> np.ndarray:
    """Draw resamples of n values with replacement: how often each value is in each of them.

    Parameters
    ----------
    seeds : sequence of int
        Entropy of the generator: the study's seed and a number for what is resampled.

    Returns
    -------
    numpy.ndarray of float32, shape (n, resamples)
        Whole numbers; each column sums to n. Single precision holds them, and counts of Walsh
        averages up to n = 4,000, exactly.
    """
    draws = np.random.default_rng(np.random.SeedSequence(seeds)).integers(0, n, (resamples, n))
    draws += np.arange(0, resamples * n, n)[:, None]
    counts = np.bincount(draws.ravel(), minlength=resamples * n).reshape(resamples, n)
    return np.ascontiguousarray(counts.T, dtype=np.float32 if n <= 4000 else np.float64)


def bootstrap_hodges_lehmann(contrasts, counts, confidence, walsh=None) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the Hodges-Lehmann estimate (Efron, 1979), contrasts in any order.

    No resample's estimate is computed. The estimates' distribution is only needed at two
    places, and a resample's estimate is at most t if at least half of its Walsh averages are;
    so t is bisected over the sample's Walsh averages, which are the only candidates. Of an even
    number of Walsh averages the lower middle counts at the low end and the upper middle at the
    high end.
    """
    x = np.sort(contrasts)
    walsh = walsh_averages(x) if walsh is None else walsh
    n, resamples = counts.shape
    cumulative = np.zeros((n + 1, resamples), dtype=counts.dtype)
    np.cumsum(counts, axis=0, out=cumulative[1:])
    half = n * (n + 1) / 4

    def walsh_at_most(t):
        """Count, in each resample, the Walsh averages up to t."""
        ordered = np.einsum("ib,ib->b", counts, cumulative[_partners(x, t)])
        return (ordered + cumulative[np.searchsorted(x, t, side="right")]) / 2

    def first(enough):
        return float(walsh[bisect_left(walsh, True, hi=len(walsh) - 1, key=enough)])

    tail = (1 - confidence) / 2
    low = first(lambda t: np.mean(walsh_at_most(t) >= half) >= tail)
    high = first(lambda t: np.mean(walsh_at_most(t) > half) >= 1 - tail)
    return low, high


def _partners(x, t):
    """Return, for each of the ascending x, how many y of x have (x + y) / 2 <= t."""
    last = len(x) - 1
    partners = np.searchsorted(x, 2 * t - x, side="right")
    while True:  # the difference is rounded; t was made of a sum, so follow the sum
        more = (partners <= last) & (x + x[np.minimum(partners, last)] <= 2 * t)
        fewer = (partners > 0) & (x + x[np.maximum(partners - 1, 0)] > 2 * t)
        if not (more.any() or fewer.any()):
            return partners
        partners = partners + more - fewer


def bootstrap_rank_biserial(contrasts, counts, confidence) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the rank-biserial correlation (Efron, 1979).

    The order of `contrasts` is that of the rows of `counts`.
    """
    sizes, level = np.unique(np.abs(contrasts), return_inverse=True)
    n, resamples = counts.shape
    signs = np.sign(contrasts)
    at_level = np.zeros((len(sizes), resamples))
    signed = np.zeros((len(sizes), resamples))
    np.add.at(at_level, level, counts)
    np.add.at(signed, level, counts * signs[:, None])
    ranks = np.cumsum(at_level, axis=0) - (at_level - 1) / 2  # mid-ranks of each level
    values = (ranks * signed).sum(axis=0) / (n * (n + 1) / 2)
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)
