"""Intervals of a mean after looks at its spread: their coverage, calculated and simulated with normal values."""

import numpy as np
import pytest
from scipy import stats

from inference import looks_at_spread
from inference.looks_at_spread import coverage_at_end, least_coverage, level_of_looks
from known_truth import ONE_KIND, TWO_KINDS
from sequential_rates import precision_coverage

LOOKS = (10, 15, 22, 32, 46, 68, 100)


def drawn_coverage(looks, level, half_width, samples, seed=1):
    """Return the share of final intervals that contain the mean, 0, when values are really drawn and added."""
    values = np.random.default_rng(seed).standard_normal((samples, looks[-1]))
    held = ended = np.zeros(samples, bool)
    for n in looks:
        half = stats.t.ppf((1 + level) / 2, n - 1) * values[:, :n].std(axis=1, ddof=1) / np.sqrt(n)
        ends = ~ended & ((half <= half_width) | (n == looks[-1]))
        held = held | ends & (abs(values[:, :n].mean(axis=1)) <= half)
        ended = ended | ends
    return held.mean()


@pytest.mark.parametrize("looks", [(10, 15, 22, 32), (6, 9, 13, 20), (10, 11)])
@pytest.mark.parametrize("needed", [0.7, 1, 1.5, 2.5])
def test_calculation_agrees_with_values_that_are_drawn(looks, needed):
    samples, level = 40_000, 0.95
    half_width = 1.96 / np.sqrt(needed * looks[0])
    drawn = drawn_coverage(looks, level, half_width, samples)
    # Four standard errors: of twelve comparisons one in 1,300 is beyond by chance.
    assert coverage_at_end(looks, level, half_width) == pytest.approx(drawn, abs=4 * np.sqrt(0.95 * 0.05 / samples))


def test_without_a_choice_the_level_is_the_coverage():
    """If runs always end at the first look, or never before the last, the number of values is fixed."""
    for half_width in (100.0, 1e-4):
        assert coverage_at_end(LOOKS, 0.95, half_width) == pytest.approx(0.95, abs=2e-4)
    assert level_of_looks((40,), 0.95) == 0.95


def test_the_usual_level_would_hold_the_mean_less_often():
    assert least_coverage(LOOKS, 0.95) == pytest.approx(0.9356, abs=3e-4)
    assert least_coverage((6, 9, 13, 20, 30, 45), 0.95) < 0.93


@pytest.mark.slow
@pytest.mark.parametrize("looks", [LOOKS, (6, 9, 13, 20, 30, 45, 67, 100), (10, 11), (20, 30, 45), (5000, 7071, 10000)])
def test_the_level_holds_it_as_often_as_stated_and_hardly_more(looks):
    level = level_of_looks(looks, 0.95)
    assert 0.95 <= least_coverage(looks, level) < 0.9502
    # Nowhere more often than the level itself.
    assert 0.95 <= level < 0.97


def test_later_looks_and_finer_bins_change_nothing(monkeypatch):
    level = level_of_looks(LOOKS, 0.95)
    for needed in (50, 80, 100, 150):  # beyond the spreads that are tried, and the looks that are calculated with
        assert coverage_at_end(LOOKS, level, stats.norm.ppf((1 + level) / 2) / np.sqrt(needed)) > 0.95
    monkeypatch.setattr(looks_at_spread, "BINS", 2 * looks_at_spread.BINS)
    looks_at_spread._sums_of_squares.cache_clear()
    assert level_of_looks(LOOKS, 0.95) == pytest.approx(level, abs=1.01e-4)
    looks_at_spread._sums_of_squares.cache_clear()


def test_dividing_the_error_among_the_looks_would_hold_it_far_more_often():
    assert least_coverage(LOOKS, 1 - 0.05 / len(LOOKS)) > 0.985


@pytest.mark.slow
@pytest.mark.parametrize("truth", ONE_KIND[:3], ids=lambda truth: truth.name)
@pytest.mark.parametrize("times", [pytest.param(1.5, marks=pytest.mark.long), 3])
def test_the_interval_where_runs_end_holds_the_mean(truth, times):
    rate, _ = precision_coverage(np.random.default_rng(1), 200, truth, times)
    assert rate.inside and rate.samples > 100
    # What is needed, and at most two steps to the next looks more: intervals are a little wider than Student's.
    assert 10 * times < rate.n < 10 * times * 2 + 10


@pytest.mark.slow
@pytest.mark.parametrize("truth", [truth for truth in TWO_KINDS if truth.share == 0.1], ids=lambda truth: truth.name)
def test_where_one_run_in_ten_is_of_another_kind_the_interval_holds_what_it_is_of(truth):
    rate, _ = precision_coverage(np.random.default_rng(3), 200, truth, 0.7)
    assert rate.inside and rate.samples > 20


def test_cells_that_wait_for_each_other_hold_it_too():
    rate, _ = precision_coverage(np.random.default_rng(1), 40, ONE_KIND[0], 1.5, cells=6)
    assert rate.inside and rate.samples > 200
