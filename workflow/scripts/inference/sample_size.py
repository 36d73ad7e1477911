"""Power of the paired t test: the effect that n pairs can detect, and the number of pairs that an effect needs.

`sd` is the standard deviation of the contrasts, above 0; `scale` is one of the scales of `paired_contrasts`. Effects are in percent or
points. `significance` is for a single test. In a family of m tests, the level of the first test in Holm's procedure is significance / m. A
difference that is significant at this level is shown in whichever of the tests it occurs.
"""

import math
from bisect import bisect_left
from functools import lru_cache

from scipy import stats

from inference.paired_contrasts import from_effect, to_effect
from inference.paired_tests import MIN_PAIRS, pairs_for
from inference.student_t import quantile

MAX_PAIRS = 10_000
# MIN_PAIRS pairs detect a difference of more standard deviations than this at any power in use, and
# the noncentral t distribution would run out of digits.
MAX_STANDARDISED = 50.0


def deviation_interval(sd, values, confidence) -> tuple[float, float]:
    """Return the two-sided chi-square interval for the standard deviation of normal values (NIST/SEMATECH e-Handbook, 7.2.3.1).

    With four values it extends from 0.57 to 3.7 times the measured value, so a plan based on four values is a guess.
    """
    ends = stats.chi2.ppf([(1 + confidence) / 2, (1 - confidence) / 2], values - 1)
    return tuple(float(sd * math.sqrt((values - 1) / end)) for end in ends)


def spreads_of(contrasts, confidence) -> dict[str, float]:
    """Return the standard deviation of contrasts (key "") and the ends of its interval (keys "_low" and "_high")."""
    sd = float(contrasts.std(ddof=1))
    low, high = deviation_interval(sd, len(contrasts), confidence)
    return {"": sd, "_low": low, "_high": high}


@lru_cache(maxsize=4096)
def _power(standardised, pairs, significance):
    """Return the power of the two-sided paired t test (noncentral t; Cohen, 1988, chapter 2).

    ``standardised`` is the true mean contrast in standard deviations. `pingouin.power_ttest` returns the same, but its import takes a
    second.
    """
    critical, shift = quantile(1 - significance / 2, pairs - 1), standardised * math.sqrt(pairs)
    above, above_lower = stats.nct.sf([critical, -critical], pairs - 1, shift)
    return float(above + (1 - above_lower))


@lru_cache(maxsize=4096)
def standardised_detectable(pairs, power, significance) -> float:
    """Return the smallest true mean contrast, in standard deviations, that is detected with the given `power`.

    The result comes from bisection to 9 digits; it is `MAX_STANDARDISED` if no smaller contrast is detected.
    """
    low, high = 0.0, MAX_STANDARDISED
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if _power(middle, pairs, significance) < power:
            low = middle
        else:
            high = middle
    return high


def detectable_effect(sd, pairs, power, significance, scale) -> float | None:
    """Return the smallest true increase that ``pairs`` pairs detect with the given `power`.

    The result is None if there are fewer than `MIN_PAIRS` pairs, if no contrast below `MAX_STANDARDISED` is detected, or if the effect
    is too large for a float.
    """
    standardised = standardised_detectable(pairs, power, significance) if pairs >= MIN_PAIRS else MAX_STANDARDISED
    if standardised >= MAX_STANDARDISED:
        return None
    contrast = standardised * sd
    # exp(700) is about the largest number that a float can hold.
    return None if scale == "ratio" and contrast > 700 else to_effect(contrast, scale)


def pairs_needed(sd, effect, power, significance, scale) -> int | None:
    """Return the smallest number of pairs, at least `MIN_PAIRS`, that detects a true effect above 0 with the given `power`.

    None if `MAX_PAIRS` are not enough. For a ratio, the effect is an increase; a decrease by the same percentage is larger
    on the logarithmic scale.
    """
    standardised = min(from_effect(effect, scale) / sd, MAX_STANDARDISED)
    # Rounded, so that different machines agree and cached results can be reused.
    standardised = float(f"{standardised:.9g}")
    if math.sqrt(MAX_PAIRS) * standardised < 1 or _power(standardised, MAX_PAIRS, significance) < power:
        return None
    # With the normal distribution in place of t, the result is slightly too small, so only a few numbers are left to try.
    normal = (stats.norm.ppf(1 - significance / 2) + stats.norm.ppf(power)) / standardised
    low = min(max(MIN_PAIRS, int(normal**2)), MAX_PAIRS)
    if low > MIN_PAIRS and _power(standardised, low - 1, significance) >= power:
        low = MIN_PAIRS
    high = next(
        pairs
        for step in range(16)
        if _power(standardised, pairs := min(low + 2**step, MAX_PAIRS), significance) >= power
    )
    return bisect_left(range(high), True, lo=low, key=lambda pairs: _power(standardised, pairs, significance) >= power)


def pairs_needed_in_family(sd, effect, power, significance, scale, tests) -> int | None:
    """Return the number of pairs needed in a family of `tests` tests; None if `MAX_PAIRS` are not enough.

    It is the larger of `pairs_for` and `pairs_needed` at the level of the first test in Holm's procedure.
    """
    needed = pairs_needed(sd, effect, power, significance / max(tests, 1), scale)
    return needed and max(needed, pairs_for(tests, significance))
