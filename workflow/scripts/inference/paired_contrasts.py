"""Contrasts between the two values of a pair, and their conversion to effects.

Every statistic is computed from contrasts, and only the result is converted to an effect:

=========  ==========================  =====================  ===========
scale      contrast of a against b     effect                 effect unit
=========  ==========================  =====================  ===========
ratio      ln(a) - ln(b)               100 (exp(.) - 1)       %
relative   100 (a - b) / mean of both  the contrast           %
points     a - b                       the contrast           points
=========  ==========================  =====================  ===========

"Mean of both" is the mean over all compared values, which is treated as fixed.
"""

import math

import numpy as np

# A double has 16 digits, and computing a metric loses a few of them. iperf3 reports times in
# microseconds, so a real difference in a run of one minute is at least 1e-8 of the value.
RELATIVE_TOLERANCE = 1e-12


def merge_close(values: np.ndarray, size: float) -> np.ndarray:
    """Make nonnegative values equal if they differ only by rounding; return the changed values.

    In every chain of values that lie close together, all values are replaced by the smallest. Values within the tolerance of 0 become 0.
    `RELATIVE_TOLERANCE` is relative to `size`, the size of the numbers from which the values were computed.
    """
    known = np.unique(np.append(values, 0.0))
    first = np.append(True, np.diff(known) > RELATIVE_TOLERANCE * size)
    merged = known[first][np.cumsum(first) - 1]
    return merged[np.searchsorted(known, values)]


def usable_scale(a, b, scale) -> str:
    """Return the scale on which a and b can be compared: "relative" instead of "ratio" if a value is 0."""
    if scale == "ratio" and not (np.all(a > 0) and np.all(b > 0)):
        return "relative"
    return scale


def contrasts(a, b, scale) -> np.ndarray:
    """Return the contrast of each pair.

    Rounding noise is removed: contrasts that are equal except for noise become exactly equal, and contrasts that are 0 except for
    noise become exactly 0. Raises `ValueError` if a ratio is requested for values that are not all above 0.

    Parameters
    ----------
    a, b : numpy.ndarray of float, shape (n,)
        First and second values of the pairs; at least one pair.
    scale : str
        "ratio", "relative" or "points".
    """
    size = float(max(np.abs(a).max(), np.abs(b).max()))
    if scale == "ratio":
        if usable_scale(a, b, scale) != scale:
            raise ValueError(f"a ratio needs values above 0, the smallest is {min(a.min(), b.min()):g}")
        raw, size = np.log(a) - np.log(b), max(1.0, abs(math.log(size)))
    elif scale == "relative":
        centre = (a.mean() + b.mean()) / 2
        raw = 100 * (a - b) / centre if centre else a - b
        size = 100 * size / centre if centre else 1.0
    else:
        raw = a - b
    return np.copysign(merge_close(np.abs(raw), size), raw) + 0.0  # + 0.0 turns -0 into 0


def to_effect(contrast, scale) -> float:
    """Convert a contrast to an effect, in percent or points."""
    return 100 * math.expm1(contrast) if scale == "ratio" else contrast


def from_effect(effect, scale) -> float:
    """Convert an effect to a contrast; a ratio of -100 % or less becomes minus infinity."""
    if scale != "ratio":
        return effect
    return math.log1p(effect / 100) if effect > -100 else -math.inf
