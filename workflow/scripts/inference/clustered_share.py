"""Intervals for the share of positive trials in clusters, such as tests of runs that share seeds.

The bounds are Clopper and Pearson's exact bounds. The lower bound uses the effective number of independent trials, derived from the
variance between clusters (Korn and Graubard, Survey Methodology 24(2), 1998). The upper bound uses the number of clusters, as if the
trials of a cluster were copies of one trial, because the observed variance shows nothing about events that occurred in no cluster. With
Korn and Graubard's upper bound, the interval would contain a true share of 5 % in only 77 to 90 % of cases if half of the positive trials
occur in clusters in which all trials are positive.
"""

import numpy as np
from scipy import special

from inference.student_t import quantile


def clustered_share_interval(positive, trials, confidence) -> tuple[float, float]:
    """Return both ends of the two-sided confidence interval for a share, between 0 and 1.

    Raises `ValueError` without trials, or if a cluster has more positive trials than trials.

    Parameters
    ----------
    positive, trials : array_like of int, shape (clusters,)
        Number of positive trials, and number of all trials, in each cluster; at least one trial in total.
    confidence : float
        Confidence level, between 0 and 1.
    """
    positive, trials = np.asarray(positive, float), np.asarray(trials, float)
    positive, trials = positive[trials > 0], trials[trials > 0]
    total, clusters = trials.sum(), len(trials)
    if total < 1 or (positive > trials).any():
        raise ValueError(f"{positive.sum():g} of {total:g}: expected a share of at least one trial")
    share, tail = positive.sum() / total, (1 - confidence) / 2
    high = 1.0 if share == 1 else float(special.betaincinv(share * clusters + 1, (1 - share) * clusters, 1 - tail))
    return float(_lower_ends(positive[None], trials, tail)[0]), high


def _lower_ends(positive, trials, tail):
    """Return the lower end of the interval for each of several studies; ``positive`` has shape (studies, clusters)."""
    total, clusters = trials.sum(), len(trials)
    share = positive.sum(axis=1) / total
    worth = np.full(len(share), float(clusters))
    variance = clusters / max(clusters - 1, 1) * ((positive - share[:, None] * trials) ** 2).sum(axis=1) / total**2
    if clusters > 1:
        # The spread over few clusters is itself uncertain.
        narrower = quantile(1 - tail, max(total - 1, 1)) / quantile(1 - tail, clusters - 1)
        spread = np.divide(share * (1 - share) * narrower**2, variance, out=worth.copy(), where=variance > 0)
        worth = np.where(variance > 0, np.minimum(spread, total), worth)
    ends = special.betaincinv(np.where(share > 0, share * worth, 1.0), (1 - share) * worth + 1, tail)
    return np.where(share > 0, ends, 0.0)


#: Power to detect a true share, and number of simulated studies.
POWER, STUDIES = 0.8, 1000


def findable_share(trials, share, confidence) -> float | None:
    """Return the smallest true share of positive trials that is detected with a power of `POWER`; None if there is no such share.

    A true share is detected if the interval of the observed share lies above the given ``share``. The result is accurate to one percentage
    point. The trials in the simulated studies are independent, because a few clusters don't show how strongly their trials are correlated.
    If the trials are correlated, the power is lower.

    Parameters
    ----------
    trials : array_like of int, shape (clusters,)
        Number of trials in each cluster.
    share, confidence : float
        The share to be exceeded, and the confidence level of the interval; both between 0 and 1.
    """
    trials = np.asarray(trials, int)
    drawn = np.random.default_rng(len(trials)).random((STUDIES, trials.sum()))
    firsts = np.concatenate([[0], np.cumsum(trials)[:-1]])

    def is_found(true_share):
        counts = np.add.reduceat((drawn < true_share).astype(int), firsts, axis=1)
        return (_lower_ends(counts, trials, (1 - confidence) / 2) > share).sum() >= POWER * STUDIES

    low, high = 0, 100
    if not is_found(1.0):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_found(middle / 100) else (middle, high)
    return high / 100
