"""The stratified rank test against published values, against all arrangements, and without a difference."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from inference.stratified_tests import aligned_ranks

pytestmark = pytest.mark.filterwarnings("error")


def test_aligned_ranks_of_darwins_maize():
    # Darwin's maize (1876), height of crossed less self-fertilised plants, in eighths of an inch: V = 96 in R's
    # wilcox.test of HistData::ZeaMays. No ties: mean n (n + 1) / 4 = 60, variance n (n + 1) (2n + 1) / 24 = 310.
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    result = aligned_ranks(differences, np.zeros(15))
    assert result.z == pytest.approx((96 - 60) / np.sqrt(310))
    assert result.p == pytest.approx(0.0409, abs=5e-5)


def test_aligned_ranks_with_one_stratum_are_the_signed_rank_test():
    rng = np.random.default_rng(3)
    contrasts = rng.normal(0.3, 1, 40).round(1)
    result = aligned_ranks(contrasts, np.zeros(40))
    reference = stats.wilcoxon(contrasts, method="asymptotic", correction=False, zero_method="wilcox")
    assert result.p == pytest.approx(reference.pvalue, rel=1e-12)
    assert result.n_first == np.count_nonzero(contrasts)
    assert result.equal_pairs == 40 - result.n_first


def test_aligned_rank_variance_over_all_signs():
    sizes = {"a": np.array([1.0, 1.0, 2.0]), "b": np.array([3.0, 5.0, 5.0, 7.0])}
    ranks = np.concatenate([stats.rankdata(values) / (len(values) + 1) for values in sizes.values()])
    totals = np.array([(ranks * signs).sum() for signs in product((1, -1), repeat=7)])
    signs = np.array([1, -1, 1, 1, 1, -1, 1])
    result = aligned_ranks(np.concatenate(list(sizes.values())) * signs, ["a"] * 3 + ["b"] * 4)
    assert result.z == pytest.approx((ranks * signs).sum() / totals.std())


@pytest.mark.parametrize("contrasts", [[], [0.0, 0.0]])
def test_aligned_ranks_of_no_difference(contrasts):
    result = aligned_ranks(contrasts, ["a"] * len(contrasts))
    assert (result.z, result.p, result.strata) == (None, None, 0)
    assert result.equal_strata == bool(contrasts)


def false_alarms(draw, seed, data_sets=1000):
    """Return the share of data sets, as `draw` makes them, in which p is below 0.05."""
    rng = np.random.default_rng(seed)
    return np.mean([draw(rng).p < 0.05 for _ in range(data_sets)])


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_false_alarms_of_aligned_ranks(correlation):
    strata = np.repeat(range(6), [4, 5, 3, 10, 4, 6])
    level, spread = 10.0 ** np.arange(6)[strata], 1 + np.arange(6)[strata]

    def draw(rng):
        shared, first, second = rng.gumbel(size=(3, len(strata)))
        own, common = np.sqrt(1 - correlation), np.sqrt(correlation)
        pair = (level + spread * (common * shared + own * noise) for noise in (first, second))
        return aligned_ranks(-np.subtract(*pair), strata)

    assert 0.03 < false_alarms(draw, 12) < 0.07
