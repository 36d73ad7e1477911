"""Outliers: a group of a cell's runs whose values lie far from the rest, such as collapsed runs.

A mean of few values doesn't reveal an event that occurs in one run out of ten: 35 of 100 samples of 10 runs contain no such run, and no
interval computed from those 35 can contain the mean over all runs. No interval for a mean is valid for every distribution (Bahadur and
Savage, 1956, The Annals of Mathematical Statistics 27(4)). So the intervals here are for the mean of runs like the observed ones, and
`largest_share` bounds the share of outliers that this number of runs can't exclude. If outliers are observed, they are counted, and there
is no interval.

Outliers are detected by the widest gap between two neighbouring values. The gap separates two groups, and its width is divided by the
standard deviation within these groups. The result must be larger than in 99 of 100 normal samples (a test for clusters similar to
Engelman and Hartigan, 1969, Journal of the American Statistical Association 64; the gap, unlike the distance between the means, also finds
a single run). If all values are positive, the gap between their logarithms must be that wide too, because such gaps are common in skewed
values. The rule is the same for every metric, for high and low outliers, and however far away the outliers are.
"""

from functools import cache

import numpy as np

#: 99 % and 99.99 % quantiles of the widest gap of n normal values (2,000,000 samples, 100,000 above n = 100;
#: `benchmarks/coverage.py` counts the false alarms). For other n and other false-alarm rates, logarithms are interpolated.
ALARMS = (0.01, 0.0001)
WIDEST_GAPS = {
    5: (13.4, 65.4), 6: (9.02, 32.5), 7: (6.96, 20.6), 8: (5.79, 15.3),
    9: (5.01, 11.7), 10: (4.47, 9.99), 12: (3.76, 7.5), 14: (3.32, 6.42), 16: (3.04, 5.67), 20: (2.69, 4.77),
    25: (2.44, 4.3), 30: (2.29, 3.99), 40: (2.11, 3.59), 60: (1.92, 3.27), 100: (1.77, 2.95), 200: (1.61, 2.61),
    500: (1.48, 2.42), 1000: (1.38, 2.32),
}  # fmt: skip
#: Minimum number of values among which outliers can be detected: if two of three values happen to be equal, any gap seems wide.
MIN_RUNS = min(WIDEST_GAPS)


def other_kind(values, step=0.0, cells=1) -> np.ndarray:
    """Return a mask of the outliers: the smaller of two groups of values or, if both have the same size, the group of lower values.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Values, none missing.
    step : float
        Resolution of the values, in their unit. The variance due to rounding is added to the variance within the groups.
    cells : int
        Number of cells over which the false-alarm rate is divided: in 1 of 100 studies, chance alone produces outliers in at least one
        cell.

    Examples
    --------
    >>> other_kind([93.1, 94.0, 93.4, 92.8, 93.9, 31.0]).tolist()
    [False, False, False, False, False, True]
    """
    values = np.asarray(values, float)
    n = len(values)
    if n < MIN_RUNS or np.ptp(values) == 0:
        return np.zeros(n, bool)
    ordered = np.sort(values)
    widest = _widest_gap(n, ALARMS[0] / cells)
    low = _gap(ordered, step, widest)
    if low and ordered[0] > 0:
        low = _gap(np.log(ordered), step / float(np.median(ordered)), widest) and low
    if not low:
        return np.zeros(n, bool)
    is_low = values < ordered[low]
    return is_low if 2 * low <= n else ~is_low


@cache
def _widest_gap(n, alarms) -> float:
    """Return the width that the widest gap between n normal values exceeds with a probability of ``alarms``.

    The unit is the standard deviation within the two groups.
    """
    usual, rare = (
        np.interp(np.log(n), np.log(list(WIDEST_GAPS)), np.log(gaps))
        for gaps in zip(*WIDEST_GAPS.values(), strict=True)
    )
    steepness = (rare - usual) / np.log(ALARMS[0] / ALARMS[1])
    return float(np.exp(usual + steepness * np.log(ALARMS[0] / alarms)))


def _gap(ordered, step, widest):
    """Return the number of ordered values below the widest gap if this gap separates two groups, else 0."""
    n, below = len(ordered), np.arange(1, len(ordered))
    # Centred, so that squares don't lose digits.
    centred = ordered - ordered.mean()
    sums, squares = np.cumsum(centred), np.cumsum(centred**2)
    within = squares[-1] - sums[:-1] ** 2 / below - (sums[-1] - sums[:-1]) ** 2 / (n - below)
    # If all values of a group are equal, rounding makes the variance slightly different from 0.
    noise = 1e-12 * max(abs(ordered[0]), abs(ordered[-1]))
    gaps = np.diff(ordered) / np.sqrt(np.maximum(within, 0) / (n - 2) + step**2 / 12 + noise**2)
    place = int(gaps.argmax())
    return place + 1 if gaps[place] > widest else 0


def kinds_words(other, what="run") -> str:
    """Return the reason for a missing interval: "2 of 10 runs are outliers: no interval of the mean"."""
    number = int(np.sum(other))
    are = "is an outlier" if number == 1 else "are outliers"
    return f"{number} of {len(other)} {what}s {are}: no interval of the mean"


@cache
def largest_share(unlike, runs, significance) -> float:
    """Return the exact one-sided upper confidence bound on the share of outliers, given ``unlike`` outliers in ``runs`` runs.

    The confidence level is 1 - ``significance``. The bound is Clopper and Pearson's (1934). With no outlier in n runs it is
    1 - significance^(1/n), at 95 % about 3 / n (the rule of three): 45 % for 5 runs, 22 % for 12.
    """
    if unlike == 0 and runs:
        return 1 - significance ** (1 / runs)
    from inference.counts_of_draws import share_at_most  # imported here: SciPy takes half a second

    return share_at_most(int(unlike), ((1, int(runs)),), significance)
