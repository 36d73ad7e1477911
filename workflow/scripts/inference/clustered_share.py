"""The interval of a share of trials that belong together in clusters, such as tests of runs that have their seeds in common.

Korn and Graubard (1998, "Confidence intervals for proportions with small expected number of positive counts estimated from
survey data", Survey Methodology 24(2)): Clopper and Pearson's exact interval, for as many independent trials as the clusters
are worth. Where the spread over clusters tells nothing (all or none of the trials positive, or one cluster), trials of a
cluster count as copies of one: the widest that there can be.
"""

import numpy as np
from scipy import stats


def clustered_share_interval(positive, trials, confidence) -> tuple[float, float]:
    """Return the two-sided interval of a share.

    Parameters
    ----------
    positive, trials : array_like of int, shape (clusters,)
        Of each cluster; one trial or more in all.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    low, high : float
        Between 0 and 1.
    """
    positive, trials = np.asarray(positive, float), np.asarray(trials, float)
    positive, trials = positive[trials > 0], trials[trials > 0]
    total, clusters = trials.sum(), len(trials)
    if total < 1 or (positive > trials).any():
        raise ValueError(f"{positive.sum():g} of {total:g}: expected a share of at least one trial")
    share, tail = positive.sum() / total, (1 - confidence) / 2
    worth = float(clusters)
    variance = clusters / max(clusters - 1, 1) * ((positive - share * trials) ** 2).sum() / total**2
    if clusters > 1 and variance > 0:
        # The spread over few clusters is itself not well known.
        narrower = stats.t.ppf(1 - tail, max(total - 1, 1)) / stats.t.ppf(1 - tail, clusters - 1)
        worth = min(share * (1 - share) / variance * narrower**2, total)
    hits = share * worth
    low = 0.0 if share == 0 else float(stats.beta.ppf(tail, hits, worth - hits + 1))
    high = 1.0 if share == 1 else float(stats.beta.ppf(1 - tail, hits + 1, worth - hits))
    return low, high
