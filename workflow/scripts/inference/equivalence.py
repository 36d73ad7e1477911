"""Equivalence of paired values: two one-sided tests (TOST) of the mean against a margin.

A failure to find a difference doesn't show that there is none. Here the null hypothesis is that the
effect lies outside the margin; rejecting it shows equivalence (Schuirmann, 1987, "A comparison
of the two one-sided tests procedure and the power approach"). The reported effect and the test of equivalence use the same
estimator, a `StudentMean` or `FlippedMean`, and so refer to the same quantity.
"""

import math

from inference.paired_contrasts import from_effect, to_effect

#: Position of an interval relative to a margin.
INSIDE, OUTSIDE, ACROSS = "inside", "outside", "across"


def bounds(margin, scale) -> tuple[float, float]:
    """Return the equivalence margin as contrasts: effects from -margin to +margin are equivalent."""
    return from_effect(-margin, scale), from_effect(margin, scale)


def tost(test, low, high) -> float:
    """Return the p-value of TOST: the larger of the p-values of the two one-sided tests.

    `low` and `high` are the bounds as contrasts; an infinite bound can't be exceeded, so its test always rejects.
    """
    above = test.p(low, "greater") if math.isfinite(low) else 0.0
    below = test.p(high, "less") if math.isfinite(high) else 0.0
    return max(above, below)


def tost_interval(test, significance) -> tuple[float, float]:
    """Return the interval that corresponds to TOST, at a confidence level of 1 - 2 x significance.

    The interval is inside the margin if and only if both tests reject.
    """
    return test.interval(1 - 2 * significance)


def place(interval, low, high) -> str:
    """Return the position of an interval relative to two bounds: `INSIDE`, `OUTSIDE` or `ACROSS`."""
    if low < interval[0] and interval[1] < high:
        return INSIDE
    return OUTSIDE if interval[1] < low or interval[0] > high else ACROSS


def smallest_margin(interval, scale) -> float:
    """Return the smallest margin at which an interval from `tost_interval` shows equivalence, in the effect's unit."""
    return max(abs(to_effect(bound, scale)) for bound in interval)
