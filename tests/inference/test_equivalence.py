"""Equivalence against published values and other libraries; margins and tests agree."""

import math

import numpy as np
import pingouin
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from inference import equivalence
from inference.paired_tests import FlippedMean, StudentMean

pytestmark = pytest.mark.filterwarnings("error")

A = np.array([4, 7, 8, 6, 3, 2.0])
B = np.array([6, 8, 7, 10, 11, 9.0])


def test_tost_of_the_skin_data():
    # R, cTOST's reference page of tost(), data set skin: mean 0.02270, standard error 0.13428,
    # df 16, alpha 0.05: CI (-0.21174; 0.25715), not equivalent within log(1.25). Any sample with
    # this n, mean and standard error has this interval.
    z = np.arange(17.0)
    contrasts = 0.02270 + 0.13428 * math.sqrt(17) * (z - z.mean()) / z.std(ddof=1)
    low, high = equivalence.tost_interval(StudentMean(contrasts), 0.05)
    assert (low, high) == (pytest.approx(-0.21174, abs=2e-5), pytest.approx(0.25715, abs=2e-5))
    assert equivalence.tost(StudentMean(contrasts), -math.log(1.25), math.log(1.25)) > 0.05
    assert equivalence.smallest_margin((low, high), "points") == pytest.approx(0.25715, abs=2e-5)


def test_tost_of_pingouin_and_statsmodels():
    # pingouin's documentation: tost(a, b, bound=0.5, paired=True) has pval 0.954854.
    p = equivalence.tost(StudentMean(A - B), -0.5, 0.5)
    assert p == pytest.approx(0.954854, abs=5e-7)
    assert p == pytest.approx(pingouin.tost(A, B, bound=0.5, paired=True)["pval"].iloc[0])
    assert equivalence.tost(StudentMean(A - B), -1, 8) == pytest.approx(ttost_paired(A, B, -1, 8)[0])


@pytest.mark.parametrize("kind", [StudentMean, FlippedMean])
@pytest.mark.parametrize("scale", ["ratio", "points", "relative"])
def test_smallest_margin_is_where_the_test_starts_to_reject(kind, scale):
    contrasts = np.random.default_rng(8).normal(0.02, 0.05, 15)
    test = kind(contrasts)
    margin = equivalence.smallest_margin(equivalence.tost_interval(test, 0.05), scale)
    at = [equivalence.tost(test, *equivalence.bounds(margin * factor, scale)) for factor in (1.001, 0.999)]
    assert at[0] <= 0.05 < at[1]


def test_bounds_of_a_ratio_are_percentages():
    low, high = equivalence.bounds(20, "ratio")
    assert (math.exp(low), math.exp(high)) == (pytest.approx(0.8), pytest.approx(1.2))
    # A ratio can't fall by more than 100 %: nothing to test on that side.
    contrasts = np.array([0.1, 0.2, 0.4, 0.3])
    assert equivalence.tost(StudentMean(contrasts), *equivalence.bounds(150, "ratio")) == pytest.approx(
        stats.ttest_1samp(contrasts, math.log(2.5), alternative="less").pvalue
    )


@pytest.mark.parametrize(
    "interval, place",
    [((-1, 1), "inside"), ((2, 4), "across"), ((-9, 9), "across"), ((4, 5), "outside"), ((-5, -4), "outside")],
)
def test_place_of_an_interval(interval, place):
    assert equivalence.place(interval, -3, 3) == place
