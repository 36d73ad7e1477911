"""The interval of a share of trials that belong together in clusters, such as tests of runs that have their seeds in common.

Clopper and Pearson's exact bounds. The lower one is for as many independent trials as the clusters are worth by the spread
between them (Korn and Graubard, Survey Methodology 24(2), 1998). The upper one is for as many as there are clusters, as if the
trials of a cluster were copies of one: no spread tells of what no cluster had, and by Korn and Graubard's upper bound the
interval holds a share of 5 % in 77 to 90 % where half of it comes in whole clusters.
"""

import numpy as np
from scipy import stats


def clustered_share_interval(positive, trials, confidence) -> tuple[float, float]:
    """Return both ends of the two-sided interval of a share, between 0 and 1.

    Parameters
    ----------
    positive, trials : array_like of int, shape (clusters,)
        Of each cluster; one trial or more in all.
    confidence : float
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
    low = 0.0 if share == 0 else float(stats.beta.ppf(tail, share * worth, (1 - share) * worth + 1))
    high = 1.0 if share == 1 else float(stats.beta.ppf(1 - tail, share * clusters + 1, (1 - share) * clusters))
    return low, high
