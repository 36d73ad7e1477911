"""Verdicts of `make compare` on results with known truth: a small part of `make bench-statistics` with fixed seeds."""

import numpy as np
import pytest

import compare_error_rates as rates
from compared_results import DEVIATIONS, GAPS

SAMPLES = 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"), [*((name, 6) for name in (*DEVIATIONS, GAPS)), ("starves with probability 1/2", 12)]
)
def test_an_algorithm_hardly_ever_differs_from_itself(name, n):
    (rate,) = rates.compare_alarms(np.random.default_rng(n), SAMPLES, n, name)
    assert rate.inside, rate


@pytest.mark.parametrize("n", [6, 12])
def test_a_limit_that_half_of_the_runs_are_beyond_is_not_crossed(n):
    (rate,) = rates.limit_alarms(np.random.default_rng(n), SAMPLES, n)
    assert rate.inside, rate


@pytest.mark.parametrize("shared", [3, rates.SCENARIOS])
def test_seeds_with_which_all_runs_collapse_are_no_difference(shared):
    """If the runs of scenarios that share seeds counted as independent, 22 % of comparisons would differ with six such scenarios."""
    (rate,) = rates.seed_alarms(np.random.default_rng(shared), SAMPLES, 8, shared)
    assert rate.inside, rate


def test_harm_is_found_by_six_pairs_or_the_number_that_would():
    found, _ = rates.shift_rates(np.random.default_rng(6), SAMPLES, 6, 2.0, rates.EVERYWHERE, (0.9, 1))
    assert found.inside, found
    found, needed = rates.shift_rates(np.random.default_rng(4), SAMPLES, 4, 2.0, rates.ONE_CELL, (0, 0))
    assert found.inside and needed.share > 0.8


def test_less_than_the_margin_is_not_worse():
    found, _ = rates.shift_rates(np.random.default_rng(12), SAMPLES, 12, 0.5, rates.EVERYWHERE, (0, 0.05))
    assert found.inside, found


def test_rare_events_are_found_over_all_scenarios():
    (rate,) = rates.collapse_power(np.random.default_rng(12), SAMPLES, 12, "30 % of runs collapse")
    assert rate.share > 0.7
