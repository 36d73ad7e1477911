"""Equivalence against published values and other libraries; margins and tests agree."""

import math

import numpy as np
import pingouin
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from inference import equivalence

pytestmark = pytest.mark.filterwarnings("error")

A = np.array([4, 7, 8, 6, 3, 2.0])
B = np.array([6, 8, 7, 10, 11, 9.0])


def test_tost_of_the_skin_data():
    # R, cTOST's reference page of tost(), data set skin: mean 0.02270, standard error 0.13428,
    # df 16, alpha 0.05: CI (-0.21174; 0.25715), not equivalent within log(1.25). Any sample with
    # this n, mean and standard error has this interval.
    z = np.arange(17.0)
    contrasts = 0.02270 + 0.13428 * math.sqrt(17) * (z - z.mean()) / z.std(ddof=1)
    low, high = equivalence.tost_interval(contrasts, "t", 0.05)
    assert (low, high) == (pytest.approx(-0.21174, abs=2e-5), pytest.approx(0.25715, abs=2e-5))
    assert equivalence.tost(contrasts, "t", -math.log(1.25), math.log(1.25)) > 0.05
    assert equivalence.smallest_margin((low, high), "points") == pytest.approx(0.25715, abs=2e-5)


def test_tost_of_pingouin_and_statsmodels():
    # pingouin's documentation: tost(a, b, bound=0.5, paired=True) has pval 0.954854.
    p = equivalence.tost(A - B, "t", -0.5, 0.5)
    assert p == pytest.approx(0.954854, abs=5e-7)
    assert p == pytest.approx(pingouin.tost(A, B, bound=0.5, paired=True)["pval"].iloc[0])
    assert equivalence.tost(A - B, "t", -1, 8) == pytest.approx(ttost_paired(A, B, -1, 8)[0])


def test_rank_tost_is_two_signed_rank_tests():
    # R: wilcox.test(x, mu = 3, alternative = "greater"): p-value = 0.998 (Hollander and Wolfe, 1973).
    x = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    assert equivalence.tost(x, "rank", 3, 9) == pytest.approx(0.998, abs=5e-4)
    below = stats.wilcoxon(x - 2.4, alternative="less", method="exact").pvalue
    above = stats.wilcoxon(x - 0.9, alternative="greater", method="exact").pvalue
    assert equivalence.tost(x, "rank", 0.9, 2.4) == pytest.approx(max(below, above))


@pytest.mark.parametrize("kind", ["t", "rank"])
@pytest.mark.parametrize("scale", ["ratio", "points", "relative"])
def test_smallest_margin_is_where_the_test_starts_to_reject(kind, scale):
    contrasts = np.random.default_rng(8).normal(0.02, 0.05, 15)
    interval = equivalence.tost_interval(contrasts, kind, 0.05)
    margin = equivalence.smallest_margin(interval, scale)
    at = [equivalence.tost(contrasts, kind, *equivalence.bounds(margin * factor, scale)) for factor in (1.001, 0.999)]
    assert at[0] <= 0.05 < at[1]


def test_bounds_of_a_ratio_are_percentages():
    low, high = equivalence.bounds(20, "ratio")
    assert (math.exp(low), math.exp(high)) == (pytest.approx(0.8), pytest.approx(1.2))
    # A ratio can't fall by more than 100 %: nothing to test on that side.
    contrasts = np.array([0.1, 0.2, 0.4, 0.3])
    assert equivalence.tost(contrasts, "t", *equivalence.bounds(150, "ratio")) == pytest.approx(
        stats.ttest_1samp(contrasts, math.log(2.5), alternative="less").pvalue
    )


def test_rank_tost_needs_five_pairs():
    assert equivalence.tost_interval(np.arange(4.0), "rank", 0.05) is None
    assert equivalence.tost_interval(np.arange(5.0), "rank", 0.05) == (0.0, 4.0)
