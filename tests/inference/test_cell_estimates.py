"""The estimate of a cell's mean, on data whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.cell_estimates import cell_estimate, estimate_columns
from inference.mean_interval import mean_interval

VALUES = st.lists(st.floats(0, 100) | st.just(float("nan")), max_size=12)


def coverage(draw, truth, n=10, rounds=2000, **bounds):
    """Return the share of samples whose interval contains the true mean, and the ends of all intervals."""
    rng = np.random.default_rng(7)
    estimates = [cell_estimate(draw(rng, n), 0.95, **bounds) for _ in range(rounds)]
    ends = np.array([(one.low, one.high) for one in estimates if one.low is not None])
    return np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])), ends


def test_of_normal_values_the_interval_holds_the_mean_as_often_as_it_claims():
    held, _ = coverage(lambda rng, n: rng.normal(50, 5, n), 50, least=0, most=100)
    assert held == pytest.approx(0.955, abs=0.015)


def test_skewed_values_near_a_bound_keep_their_coverage_when_the_interval_is_cut_off():
    def draw(rng, n):
        return rng.beta(0.5, 20, n) * 100

    truth = 100 * 0.5 / 20.5
    (cut, ends), (uncut, open_ends) = coverage(draw, truth, least=0, most=100), coverage(draw, truth)
    assert ends.min() == 0 and open_ends.min() < 0
    assert cut == uncut > 0.8


@given(VALUES, st.floats(0.5, 0.99))
def test_an_interval_lies_inside_the_bounds_and_has_the_mean_inside(values, confidence):
    estimate = cell_estimate(values, confidence, 0, 100)
    assert estimate.n == np.count_nonzero(~np.isnan(values))
    if estimate.low is None:
        assert estimate.high is None and (estimate.note or estimate.n == 0)
    else:
        assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 100 and not estimate.note


@given(VALUES)
def test_without_bounds_it_is_the_interval_of_the_values_that_there_are(values):
    estimate = cell_estimate(values, 0.95)
    known = [value for value in values if not np.isnan(value)]
    if estimate.low is not None:
        assert (estimate.mean, estimate.low, estimate.high) == mean_interval(known, 0.95)


def test_a_mean_beyond_its_bound_stays_inside_its_interval():
    estimate = cell_estimate([-0.003, -0.001, -0.002, -0.0015, -0.0025, -0.002], 0.95, 0)
    assert estimate.low == estimate.mean == pytest.approx(-0.002)


@pytest.mark.parametrize(
    ("values", "options", "n", "mean", "words"),
    [
        ([], {}, 0, None, "no value"),
        ([np.nan, np.nan], {}, 0, None, "no value"),
        ([3.0, np.nan], {}, 1, 3.0, "one run: an interval needs 6"),
        ([0.1, 0.1, 0.1], {}, 3, 0.1, "all 3 values are equal"),
        ([5.0, 5.2], {"resolution": 0.5}, 2, 5.1, "within the resolution"),
        ([5.0, 5.2, 5.1, 5.3, 5.2], {}, 5, 5.16, "5 runs: an interval needs 6"),
        ([10.0, 10.1, 9.9, 10.2, 10.0, 1.0], {}, 6, 8.533333333, "1 of 6 runs is an outlier"),
        ([10.0, 10.1, 9.9, 10.2, 10.0, 30.0, 31.0], {}, 7, 15.885714286, "2 of 7 runs are outliers"),
    ],
)
def test_where_there_is_no_interval_the_note_says_why(values, options, n, mean, words):
    estimate = cell_estimate(values, 0.95, 0, 100, **options)
    assert (estimate.n, estimate.low, estimate.high) == (n, None, None)
    assert estimate.mean == (None if mean is None else pytest.approx(mean))
    assert words in estimate.note


def test_columns_of_an_estimate():
    names = estimate_columns(cell_estimate([1.0, 2.0, 1.2, 1.8, 1.4, 1.6], 0.95, 0, 5), "rtt_mean_ms", "rtt")
    assert list(names) == ["rtt_mean_ms", "rtt_low", "rtt_high"] and 0 < names["rtt_low"] < 1.5 < names["rtt_high"] < 5
    assert all(np.isnan(value) for value in estimate_columns(cell_estimate([], 0.95), "share").values())
