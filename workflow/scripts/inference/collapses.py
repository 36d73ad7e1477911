"""Runs that collapsed: a share of the runs of a cell that lies far below the rest.

A mean of few values says nothing of what happens in one run out of ten: 35 of 100 samples of 10 have no such run in them, and
no interval made of those 35 can hold the mean. So collapses are counted by themselves, with the share that so many
runs can't rule out.
"""

from functools import cache

import numpy as np

# A collapsed run has less than so much of the typical one ...
COLLAPSED_SHARE = 2 / 3
# ... and is so many robust standard deviations below it, else cells of wide spread would have some always.
COLLAPSED_DEVIATIONS = 5
# Standard deviations of a normal distribution in a median absolute deviation (Hampel, 1974).
NORMAL_MAD = 1.4826
# Among fewer runs none can be told from the rest.
MIN_RUNS = 3
# A comparison of runs of which so few collapsed, or so few did not, has no interval.
MIN_OF_EITHER = 5


def collapsed(values) -> np.ndarray:
    """Return which of the values lie far below the others: of a share of 2/3 of their median, and of 5 robust deviations.

    ``values`` (array_like of float, shape (n,)): of at least 0. Logarithms are compared, so that a value of 0 has
    collapsed unless most have.
    """
    return collapsed_of_samples(values)[0]


def collapsed_of_samples(*samples) -> list[np.ndarray]:
    """Return for each sample which of its values lie far below its others, as `collapsed` with the spread of all samples.

    Collapses widen the spread of the sample that has them, and so hide in it.
    """
    below = [_below_typical(np.asarray(values, float)) for values in samples]
    deviations = np.abs(np.concatenate(below))
    spread = NORMAL_MAD * np.median(deviations) if len(deviations) else 0.0
    return [values < min(np.log(COLLAPSED_SHARE), -COLLAPSED_DEVIATIONS * spread) for values in below]


def _below_typical(values):
    """Return how far values are from their median, as logarithms; 0 where they can't be told from each other."""
    typical = np.median(values) if len(values) else 0.0
    if len(values) < MIN_RUNS or typical <= 0:
        return np.zeros(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(values) - np.log(typical)


def collapsed_of_pairs(a, b) -> tuple[np.ndarray, np.ndarray]:
    """Return which of the values of a, and of b, collapsed: far below the others of their side, or of their pairs' ratios.

    What a seed does to both runs of a pair is not in their ratio, so it shows what the spread of the values hides.

    ``a``, ``b`` (numpy.ndarray of float, shape (n,)): values of at least 0; ratios are looked at where all are above.
    """
    if len(a) and min(a.min(), b.min()) > 0:
        return collapsed(a) | collapsed(a / b), collapsed(b) | collapsed(b / a)
    return collapsed(a), collapsed(b)


def too_few_of_a_kind(collapses, runs) -> bool:
    """Return whether some runs collapsed, but too few of them, or of the others, for an interval that has both kinds in it."""
    return collapses > 0 and too_few(collapses, runs)


def too_few(collapses, runs) -> bool:
    """Return whether there are too few runs that collapsed, or that did not, for an interval that has both kinds in it."""
    return min(collapses, runs - collapses) < MIN_OF_EITHER


def collapse_words(collapses) -> str:
    """Say how many runs collapsed: "2 of 10 runs far below the others: no interval of the mean"."""
    return f"{int(np.sum(collapses))} of {len(collapses)} runs far below the others: no interval of the mean"


@cache
def largest_share(collapses, runs, significance) -> float:
    """Return the share of collapses that so many in so many runs don't rule out: the exact one-sided bound.

    Clopper and Pearson (1934); of none in n runs it is 1 - significance^(1/n), about 3 / n (the rule of three).
    """
    from scipy import stats  # here: it takes half a second, which each job that compares means would pay

    interval = stats.binomtest(int(collapses), int(runs), alternative="less").proportion_ci(1 - significance, "exact")
    return float(interval.high)
