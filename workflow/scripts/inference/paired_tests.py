"""The mean of paired contrasts: a single test, the interval that inverts it, and one-sided tests against any bound.

The mean contrast is the only estimand: effect, interval, test and equivalence all refer to it. The test flips the contrasts' signs
(Fisher, Hartigan), whatever the distribution of the values. If a test of normality decided which of two tests is used, neither
significance level would hold. With few pairs, Student's t finds false differences between bimodal cells (in 72 % of studies of
72 cells with 3 pairs each). With few pairs, p can't be below the significance level of the first test in a family
(`pairs_for` returns the number needed), and with fewer than `LEAST_PAIRS` there is neither interval nor test.

The null hypothesis is that the two members of a pair are exchangeable: the factor that distinguishes them has no effect.
Then a contrast is as likely as its negative, however skewed the values themselves are.
`contrasts` is a numpy.ndarray of float, shape (n,), from `paired_contrasts.contrasts`;
`alternative` is "two-sided", "greater" or "less".
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from inference.mean_interval import LEAST_RUNS

T_TEST, SIGN_FLIP = "paired t", "sign flips of the mean"
# Minimum number of pairs for a standard deviation.
MIN_PAIRS = 2
# Minimum number of pairs for a 95 % interval: 2 / 2^6 is 3 %.
LEAST_PAIRS = LEAST_RUNS
# Maximum number of pairs for which all sign flips are tried; for more pairs, `FLIPS` flips are drawn at random.
EXACT_MAX_PAIRS = 16
FLIPS = 2**EXACT_MAX_PAIRS - 1
# With more pairs, the mean is close enough to normal for Student's t, whatever the contrasts (tests/inference/test_false_alarms.py).
FLIPS_MAX_PAIRS = 200


def is_constant(contrasts) -> bool:
    """Return whether all contrasts are equal (their rounding noise has already been removed)."""
    return bool(contrasts.min() == contrasts.max())


def smallest_p(pairs) -> float:
    """Return the smallest two-sided p that sign flips of n pairs can give: 2 / 2^n if all flips are tried.

    If the flips are drawn at random, it is 2 / (`FLIPS` + 1) or Hoeffding's bound, whichever is smaller, but not less than 2 / 2^n.
    """
    return max(2.0 ** (1 - pairs), min(2 / (FLIPS + 1), 2 * math.exp(-pairs / 2)))


def pairs_for(tests, significance) -> int:
    """Return the number of pairs that a test needs in a family of tests (Bonferroni, or Holm's first step): 6 for one test, 12 for 72.

    With fewer pairs p can't be below the significance level, however clear the difference is.
    """
    pairs = LEAST_PAIRS
    while smallest_p(pairs) * max(tests, 1) > significance:
        pairs += 1
    return pairs


class StudentMean:
    """Student's t test of the mean (Student, 1908).

    Parameters
    ----------
    contrasts : numpy.ndarray of float, shape (n,)
        At least two contrasts, not all equal.
    step : float
        Resolution of a contrast: the sum of both values' resolutions. Quantised values can be closer
        together than the true values, so the variance of the two roundings is added: step^2 / 24 if both are equal.
    """

    name = T_TEST

    def __init__(self, contrasts, step=0.0):
        n = len(contrasts)
        self.df, self.mean = n - 1, float(contrasts.mean())
        self.error = math.sqrt((float(contrasts.var(ddof=1)) + step**2 / 24) / n)
        self.statistic = self.mean / self.error

    def p(self, null=0.0, alternative="two-sided") -> float:
        """Return the p-value for the null hypothesis that the mean is `null`.

        For one-sided tests, the null hypothesis is that the mean is at most `null` ("greater") or at least `null` ("less").
        """
        t = (self.mean - null) / self.error
        tail = {"greater": -t, "less": t, "two-sided": -abs(t)}[alternative]
        p = float(special.stdtr(self.df, tail))
        return 2 * p if alternative == "two-sided" else p

    def interval(self, confidence) -> tuple[float, float]:
        """Return the two-sided interval."""
        half = float(special.stdtrit(self.df, (1 + confidence) / 2)) * self.error
        return self.mean - half, self.mean + half


class FlippedMean:
    """Sign-flip test of the mean (Fisher, 1935, section 21), and the interval that inverts this test.

    If the signs of some contrasts are flipped about a null value, the mean of all contrasts doesn't decrease if and only if the mean of the
    flipped contrasts was at most the null value. So the p-value for any null value, and the interval, follow from the means of subsets of
    the contrasts (Hartigan, 1969, "Using subsample values as typical values", JASA 64). Up to `EXACT_MAX_PAIRS` pairs, all 2^n - 1 subsets
    are used. For more pairs, `FLIPS` subsets are drawn at random, and are the same for every sample of this size (Monte Carlo p: Davison
    and Hinkley, 1997, section 4.2). Where drawn flips can't distinguish p from 0, Hoeffding's bound is used: the flipped sum is at least T
    with a probability of at most exp(-T^2 / (2 sum x^2)) (1963, JASA 58, theorem 2).
    """

    name = SIGN_FLIP

    def __init__(self, contrasts, step=0.0):
        self.statistic = StudentMean(contrasts, step).statistic
        self.contrasts = contrasts
        # Sorted, so that drawn subsets don't depend on the order of the values.
        self.means = np.sort(subset_weights(len(contrasts)) @ np.sort(contrasts))
        # Equal means must not be distinguished because of rounding.
        self.rounding = 1e-12 * float(np.abs(contrasts).max())
        self.means[np.abs(self.means) <= self.rounding] = 0.0

    def p(self, null=0.0, alternative="two-sided") -> float:
        """Return the p-value for the null hypothesis that the mean is `null`.

        For one-sided tests, the null hypothesis is that the mean is at most `null` ("greater") or at least `null` ("less").
        """
        subsets = len(self.means)
        at_most = np.searchsorted(self.means, null + self.rounding, side="right")
        at_least = subsets - np.searchsorted(self.means, null - self.rounding, side="left")
        greater, less = (float(1 + count) / (1 + subsets) for count in (at_most, at_least))
        if len(self.contrasts) > EXACT_MAX_PAIRS:
            apart = self.contrasts - null
            bound = math.exp(-(float(apart.sum()) ** 2) / (2 * float((apart**2).sum()))) if apart.any() else 1.0
            greater, less = (min(greater, bound), less) if apart.sum() > 0 else (greater, min(less, bound))
        return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[alternative]

    def interval(self, confidence) -> tuple[float, float]:
        """Return the two-sided interval: all means that neither one-sided test rejects."""
        outside = math.floor((1 - confidence) / 2 * (len(self.means) + 1) + 1e-9)
        return float(self.means[outside - 1]), float(self.means[-outside])


@lru_cache(maxsize=2)
def subset_weights(pairs) -> np.ndarray:
    """Return the weights with which contrasts enter the means of subsets, shape (subsets, pairs); each row sums to 1."""
    if pairs <= EXACT_MAX_PAIRS:
        chosen = (np.arange(1, 2**pairs)[:, None] >> np.arange(pairs)) & 1
    else:
        chosen = np.random.default_rng(pairs).integers(0, 2, (FLIPS, pairs), dtype=np.int8)
        chosen = chosen[chosen.any(axis=1)]
    return chosen / chosen.sum(axis=1, keepdims=True)


def mean_test(contrasts, step=0.0) -> StudentMean | FlippedMean | None:
    """Return the test of the mean contrast; None if there are fewer than `LEAST_PAIRS` contrasts or all are equal.

    Parameters
    ----------
    contrasts : numpy.ndarray of float, shape (n,)
        One contrast per pair.
    step : float
        Resolution of a contrast, as in `StudentMean`.
    """
    if len(contrasts) < LEAST_PAIRS or is_constant(contrasts):
        return None
    return (FlippedMean if len(contrasts) <= FLIPS_MAX_PAIRS else StudentMean)(contrasts, step)
