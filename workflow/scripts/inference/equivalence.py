"""Equivalence of paired values: two one-sided tests (TOST) against a margin.

That no difference is found doesn't show that there is none. Here the null hypothesis is that the
effect lies outside the margin; rejecting it shows equivalence (Schuirmann, 1987, "A comparison
of the two one-sided tests procedure and the power approach"). `kind` is "t" (t tests of the mean)
or "rank" (signed-rank tests about the centre of symmetry); intervals are (low, high) as contrasts.
"""

import math

from inference.mean_interval import mean_interval
from inference.paired_contrasts import from_effect, to_effect
from inference.paired_effects import hodges_lehmann_interval
from inference.paired_tests import p_of


def bounds(margin, scale) -> tuple[float, float]:
    """Return the equivalence margin as contrasts: effects from -margin to +margin are equivalent."""
    return from_effect(-margin, scale), from_effect(margin, scale)


def tost(contrasts, kind, low, high) -> float:
    """Return p of the two one-sided tests of contrasts that are not all equal: the larger of both.

    `low` and `high` are the bounds as contrasts; a bound at infinity can't be exceeded.
    """
    above = p_of(kind, contrasts - low, "greater") if math.isfinite(low) else 0.0
    below = p_of(kind, contrasts - high, "less") if math.isfinite(high) else 0.0
    return max(above, below)


def tost_interval(contrasts, kind, significance, walsh=None) -> tuple[float, float] | None:
    """Return the interval that belongs to TOST: inside the margin exactly if both tests reject.

    Its confidence is 1 - 2 x significance. "t" gives that of the mean, "rank" that of the Hodges-Lehmann
    estimate (Walsh averages; the test inverted), or None if there are too few contrasts for it.
    """
    if kind == "t":
        return mean_interval(contrasts, 1 - 2 * significance)[1:]
    return hodges_lehmann_interval(contrasts, 1 - 2 * significance, walsh)


def smallest_margin(interval, scale) -> float:
    """Return the smallest margin, in the effect's unit, at which equivalence holds for the interval of `tost_interval`."""
    return max(abs(to_effect(bound, scale)) for bound in interval)
