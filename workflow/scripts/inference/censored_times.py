"""Kaplan-Meier estimates of shares and quantiles for censored times, which are known only as lower bounds.

Kaplan and Meier, Nonparametric Estimation from Incomplete Observations, 1958 (JASA 53:457-481). If the cases that didn't end were
left out, the estimate would describe only the quick cases.
"""

import numpy as np


def ended_shares(times, ended) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct end times and, for each end time, the estimated share of cases that have ended by then.

    Parameters
    ----------
    times : array_like of float, shape (n,)
        Duration of each case, until it ended or until observation stopped; infinite for a case that never ends.
    ended : array_like of bool, shape (n,)
        Whether the case ended at its time; False if observation stopped then.

    Returns
    -------
    times, shares : numpy.ndarray
        Both arrays are ascending; the last share is below 1 if the case with the longest time didn't end.

    Examples
    --------
    >>> [column.tolist() for column in ended_shares([1, 2, 3, 4], [True, False, True, True])]
    [[1.0, 3.0, 4.0], [0.25, 0.625, 1.0]]
    """
    times, ended = np.asarray(times, float), np.asarray(ended, bool)
    moments, counts = np.unique(times[ended], return_counts=True)
    at_risk = len(times) - np.searchsorted(np.sort(times), moments)
    shares = 1 - np.cumprod(1 - counts / at_risk) if len(moments) else np.empty(0)
    return moments, shares


def ended_quantile(times, ended, share) -> float | None:
    """Return the time by which a share of cases has ended, interpolated like `numpy.quantile`; None if the share is not reached.

    ``share`` is between 0 and 1; the other parameters are the same as in `ended_shares`.

    Examples
    --------
    >>> ended_quantile([1, 2, 3, 4], [True] * 4, 0.5)
    2.5
    >>> ended_quantile([1, 2, np.inf, np.inf], [True, True, False, False], 0.95) is None
    True
    """
    moments, shares = ended_shares(times, ended)
    if not len(moments):
        return None
    if np.all(ended):
        return float(np.quantile(np.asarray(times, float), share))
    count = len(np.asarray(times))
    # As in `numpy.quantile`, the k-th of n values is the quantile (k - 1) / (n - 1).
    places = (shares * count - 1) / (count - 1) if count > 1 else np.ones(1)
    steps_begin = np.concatenate(([0.0], shares[:-1] * count / (count - 1))) if count > 1 else np.zeros(1)
    if share > places[-1] + 1e-12:
        return None
    known_places = np.ravel(np.column_stack((steps_begin, np.maximum(places, steps_begin))))
    return float(np.interp(share, known_places, np.repeat(moments, 2)))
