"""Power of the paired test of the mean: the effect that n pairs can detect, and the number of pairs that an effect needs.

The contrasts are assumed to be normal. A sign-flip test is a t test whose critical value depends on the residuals: with normal contrasts,
mean, standard deviation and standardised residuals are independent. Its power is therefore the mean of the t test's power over the
critical values of drawn residuals. With few pairs, and in large families, it is much less than the power of Student's t test.
`sd` is the standard deviation of the contrasts, above 0; `scale` is one of the scales of `paired_contrasts`. Effects are in percent or
points. `significance` is for a single test. In a family of m tests, the level of the first test in Holm's procedure is significance / m. A
difference that is significant at this level is shown in whichever of the tests it occurs.
"""

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np
from scipy import stats

from inference.paired_contrasts import from_effect, to_effect
from inference.paired_tests import EXACT_MAX_PAIRS, FLIPS_MAX_PAIRS, LEAST_PAIRS, MIN_PAIRS, pairs_for, subset_weights
from inference.student_t import quantile

MAX_PAIRS = 10_000
# MIN_PAIRS pairs detect a difference of more standard deviations than this at any power in use, and
# the noncentral t distribution would run out of digits.
MAX_STANDARDISED = 50.0
# Number of drawn samples of residuals, which gives the power with a standard error of about 0.01; batches limit the memory.
RESIDUALS, BATCHES = 300, 12


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
    """Return the smallest true mean contrast, in standard deviations, that Student's t test detects with the given `power`.

    The result comes from bisection to 9 digits; it is `MAX_STANDARDISED` if no smaller contrast is detected.
    """
    return _smallest(lambda standardised: _power(standardised, pairs, significance) >= power)


def _smallest(suffices):
    """Return the smallest number up to `MAX_STANDARDISED` for which ``suffices`` is true."""
    low, high = 0.0, MAX_STANDARDISED
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if suffices(middle):
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=4096)
def detectable_by_mean_test(pairs, power, significance) -> float:
    """Return the smallest true mean contrast, in standard deviations, that the test of `paired_tests.mean_test` detects.

    The result is `MAX_STANDARDISED` if no smaller contrast is detected.
    """
    if not LEAST_PAIRS <= pairs <= FLIPS_MAX_PAIRS:
        return standardised_detectable(pairs, power, significance)
    critical, df, root = _critical_values(pairs, significance), pairs - 1, math.sqrt(pairs)
    if not np.isfinite(critical).all():
        return MAX_STANDARDISED
    detected = _smallest(lambda standardised: stats.nct.sf(critical, df, root * standardised).mean() >= power)
    return float(f"{detected:.6g}")  # the same on all machines


def _critical_values(pairs, significance):
    """Return the values of Student's t above which sign flips of the mean are significant, for drawn residuals.

    With at least twice the minimum number of pairs, the values hardly depend on the residuals, and the distribution of t gives one value
    for all of them. If only r of the drawn flips may be beyond the observed mean, the median of the t that this needs has a tail of
    about r + 2/3 flips.
    """
    exact = pairs <= EXACT_MAX_PAIRS
    weights = subset_weights(pairs)
    # One of the flips is the sample itself.
    beyond = math.floor(significance / 2 * (len(weights) + 1)) - 1
    bound = math.inf if exact else _hoeffding_t(pairs, significance)
    if beyond < 0:
        return np.array([bound])
    if pairs >= 2 * pairs_for(1, significance):
        return np.array([min(stats.t.isf((beyond + 2 / 3) / (len(weights) + 1), pairs - 1), bound)])
    drawn = np.random.default_rng(pairs).standard_normal((RESIDUALS, pairs))
    residuals = stats.zscore(drawn, axis=1, ddof=1)
    lowest = [np.partition(weights @ batch.T, beyond, axis=0)[beyond] for batch in np.array_split(residuals, BATCHES)]
    return np.minimum(-math.sqrt(pairs) * np.concatenate(lowest), bound)


def _hoeffding_t(pairs, significance):
    """Return the value of Student's t above which Hoeffding's bound (`paired_tests.FlippedMean`) is below the significance level."""
    needed = 2 * math.log(2 / significance)
    return math.sqrt(needed * (pairs - 1) / (pairs - needed)) if pairs > needed else math.inf


def detectable_effect(sd, pairs, power, significance, scale) -> float | None:
    """Return the smallest true increase that ``pairs`` pairs detect with the given `power`.

    The result is None if there are fewer than `MIN_PAIRS` pairs, if no contrast below `MAX_STANDARDISED` is detected, or if the effect
    is too large for a float. With fewer than `LEAST_PAIRS` pairs, it is the effect that Student's t test would detect.
    """
    standardised = detectable_by_mean_test(pairs, power, significance) if pairs >= MIN_PAIRS else MAX_STANDARDISED
    if standardised >= MAX_STANDARDISED:
        return None
    contrast = standardised * sd
    # exp(700) is about the largest number that a float can hold.
    return None if scale == "ratio" and contrast > 700 else to_effect(contrast, scale)


def pairs_needed(sd, effect, power, significance, scale) -> int | None:
    """Return the smallest number of pairs, at least `MIN_PAIRS`, with which Student's t test detects a true effect above 0.

    None if `MAX_PAIRS` are not enough. For a ratio, the effect is an increase; a decrease by the same percentage is larger
    on the logarithmic scale.
    """
    standardised = _standardised(sd, effect, scale)
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


def _standardised(sd, effect, scale):
    """Return an effect in standard deviations, rounded so that different machines agree and cached results can be reused."""
    return float(f"{min(from_effect(effect, scale) / sd, MAX_STANDARDISED):.9g}")


def pairs_needed_in_family(sd, effect, power, significance, scale, tests) -> int | None:
    """Return the number of pairs with which `paired_tests.mean_test` detects an effect in a family of `tests` tests.

    It is at least `pairs_for`, and None if `MAX_PAIRS` are not enough. The level is that of the first test in Holm's procedure.
    """
    level = significance / max(tests, 1)
    needed = pairs_needed(sd, effect, power, level, scale)
    if needed is None:
        return None
    pairs, standardised = max(needed, pairs_for(tests, significance)), _standardised(sd, effect, scale)
    while pairs <= FLIPS_MAX_PAIRS and detectable_by_mean_test(pairs, power, level) > standardised:
        pairs += 1
    return pairs
