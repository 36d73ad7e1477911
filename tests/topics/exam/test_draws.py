"""Runs with the same seed: they may all collapse together, so they aren't independent."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from exam_cards import CASE, RUNS, of, runs_of, values, wave
from inference.counts_of_draws import at_least, at_most, share_at_most
from topics.exam import card_tests
from topics.exam.card_tests import Counts
from topics.exam.scorecard import scorecard
from topics.exam.tables import WORSE

#: Draws of one run each, draws of two runs each, and draws of different numbers of runs.
DRAWS = [((1, 20),), ((2, 10),), ((1, 12), (3, 4)), ((1, 5), (7, 6))]


def drawn(rng, draws, shares, samples=40_000):
    """Return the number of runs with an outcome in each sample; all runs of a draw have the same outcome."""
    return sum(runs * rng.binomial(number, share, samples) for (runs, number), share in zip(draws, shares, strict=True))


def truths(draws, share):
    """Return shares of the draws of each size: the same in all draws, and as much as possible in draws of one size; ``share`` of all runs."""
    runs = np.array([runs * number for runs, number in draws])
    concentrated = share * runs.sum() * np.eye(len(draws)) / runs
    return [[share] * len(draws), *concentrated[concentrated.max(axis=1) <= 1]]


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_no_tail_is_smaller_than_that_of_simulated_draws(draws, share):
    """Each truth is simulated 40,000 times; the standard error is at most 0.0025, and 0.0011 for tails of 5 %. Draws of one size: exact."""
    for truth in truths(draws, share):
        counts = drawn(np.random.default_rng(1), draws, truth)
        for count in np.unique(counts):
            tails = (counts >= count).mean(), (counts <= count).mean()
            bounds = at_least(int(count), draws, share), at_most(int(count), draws, share)
            assert all(tail < bound + 0.005 for tail, bound in zip(tails, bounds, strict=True) if bound <= 0.05)
            assert len(draws) > 1 or bounds == pytest.approx(tails, abs=0.01)


def test_collapses_only_in_cases_that_share_seeds_keep_the_level():
    """5 % of all runs collapse: a fifth of the draws of seven runs, and none of the 440 others. At 1 / 30 of 4.8 %, the rate was 1.3 %."""
    draws, level = ((1, 440), (7, 20)), 0.048 / 30
    count = next(count for count in range(580) if at_least(count, draws, 0.05) <= level)
    assert stats.binom.sf(np.ceil(count / 7) - 1, 20, 0.05 * 580 / 140) <= level


@pytest.mark.parametrize("n", [1, 20, 900, 4000])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 0.97])
def test_tails_of_single_runs_are_binomial(n, share):
    for count in {0, 1, n // 20, n // 2, n - 1, n}:
        assert at_least(count, ((1, n),), share) == pytest.approx(stats.binom.sf(count - 1, n, share), rel=1e-8)
        assert at_most(count, ((1, n),), share) == pytest.approx(stats.binom.cdf(count, n, share), rel=1e-8)


@pytest.mark.parametrize("draws", DRAWS)
def test_the_bound_covers_the_true_share(draws):
    """The bound lies below the true share in at most 5 % of samples."""
    for truth in truths(draws, 0.2):
        counts, sizes = np.unique(drawn(np.random.default_rng(2), draws, truth), return_counts=True)
        below = [share_at_most(int(count), draws, 0.05) < 0.2 for count in counts]
        assert sizes[below].sum() / sizes.sum() <= 0.053


@pytest.mark.parametrize("draws", DRAWS)
def test_more_outcomes_are_stronger_evidence(draws):
    """No tail and no bound gets weaker with more outcomes, also for numbers that are impossible if draws are never divided."""
    counts = range(sum(runs * number for runs, number in draws) + 1)
    assert (np.diff([at_least(count, draws, 0.5) for count in counts]) <= 1e-12).all()
    assert (np.diff([at_most(count, draws, 0.5) for count in counts]) >= -1e-12).all()
    assert (np.diff([share_at_most(count, draws, 0.01) for count in counts]) >= 0).all()


def test_both_ip_versions_of_a_seed_count_once(exam):
    """A row with n seeds over both IP versions has the p-value and the bound of n runs."""
    own = np.where(np.arange(RUNS) < 17, wave(70), wave(80))
    once = of("utilisation_percent", own, wave(80), wave(90))
    single = values(once)
    both = pd.concat([single.assign(ip_version=name) for name in ("ipv4", "ipv6")])
    seeds = runs_of(once).assign(seed=lambda runs: runs["replication"])
    of_both = pd.concat([seeds.assign(ip_version=name) for name in ("ipv4", "ipv6")])
    rows = [
        scorecard(table, {CASE: "x"}, exam, runs=runs).query("scenario == @CASE").iloc[0]
        for table, runs in ((single, seeds), (both, of_both))
    ]
    assert [row["n"] for row in rows] == [RUNS, 2 * RUNS]
    for column in ("p", "worse_share_at_most", "verdict"):
        assert rows[0][column] == rows[1][column]


@pytest.mark.parametrize("shared, is_worse", [(False, True), (True, False)])
def test_one_seed_that_collapses_in_all_cases_is_one_collapse(exam, shared, is_worse):
    """Two of 20 draws collapse in all of 12 cases: 10 % of the runs, and no more than two draws if the cases share their seeds."""
    cases = [f"6.3-{number}" for number in range(12)]
    cells = {}
    for case in cases:
        cells |= of("utilisation_percent", np.where(np.arange(RUNS) < 2, 20, wave(90)), wave(90), wave(91), case)
    runs = runs_of(cells)
    if shared:
        runs["seed"] = runs["replication"]
    row = scorecard(values(cells), dict.fromkeys(cases, "x"), exam, runs=runs).iloc[0]
    assert row["runs_far_worse"] == 24
    assert (row["verdict"] == WORSE) == is_worse


def test_a_standard_that_collapses_with_the_same_seeds_counts_by_seed():
    """The CCA leads by 3 runs in each of 4 draws, and a standard CCA in one: the signs of 5 draws decide, not those of 15 runs."""
    counts = Counts(0, 0, 12, 3, ((1, 20), (3, 10)), ((-3, 1), (3, 4)))
    assert card_tests.p_collapses(counts) == pytest.approx(stats.binom.sf(3, 5, 0.5))


def test_more_copies_decide_nothing(exam):
    """Runs that repeat one measurement would not have shown any deterioration, nor do more of them decide the row."""
    cells = of("utilisation_percent", *np.full((3, RUNS), 80.0))
    row = scorecard(values(cells), {CASE: "x"}, exam).query("scenario == @CASE").iloc[0]
    assert "repeat one measurement" in row["reason"]
    assert np.isnan(row["runs_needed"]) and np.isnan(row["detectable"])
