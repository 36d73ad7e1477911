"""Outlying runs: they are found in either direction, and the share that few runs don't rule out is right."""

import numpy as np
import pytest

from inference.collapses import ALARMS, WIDEST_GAPS, largest_share, other_kind

pytestmark = pytest.mark.filterwarnings("error")

ALIKE = [93.1, 94.0, 93.4, 92.8, 93.9]


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ([], []),
        ([100, 10], []),  # neither is the rest of two
        ([100, 100, 100, 10], []),  # too few to tell
        (ALIKE, []),
        ([*ALIKE, 31.0], [5]),
        ([*ALIKE, 0.0], [5]),
        ([*ALIKE, 0.7 * 93.4], [5]),
        ([*ALIKE, 3 * 93.4], [5]),
        ([70.1, *ALIKE, 70.9], [0, 6]),
        ([3, 2.9, 3.1, 1, 1.1, 0.9], [3, 4, 5]),  # of two groups of one size the lower
        ([100, 40, 250, 60, 160, 30], []),  # so wide a spread has such gaps always
        ([1, 2, 4, 8, 16, 32, 64, 128], []),  # evenly spread on logarithms
        ([0, 0, 0, 0, 0, 5], [5]),
    ],
)
def test_runs_apart(values, places):
    assert np.flatnonzero(other_kind(values)).tolist() == places


def test_steps_of_a_measurement_are_no_kinds():
    counts = [3, 3, 3, 3, 3, 4]
    assert other_kind(counts).any() and not other_kind(counts, step=1).any()
    assert other_kind([*counts, 60], step=1).sum() == 1


def test_copies_that_differ_by_rounding_are_one_kind():
    assert not other_kind(np.array([0.1, 0.1, 0.1 * (1 + 2e-16), 0.1, 0.3 - 0.2, 0.1])).any()


@pytest.mark.slow
@pytest.mark.parametrize("n", WIDEST_GAPS)
def test_false_alarms_among_normal_values_are_those_that_are_stated(n):
    samples = 4000 if n <= 30 else 400
    values = 1000 + np.random.default_rng(n).standard_normal((samples, n))
    alarms = sum(other_kind(sample).any() for sample in values)
    # Four standard errors.
    assert abs(alarms - ALARMS[0] * samples) <= 4 * np.sqrt(ALARMS[0] * samples)


def test_of_many_cells_chance_makes_as_few_alarms_together():
    rng, cells, studies = np.random.default_rng(1), 20, 400
    values = 1000 + rng.standard_normal((studies, cells, 8))
    alarms = sum(any(other_kind(cell, cells=cells).any() for cell in study) for study in values)
    assert alarms <= 12  # 4 are expected


def test_share_that_is_not_ruled_out():
    # The rule of three (Hanley and Lippman-Hand, 1983, JAMA 249): none of n, at most about 3 / n.
    assert largest_share(0, 100, 0.05) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert largest_share(0, 100, 0.05) == pytest.approx(0.03, abs=0.001)
    assert largest_share(0, 12, 0.05) == pytest.approx(0.22, abs=0.001)
    # R: binom.test(2, 10, alternative = "less"): 0.0000000 0.5069013.
    assert largest_share(2, 10, 0.05) == pytest.approx(0.5069013, abs=5e-8)
    assert largest_share(4, 4, 0.05) == 1
