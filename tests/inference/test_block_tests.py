"""Tests of several groups against R's examples, tables, and other libraries."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats

from inference import block_tests

pytestmark = pytest.mark.filterwarnings("error")

# Hollander and Wolfe (1973), 140ff, as in R's ?friedman.test: times to round first base, three ways.
ROUNDING_TIMES = np.array(
    [
        5.40, 5.50, 5.55, 5.85, 5.70, 5.75, 5.20, 5.60, 5.50, 5.55, 5.50, 5.40, 5.90, 5.85, 5.70,
        5.45, 5.55, 5.60, 5.40, 5.40, 5.35, 5.45, 5.50, 5.35, 5.25, 5.15, 5.00, 5.85, 5.80, 5.70,
        5.25, 5.20, 5.10, 5.65, 5.55, 5.45, 5.60, 5.35, 5.45, 5.05, 5.00, 4.95, 5.50, 5.50, 5.40,
        5.45, 5.55, 5.50, 5.55, 5.55, 5.35, 5.45, 5.50, 5.55, 5.50, 5.45, 5.25, 5.65, 5.60, 5.40,
        5.70, 5.65, 5.55, 6.30, 6.30, 6.25,
    ]
).reshape(22, 3)  # fmt: skip


def test_friedman_of_r():
    # R: friedman.test(RoundingTimes): chi-squared = 11.143, df = 2, p-value = 0.003805, by chi-square.
    statistic, p, w = block_tests.friedman_test(ROUNDING_TIMES)
    assert statistic == pytest.approx(11.143, abs=5e-4)
    assert stats.chi2.sf(statistic, 2) == pytest.approx(0.003805, abs=5e-7)
    assert w == pytest.approx(pingouin.friedman(pd.DataFrame(ROUNDING_TIMES))["W"].iloc[0])
    # All 6^22 orders, counted by their rank sums: 0.0031498, of which the drawn ones may be off by three standard errors, 0.00046.
    ranks = stats.rankdata(ROUNDING_TIMES, axis=1)
    ways = Counter({(0.0, 0.0, 0.0): 1})
    for block in ranks:
        orders = list(itertools.permutations(block))
        longer = Counter()
        for sums, number in ways.items():
            for order in orders:
                longer[tuple(np.add(sums, order).tolist())] += number
        ways = longer
    apart = ((ranks.sum(axis=0) - 44) ** 2).sum()
    beyond = sum(number for sums, number in ways.items() if sum((total - 44) ** 2 for total in sums) >= apart)
    exact = beyond / 6**22
    assert p == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / block_tests.DRAWN_ARRANGEMENTS))


def test_friedman_of_many_blocks_is_the_f_form():
    blocks = np.concatenate([ROUNDING_TIMES, ROUNDING_TIMES[:20]])
    assert len(blocks) > block_tests.DRAWN_MAX_BLOCKS
    statistic, p, w = block_tests.friedman_test(blocks)
    expected = pingouin.friedman(pd.DataFrame(blocks), method="f")
    assert (w, p) == (pytest.approx(expected["W"].iloc[0]), pytest.approx(expected["p_unc"].iloc[0]))
    assert p < stats.chi2.sf(statistic, 2)


@pytest.mark.parametrize(
    "last, statistic, p",
    # Friedman's exact table for three groups and four blocks (Siegel and Castellan, 1988, table M).
    [([1, 2, 3], 8.0, 0.0046), ([1, 3, 2], 6.5, 0.042), ([3, 1, 2], 3.5, 0.273)],
)
def test_friedman_of_few_blocks_is_exact(last, statistic, p):
    blocks = np.array([[1, 2, 3], [1, 2, 3], [1, 2, 3], last], dtype=float)
    result = block_tests.friedman_test(blocks)
    assert result[0] == pytest.approx(statistic)
    assert result[1] == pytest.approx(p, abs=5e-4)


def test_friedman_with_ties_is_that_of_all_orders():
    blocks = np.array([[1, 1, 2.0], [3, 3, 5.0], [1, 2, 2.0], [1, 2, 3.0]])
    statistic, p, _ = block_tests.friedman_test(blocks)
    orders = [list(itertools.permutations(block)) for block in blocks]
    arrangements = itertools.product(orders[0][:1], *orders[1:])
    possible = [block_tests.friedman_test(np.array(chosen))[0] for chosen in arrangements]
    assert p == pytest.approx(np.mean(np.array(possible) >= statistic - 1e-9))


def test_blocks_that_all_agree_have_an_exact_p():
    blocks = np.tile(np.arange(6.0), (4, 1)) + np.arange(4.0)[:, None]
    statistic, p, w = block_tests.friedman_test(blocks)
    assert (statistic, w) == (pytest.approx(20), 1.0)
    assert p == pytest.approx(720.0**-3)


def test_friedman_has_nothing_to_say_of_ties_throughout():
    assert block_tests.friedman_test(np.ones((5, 3))) is None
    noise = 0.1 + np.array([[0, 1, 2], [2, 1, 0], [1, 1, 0]]) * 1e-17
    assert block_tests.friedman_test(noise) is None


def test_smallest_friedman_p():
    assert block_tests.smallest_friedman_p(2, 3) == pytest.approx(1 / 6)
    assert block_tests.smallest_friedman_p(3, 3) == pytest.approx(1 / 36)
    assert block_tests.smallest_friedman_p(0, 6) == 1


def test_kruskal_wallis_of_r():
    # R's ?kruskal.test, Hollander and Wolfe (1973), 116: chi-squared = 0.77143, df = 2, p-value = 0.68.
    groups = [[2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0]]
    h, p = block_tests.kruskal_wallis_test([np.array(group) for group in groups])
    assert h == pytest.approx(0.77143, abs=5e-6)
    assert p == pytest.approx(0.68, abs=5e-4)
    assert block_tests.kruskal_wallis_test([np.ones(3)] * 3) is None


def test_smallest_kruskal_wallis_p_of_groups_of_one_size():
    # Three groups of two: 6!/(2! 2! 2!) = 90 ways to deal, 3! of them apart; table: 0.067 at H = 4.571.
    assert block_tests.smallest_kruskal_wallis_p([2, 2, 2]) == pytest.approx(6 / 90)
