"""Confidence intervals for the statistics of claims: means, ratios, lowest and highest values, medians, standard deviations.

A t interval is calculated for each part (a cell's mean, or a ratio). The interval for the lowest of several parts follows from the parts'
intervals. Its upper end is the lowest upper end of the simultaneous (Bonferroni) intervals. Its lower end is the lowest lower end of the
uncorrected intervals, because only the interval for the truly lowest part has to be valid. The highest part is treated likewise. The
coverage is therefore at least that of the interval for a single part.
"""

from collections.abc import Callable

import numpy as np

from inference import student_t
from inference.stratified_jackknife import covariances, degrees_of_freedom

#: Kinds of intervals: for one mean or ratio, for the lowest or highest of several, for a count, for a median, for a standard deviation.
T, JOINT, COUNTED, MEDIAN, SPREAD = "t", "joint t", "counted", "of ranks", "chi-square"

Bounds = Callable[[float], tuple[np.ndarray, np.ndarray]]


def nested(values, bounds: Bounds, steps, tail) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reduce parts to their lowest, highest or mean value along some axes, then along others.

    Returns the reduced values and both ends of their intervals.

    Parameters
    ----------
    values : numpy.ndarray of float
        Values of the parts.
    bounds : callable
        Function that takes the error probability on each side, and returns the lower ends and the upper ends of the parts' intervals,
        both with the shape of `values`.
    steps : sequence of (tuple of int, function)
        Axes, and the function that reduces them: `numpy.min`, `numpy.max` or `numpy.mean`. The axes are kept, with length 1.
    tail : float
        Probability, on each side, that the true value lies beyond that end of the result's interval.
    """
    taken = {function for axes, function in steps if np.prod([values.shape[axis] for axis in axes]) > 1}
    of_one, of_all = bounds(tail), bounds(tail / values.size)
    low = (of_one if taken <= {np.min} else of_all)[0]
    high = (of_one if taken <= {np.max} else of_all)[1]
    for axes, function in steps:
        values, low, high = (function(ends, axis=axes, keepdims=True) for ends in (values, low, high))
    return values, low, high


def farthest(values, bounds: Bounds, steps, tail, middle) -> tuple[int, float, float]:
    """Return the index of the part farthest from `middle` and both ends of its interval, after reducing the parts by `steps`.

    The index refers to the flattened result of the steps. The interval is for the farthest value on this part's side of `middle`. The
    other parameters are the same as in `nested`.
    """
    one = nested(values, bounds, steps, tail)
    joint = nested(values, lambda tail: bounds(tail / max(one[0].size, 1)), steps, tail)
    distance = np.abs(one[0] - middle).ravel()
    place = int(np.where(np.isnan(distance), np.inf, distance).argmax())
    least = np.where((joint[1] <= middle) & (middle <= joint[2]), 0, np.minimum(*np.abs(np.array(joint[1:]) - middle)))
    most = np.maximum(*np.abs(np.array(one[1:]) - middle))
    ends = least.max(), max(most.max(), distance[place])
    side = 1 if one[0].ravel()[place] >= middle else -1
    return place, *sorted(middle + side * end for end in (min(ends[0], distance[place]), ends[1]))


def mean_of_extremes(rows, strata, function, by_scenario, tail) -> float:
    """Return one end of the interval for a mean of extreme parts: the lower end for the lowest parts, the upper end for the highest.

    A t interval for the mean of the truly lowest parts is valid, whichever parts these are. Their observed mean is at least the mean of the
    lowest observed values, and its error is at most the error of the least certain parts. So this end needs no correction for the number of
    parts; the opposite end does.

    Parameters
    ----------
    rows : numpy.ndarray of float, shape (1 + replications, scenarios, CCAs, IP versions, cells, cells)
        Parts; the extreme is taken over the last two axes, and the mean over the three axes before them.
    strata : sequence of inference.stratified_jackknife.Stratum
    function : callable
        `numpy.min` or `numpy.max`.
    by_scenario : bool
        Whether different scenarios share no runs, so that their errors are independent.
    tail : float
        Probability that the true value lies beyond the returned end.
    """
    picked = function(rows[0], axis=(-2, -1))
    errors = np.sqrt(covariances(rows, rows, strata).sum(axis=0)).max(axis=(-2, -1)).sum(axis=(1, 2))
    error = (np.hypot.reduce(errors) if by_scenario else errors.sum()) / picked.size
    half = student_t.quantile(1 - tail, min(stratum.df for stratum in strata)) * error
    return picked.mean() - half if function is np.min else picked.mean() + half


def median_interval(values, rows, strata, tail) -> tuple[float, float]:
    """Return the interval for the median of pooled runs.

    The interval for the share of runs below the median gives two ranks; the values at these ranks are the ends of the median's interval
    (Woodruff 1952, JASA 47(260), 635-646). If there is no value at a rank, that end is unknown: an unknown lower end is 0, and an unknown
    upper end is infinite.

    Parameters
    ----------
    values : numpy.ndarray of float, ascending
    rows : numpy.ndarray of int
        For each value, the index of the jackknife row that leaves the value out.
    strata, tail
        The same as in `inference.stratified_jackknife.t_interval`.
    """
    total = len(values)
    number = max(stratum.rows.stop for stratum in strata)
    # Half of the values that equal the median count as below the median.
    below = (values < np.median(values)) + 0.5 * (values == np.median(values))
    left = total - np.bincount(rows, minlength=number)
    share = (below.sum() - np.bincount(rows, weights=below, minlength=number)) / np.maximum(left, 1)
    scaled = covariances(share, share, strata)
    half = student_t.quantile(1 - tail, degrees_of_freedom(scaled[:, None], strata)[0]) * np.sqrt(scaled.sum())
    # Add one rank on either side, because a share changes by whole runs.
    low, high = np.floor(len(values) * (0.5 - half)) - 1, np.ceil(len(values) * (0.5 + half))
    return values[int(low)] if low >= 0 else 0.0, values[int(high)] if high < len(values) else np.inf


def spread_bounds(spreads, counts) -> Bounds:
    """Return a function that computes bounds for standard deviations: s sqrt((n - 1) / chi-square).

    The values are assumed to be normally distributed.
    """

    from scipy import stats  # imported here: it takes half a second

    def bounds(tail):
        df = counts - 1
        return tuple(spreads * np.sqrt(df / stats.chi2.ppf(share, df)) for share in (1 - tail, tail))

    return bounds
