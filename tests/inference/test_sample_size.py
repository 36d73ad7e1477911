"""Power and sample size against R's, and at the limits of the arguments."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from inference import sample_size

pytestmark = pytest.mark.filterwarnings("error")


def test_pairs_of_r():
    # Dalgaard (2008), Introductory Statistics with R, 9.3: power.t.test(delta = 10,
    # sd = 10 * sqrt(2), power = 0.85, type = "paired"): n = 19.96892.
    assert sample_size.pairs_needed(10 * math.sqrt(2), 10, 0.85, 0.05, "points") == 20


def test_detectable_difference_of_pingouins_documentation():
    # power_ttest(n=20, power=0.80, alpha=0.05, contrast="paired"): d: 0.6604 (checked there
    # against GPower and R's pwr).
    assert sample_size.standardised_detectable(20, 0.8, 0.05) == pytest.approx(0.6604, abs=5e-5)


@pytest.mark.parametrize("pairs", [3, 4, 10, 100])
def test_detectable_difference_of_statsmodels(pairs):
    d = sample_size.standardised_detectable(pairs, 0.8, 0.05)
    assert TTestPower().power(d, pairs, 0.05) == pytest.approx(0.8, abs=1e-6)


def test_needed_pairs_are_the_fewest_that_suffice():
    for effect in (0.3, 1.0, 2.0):
        n = sample_size.pairs_needed(1.0, effect, 0.8, 0.05, "points")
        assert TTestPower().power(effect, n, 0.05) >= 0.8 > TTestPower().power(effect, n - 1, 0.05)


def test_ratios_are_worked_out_as_logarithms():
    # 5 % upwards is ln 1.05.
    assert sample_size.pairs_needed(0.1, 5, 0.8, 0.05, "ratio") == sample_size.pairs_needed(
        0.1, math.log(1.05), 0.8, 0.05, "points"
    )
    d = sample_size.detectable_by_mean_test(10, 0.8, 0.05)
    assert sample_size.detectable_effect(0.1, 10, 0.8, 0.05, "ratio") == pytest.approx(100 * math.expm1(0.1 * d))


def test_ends_of_the_range():
    assert sample_size.pairs_needed(1e-9, 5, 0.8, 0.05, "points") == sample_size.MIN_PAIRS
    assert sample_size.pairs_needed(1e9, 5, 0.8, 0.05, "points") is None
    assert sample_size.pairs_needed(1.0, 0.0280, 0.8, 0.05, "points") is None  # 10,013 pairs
    assert sample_size.pairs_needed(1.0, 0.0281, 0.8, 0.05, "points") == 9943
    assert sample_size.detectable_effect(1.0, 1, 0.8, 0.05, "points") is None
    # Two pairs at the level of the first of 72 tests: more than 50 standard deviations.
    assert sample_size.detectable_effect(1.0, 2, 0.8, 0.05 / 72, "points") is None
    assert sample_size.detectable_effect(1e4, 4, 0.8, 0.05, "ratio") is None


def test_interval_of_a_standard_deviation():
    # Tables of chi-square with 3 degrees of freedom: 0.2158 and 9.348 leave 2.5 % outside.
    expected = math.sqrt(3 / 9.348), math.sqrt(3 / 0.2158)
    assert sample_size.deviation_interval(1.0, 4, 0.95) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("tests, pairs", [(1, 6), (16, 10), (72, 12)])
def test_the_fewest_pairs_are_significant_only_if_all_have_one_sign(tests, pairs):
    d = sample_size.detectable_by_mean_test(pairs, 0.8, 0.05 / tests)
    assert stats.norm.cdf(d) ** pairs == pytest.approx(0.8, abs=0.03)


def test_hoeffdings_bound_is_a_critical_value_of_t():
    # With 3,000 tests, no drawn flips suffice: exp(-T^2 / (2 sum x^2)) must be below 0.05 / 3000 / 2.
    values = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    (critical,) = sample_size._critical_values(40, 0.05 / 3000)
    x = values / values.std(ddof=1) + critical / math.sqrt(40)
    assert 2 * math.exp(-(x.sum() ** 2) / (2 * (x**2).sum())) == pytest.approx(0.05 / 3000)


def test_many_pairs_are_those_of_students_t():
    family = (1.0, 0.1, 0.8, 0.05, "points")
    assert sample_size.pairs_needed_in_family(*family, 72) == sample_size.pairs_needed(
        1.0, 0.1, 0.8, 0.05 / 72, "points"
    )
    assert sample_size.pairs_needed_in_family(1.0, 0.01, 0.8, 0.05, "points", 1) is None
