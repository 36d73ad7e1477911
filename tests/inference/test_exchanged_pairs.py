"""Sign tests of rows of pairs, corrected by exchanging both sides of replications."""

import itertools

import numpy as np
import pytest
from scipy import stats

from inference import exchanged_pairs
from inference.counts_of_draws import at_least
from inference.exchanged_pairs import corrected_p, exchanges, median_interval


def test_exchanges_are_all_there_are_but_for_the_direction():
    assert exchanges(3).tolist() == [[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]]
    assert len({tuple(row) for row in exchanges(10).tolist()}) == 2**9
    drawn = exchanges(40)
    assert drawn.shape == (exchanged_pairs.MOST_EXCHANGES, 40) and (drawn[0] == 1).all()
    assert abs(drawn[1:].mean()) < 0.01


def test_of_one_row_p_is_that_of_the_sign_test():
    for signs in itertools.product((-1, 0, 1), repeat=5):
        (p,) = corrected_p([signs])
        counts = signs.count(1), signs.count(-1)
        assert p == pytest.approx(stats.binomtest(counts[0], sum(counts)).pvalue if sum(counts) else 1.0)


def test_other_rows_raise_p_by_the_exchanges_that_make_them_as_far_off():
    worse, other = [1] * 6, [1, -1, 1, 1, 1, 1]
    assert corrected_p([worse, worse]).tolist() == [1 / 32, 1 / 32]
    assert corrected_p([worse, [0] * 6]).tolist() == [1 / 32, 1]
    assert corrected_p([worse, other])[0] == 2 / 32
    # Step-down: what is left when the first is shown is corrected for itself only, and is never below it.
    first, second = corrected_p([worse, [1, 1, 1, 1, 1, 0]])
    assert first == 1 / 32 and second == 2 / 32


def test_the_error_of_the_family_is_exact_for_rows_that_depend_on_each_other():
    """In at most 5 % of 2,000 families, of 30 rows each whose values share heavy tails, is any p below 0.05."""
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(2000):
        values = rng.standard_cauchy((30, 8)) + 3 * rng.standard_cauchy(8)
        alarms += corrected_p(np.sign(values) * (np.abs(values) > 1)).min() <= 0.05
    assert stats.binom.sf(alarms - 1, 2000, 0.05) > 0.01
    assert alarms > 20  # and isn't far below


def test_the_interval_of_a_median_is_between_values():
    """David and Nagaraja (2003), section 7.1: the second and the ninth of ten values contain it with a probability of 97.9 %."""
    assert median_interval(range(10), 0.95) == (1, 8)
    assert at_least(9, ((1, 10),), 0.5) == pytest.approx((1 - 0.9785) / 2, abs=1e-4)
    assert median_interval(range(6), 0.95) == (0, 5)
    assert median_interval(range(5), 0.95) is None
