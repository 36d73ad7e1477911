"""Lines over time of fewer points than there are samples, without losing a peak."""

import numpy as np


def thinned(time, values, columns) -> np.ndarray:
    """Return which samples of a line are to be drawn so that it looks the same.

    The time is cut into columns; of each the first, the last, the lowest and the highest sample stay. Of equal
    values in a row the first and the last stay.

    Parameters
    ----------
    time : array_like of float, shape (n,)
        Ascending.
    values : array_like of float, shape (n,)
        Where one is missing the line is broken: of missing ones in a row the first stays.
    columns : int
        Two for each point of the figure's width are as fine as one sees.

    Returns
    -------
    numpy.ndarray of int
        Positions, ascending.
    """
    time, values = np.asarray(time, float), np.asarray(values, float)
    if len(time) == 0:
        return np.empty(0, int)
    span = time[-1] - time[0] or 1.0
    column = np.minimum((columns * (time - time[0]) / span).astype(int), columns - 1)
    missing = np.isnan(values)
    kept = np.zeros(len(values), bool)
    begins = np.flatnonzero(np.r_[True, column[1:] != column[:-1]])
    for begin, end in zip(begins, np.r_[begins[1:], len(values)], strict=True):
        part = np.where(missing[begin:end], np.nan, values[begin:end])
        kept[[begin, end - 1]] = True
        if not missing[begin:end].all():
            kept[[begin + np.nanargmin(part), begin + np.nanargmax(part)]] = True
    # The ends of a gap.
    edge = missing[1:] != missing[:-1]
    kept[:-1] |= edge
    kept[1:] |= edge
    chosen = np.flatnonzero(kept)
    shown = values[chosen]
    same = np.isclose(shown[1:], shown[:-1], rtol=0, atol=0, equal_nan=True)
    inner = np.r_[False, same[:-1] & same[1:], False] if len(chosen) > 2 else np.zeros(len(chosen), bool)
    gap_inside = np.isnan(shown) & np.r_[False, same]
    return chosen[~inner & ~gap_inside]


def grown(time, counter) -> np.ndarray:
    """Return the times of the samples in which a counter is higher than in the sample before.

    Parameters
    ----------
    time, counter : array_like of float, shape (n,)
        The counter begins at 0 before the first sample.
    """
    counter = np.nan_to_num(np.asarray(counter, float))
    return np.asarray(time, float)[np.diff(counter, prepend=0.0) > 0]
