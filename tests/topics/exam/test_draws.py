"""Runs with the same seed: they may all collapse together, so they aren't independent."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from exam_cards import CASE, RUNS, of, runs_of, values, wave
from topics.exam import card_tests
from topics.exam.card_tests import Counts, at_least, at_most, most_worse
from topics.exam.judge import scorecard
from topics.exam.tables import WORSE

#: Draws of one run each, draws of two runs each, and draws of different numbers of runs.
DRAWS = [((1, 20),), ((2, 10),), ((1, 12), (3, 4)), ((1, 5), (7, 6))]


def drawn(rng, draws, share, samples=40_000):
    """Return the number of runs with an outcome in each sample; all runs of a draw have the same outcome."""
    return sum(runs * rng.binomial(number, share, samples) for runs, number in draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_tails_are_those_of_simulated_draws(draws, share):
    """Both tails agree with 40,000 simulated samples; the standard error is at most 0.0025."""
    counts = drawn(np.random.default_rng(1), draws, share)
    for count in np.unique(counts):
        assert at_least(int(count), draws, share) == pytest.approx((counts >= count).mean(), abs=0.01)
        assert at_most(int(count), draws, share) == pytest.approx((counts <= count).mean(), abs=0.01)


@pytest.mark.parametrize("n", [1, 20, 900, 4000])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 0.97])
def test_tails_of_single_runs_are_binomial(n, share):
    for count in {0, 1, n // 20, n // 2, n - 1, n}:
        assert at_least(count, ((1, n),), share) == pytest.approx(stats.binom.sf(count - 1, n, share), rel=1e-8)
        assert at_most(count, ((1, n),), share) == pytest.approx(stats.binom.cdf(count, n, share), rel=1e-8)


@pytest.mark.parametrize("draws", DRAWS)
def test_the_bound_covers_the_true_share(draws):
    """The bound lies below the true share in at most 5 % of samples."""
    counts, sizes = np.unique(drawn(np.random.default_rng(2), draws, 0.2), return_counts=True)
    below = [most_worse(int(count), draws, 0.05) < 0.2 for count in counts]
    assert sizes[below].sum() / sizes.sum() <= 0.053


@pytest.mark.parametrize("draws", DRAWS)
def test_more_outcomes_are_stronger_evidence(draws):
    """No tail and no bound gets weaker with more outcomes, also for numbers that are impossible if draws are never divided."""
    counts = range(sum(runs * number for runs, number in draws) + 1)
    assert (np.diff([at_least(count, draws, 0.5) for count in counts]) <= 0).all()
    assert (np.diff([at_most(count, draws, 0.5) for count in counts]) >= 0).all()
    assert (np.diff([most_worse(count, draws, 0.01) for count in counts]) >= 0).all()


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
    counts = Counts(0, 0, 12, 3, ((1, 100), (3, 20)), ((-3, 1), (3, 4)))
    assert card_tests.p_collapses(counts) == pytest.approx(stats.binom.sf(3, 5, 0.5))
