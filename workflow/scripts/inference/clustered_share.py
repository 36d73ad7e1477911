"""Intervals for the share of positive trials in clusters, such as tests of runs that share seeds.

Clopper and Pearson's exact bounds. The lower one is for as many independent trials as the clusters are worth by the spread
between them (Korn and Graubard, Survey Methodology 24(2), 1998). The upper one is for as many as there are clusters, as if the
trials of a cluster were copies of one: no spread tells of what no cluster had, and by Korn and Graubard's upper bound the
interval holds a share of 5 % in 77 to 90 % where half of it comes in whole clusters.
"""

import numpy as np
from scipy import special

from inference.student_t import quantile


def clustered_share_interval(positive, trials, confidence) -> tuple[float, float]:
    """Return both ends of the two-sided interval for a share, between 0 and 1.

    Parameters
    ----------
    positive, trials : array_like of int, shape (clusters,)
        Numbers of positive and of all trials in each cluster; at least one trial in total.
    confidence : float
        Between 0 and 1.
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
    """Return the lower end for each study, from positive trials of shape (studies, clusters)."""
    total, clusters = trials.sum(), len(trials)
    share = positive.sum(axis=1) / total
    worth = np.full(len(share), float(clusters))
    variance = clusters / max(clusters - 1, 1) * ((positive - share[:, None] * trials) ** 2).sum(axis=1) / total**2
    if clusters > 1:
        # The spread over few clusters is itself not well known.
        narrower = quantile(1 - tail, max(total - 1, 1)) / quantile(1 - tail, clusters - 1)
        spread = np.divide(share * (1 - share) * narrower**2, variance, out=worth.copy(), where=variance > 0)
        worth = np.where(variance > 0, np.minimum(spread, total), worth)
    ends = special.betaincinv(np.where(share > 0, share * worth, 1.0), (1 - share) * worth + 1, tail)
    return np.where(share > 0, ends, 0.0)


#: With this probability a true share is to be found; of so many drawn studies.
POWER, STUDIES = 0.8, 1000


def findable_share(trials, share, confidence) -> float | None:
    """Return the smallest true share of positive trials that is shown to be above another one with a probability of `POWER`.

    It is shown where the interval lies above that. To a percentage point, by drawn studies whose trials are independent, as few
    clusters can't say how much theirs have in common: correlated ones find less. None if not even 1 is found.

    Parameters
    ----------
    trials : array_like of int, shape (clusters,)
        Number of trials in each cluster.
    share, confidence : float
        Between 0 and 1.
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
