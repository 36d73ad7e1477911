"""Differences of independent samples: against R, against SciPy, and their error rates."""

import math

import numpy as np
import pytest
from scipy import stats

from inference.independent_comparison import difference

# R's data set `sleep`, groups 1 and 2 (Student, 1908).
SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_welch_as_in_r():
    # t.test(extra ~ group, data = sleep): df = 17.776, 95 percent confidence interval -3.3654832 0.2054832
    estimate = difference(SLEEP_1, SLEEP_2, "points")
    assert estimate.effect == pytest.approx(-1.58)
    assert estimate.df == pytest.approx(17.776, abs=5e-4)
    assert estimate.interval(0.95) == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)
    # Both sides of the point 0 as an interval without width: half of R's p-value = 0.07939.
    assert estimate.p_beyond(0, 0) == pytest.approx(0.07939 / 2, abs=5e-6)


def test_samples_of_different_size_and_spread_as_in_scipy():
    first, second = [10.1, 11.9, 10.7, 11.2, 10.4, 10.9], [14.0, 20.0, 9.5, 17.0, 12.1, 15.2, 11.0, 18.3]
    expected = stats.ttest_ind(np.log(first), np.log(second), equal_var=False).confidence_interval(0.9)
    low, high = difference(first, second, "ratio").interval(0.9)
    assert (low, high) == pytest.approx((100 * math.expm1(expected.low), 100 * math.expm1(expected.high)))


def test_ratio_is_of_geometric_means_and_zero_turns_it_into_a_part_of_the_mean():
    ratio, relative = difference([2.0, 8.0], [1.0, 4.0], "ratio"), difference([0.0, 4.0], [1.0, 1.0], "ratio")
    assert (ratio.scale, ratio.effect) == ("ratio", pytest.approx(100))
    assert (relative.scale, relative.effect) == ("relative", pytest.approx(100 * (2 - 1) / 1.5))


@pytest.mark.parametrize(
    ("first", "second", "effect", "note"),
    [
        ([3.0], [1.0, 2.0], 1.5, "one run: an interval needs 6"),
        ([3.0, 4.0, 5.0], SLEEP_1, 3.25, "3 runs: an interval needs 6"),
        (SLEEP_1[:6], [1.0, 2.0, 3.0, 4.0, 6.0], 1 / 6 - 3.2, "5 runs: an interval needs 6"),
        ([1.0, 1.1, 1.2, 1.3, 1.4, 91.2], SLEEP_1, 15.45, "1 of 16 runs is an outlier: no interval of the mean"),
    ],
)
def test_too_few_values_and_two_kinds_have_a_difference_and_no_interval(first, second, effect, note):
    for one, other, sign in ((first, second, 1), (second, first, -1)):
        estimate = difference(one, other, "points")
        assert (estimate.effect, estimate.note) == (pytest.approx(sign * effect), note)
        assert estimate.interval(0.95) is None and estimate.bounds(0.95) is None and not estimate.exact
        assert estimate.p_within(-2, 2) is None and estimate.p_beyond(-1, 1) is None


def test_no_spread_is_exact():
    estimate = difference([5.0, 5.0], [4.0, 4.0, 4.0], "points")
    assert estimate.exact and estimate.interval(0.95) is None and estimate.bounds(0.95) == (1.0, 1.0)
    assert estimate.p_within(-2, 2) is None


@pytest.mark.parametrize("seed", range(40))
def test_tests_and_interval_say_the_same(seed):
    rng = np.random.default_rng(seed)
    estimate = difference(rng.normal(1.0, 0.6, 6), rng.normal(0, 0.2, 7), "points")
    if estimate.error is None:  # two kinds of run in one of 100 samples: no test either
        assert "no interval of the mean" in estimate.note
        assert estimate.interval(0.9) is estimate.p_within(-1, 1) is estimate.p_beyond(-1, 1) is None
        return
    low, high = estimate.interval(0.9)
    assert (estimate.p_within(-1, 1) < 0.05) == (low > -1 and high < 1)
    assert (estimate.p_beyond(-1, 1) < 0.05) == (low > 1 or high < -1)


def test_errors_at_the_tolerance_are_as_rare_as_they_should_be():
    # The true difference is the tolerance itself: neither may be said in more than 5 % of all cases.
    rng = np.random.default_rng(7)
    agree = differ = 0
    for _ in range(2000):
        estimate = difference(rng.normal(1.0, 0.3, 6), rng.normal(0, 0.1, 6), "points")
        if estimate.error is None:  # two kinds of run in one of 100 samples: neither is said
            assert "no interval of the mean" in estimate.note
            continue
        agree += estimate.p_within(-1, 1) < 0.05
        differ += estimate.p_beyond(-1, 1) < 0.05
    # 5 % of 2,000 with three standard errors.
    assert 40 <= agree <= 100 + 3 * 9.8
    assert 40 <= differ <= 100 + 3 * 9.8
