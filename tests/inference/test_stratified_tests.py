"""Stratified rank tests against published values, against all arrangements, and without a difference."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from inference.stratified_tests import aligned_ranks, van_elteren

pytestmark = pytest.mark.filterwarnings("error")

# Change in episodes of urinary incontinence: Dmitrienko, Molenberghs, Chuang-Stein and Offen (2005), Analysis
# of Clinical Trials Using SAS, chapter 1; the data are also in SAS Usage Note 25022.
PLACEBO = {
    1: "-86 -38 43 -100 289 0 -78 38 -80 -25 -100 -100 -50 25 -100 -100 -67 0 400 -100 -63 -70 -83 -67 -33 0 -13 "
    "-100 0 -3 -62 -29 -50 -100 0 -100 -60 -40 -44 -14",
    2: "-36 -77 -6 -85 29 -17 -53 18 -62 -93 64 -29 100 31 -6 -100 -30 11 -52 -55 -100 -82 -85 -36 -75 -8 -75 -42 "
    "122 -30 22 -82",
    3: "12 -68 -100 95 -43 -17 -87 -66 -8 64 61 -41 -73 -42 -32 12 -69 81 0 87",
}
DRUG = {
    1: "50 -100 -80 -57 -44 340 -100 -100 -25 -74 0 43 -100 -100 -100 -100 -63 -100 -100 -100 -100 -100 0 -100 -50 "
    "0 0 -83 369 -50 -33 -50 -33 -67 25 390 -50 0 -100",
    2: "-93 -55 -73 -25 31 8 -92 -91 -89 -67 -25 -61 -47 -75 -94 -100 -69 -92 -100 -35 -100 -82 -31 -29 -100 -14 "
    "-55 31 -40 -100 -82 131 -60",
    3: "-17 -13 -55 -85 -68 -87 -42 36 -44 -98 -75 -35 7 -57 -92 -78 -69 -21 -14",
}


def trial():
    """Return values, whether drug, and stratum of the incontinence trial."""
    rows = [
        (float(value), group is DRUG, stratum)
        for group in (PLACEBO, DRUG)
        for stratum, text in group.items()
        for value in text.split()
    ]
    return map(np.array, zip(*rows, strict=True))


def test_van_elteren_of_the_incontinence_trial():
    # SAS, PROC FREQ with CMH2 SCORES=MODRIDIT, "Row Mean Scores Differ": 6.2766 with 1 degree of freedom,
    # p 0.0122 (Dmitrienko et al., 2005, section 1.3). 183 patients, many ties.
    values, drug, strata = trial()
    result = van_elteren(values, drug, strata)
    assert result.z**2 == pytest.approx(6.2766, abs=5e-5)
    assert result.p == pytest.approx(0.0122, abs=5e-5)
    assert result.z < 0  # fewer episodes with the drug
    assert (result.strata, result.n_first, result.n_second) == (3, 92, 91)


@pytest.mark.parametrize("ties", [False, True])
def test_van_elteren_with_one_stratum_is_the_rank_sum_test(ties):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=17), rng.normal(0.5, size=23)
    if ties:
        first, second = first.round(), second.round()
    result = van_elteren(np.r_[first, second], np.arange(40) >= 17, np.zeros(40))
    reference = stats.mannwhitneyu(second, first, method="asymptotic", use_continuity=False)
    assert result.p == pytest.approx(reference.pvalue, rel=1e-12)
    assert (result.z > 0) == (reference.statistic > 17 * 23 / 2)


@pytest.mark.parametrize(
    "strata",
    [
        [[4.0, 1, 1, 3], [2.0, 2, 5, 9, 7]],
        [[1.0, 2, 3, 4, 5], [1.0, 1, 2, 2, 2]],
        [[7.0, 7, 7, 8], [3.0, 1, 3, 2, 2, 9]],
        [[3.0, 1, 3, 2, 2, 9]],
    ],
)
def test_van_elteren_variance_over_all_arrangements(strata):
    totals = [
        sum(
            (stats.rankdata(values)[list(chosen)].sum() - 2 * (len(values) + 1) / 2) / (len(values) + 1)
            for values, chosen in zip(strata, of_each, strict=True)
        )
        for of_each in product(*(combinations(range(len(values)), 2) for values in strata))
    ]
    second = np.concatenate([np.arange(len(values)) < 2 for values in strata])
    result = van_elteren(np.concatenate(strata), second, np.repeat(range(len(strata)), list(map(len, strata))))
    assert np.mean(totals) == pytest.approx(0)
    assert result.z == pytest.approx(totals[0] / np.std(totals))


def test_van_elteren_without_ties_by_its_textbook_variance():
    # Without ties the variance is sum of m n / (12 (m + n + 1)), as in R's npsm::vanElteren.test (Kloke and
    # McKean, 2015, Nonparametric Statistical Methods Using R).
    rng = np.random.default_rng(2)
    sizes = [(3, 4), (5, 2), (6, 6)]
    strata = np.repeat([0, 1, 2], [m + n for m, n in sizes])
    second = np.concatenate([np.arange(m + n) < n for m, n in sizes])
    values = rng.normal(size=len(strata))
    total = sum(
        (stats.rankdata(values[strata == k])[second[strata == k]].sum()) / (m + n + 1) for k, (m, n) in enumerate(sizes)
    )
    expected = sum(n for _, n in sizes) / 2
    variance = sum(m * n / (m + n + 1) for m, n in sizes) / 12
    assert van_elteren(values, second, strata).z == pytest.approx((total - expected) / np.sqrt(variance))


def test_strata_that_tell_nothing_are_counted():
    values = [1.0, 2.0, 5.0, 5.0, 3.0, 4.0]
    second = [False, True, False, True, True, True]
    result = van_elteren(values, second, ["a", "a", "equal", "equal", "lonely", "lonely"])
    assert (result.strata, result.equal_strata, result.unpaired_strata) == (1, 1, 1)
    assert (result.n_first, result.n_second) == (1, 1)
    assert result.z == pytest.approx(1.0)  # 1 of 2 arrangements: centred 1/2, variance 1/4
    alone = van_elteren(values[:2], second[:2], ["a", "a"])
    assert alone.z == result.z


@pytest.mark.parametrize("values, second", [([], []), ([1.0, 2.0], [True, True]), ([3.0, 3.0], [False, True])])
def test_van_elteren_of_nothing_to_compare(values, second):
    result = van_elteren(np.array(values, float), np.array(second, bool), np.zeros(len(values)))
    assert (result.z, result.p, result.strata) == (None, None, 0)


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


def test_false_alarms_of_van_elteren():
    sizes = [(4, 4), (5, 5), (3, 6), (10, 10), (4, 5), (6, 6)]
    strata = np.repeat(range(6), [m + n for m, n in sizes])
    second = np.concatenate([np.arange(m + n) < n for m, n in sizes])
    level, spread = 10.0 ** np.arange(6)[strata], 1 + np.arange(6)[strata]

    def draw(rng):
        return van_elteren(level + spread * rng.gumbel(size=len(strata)), second, strata)

    assert 0.03 < false_alarms(draw, 11) < 0.07


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


def test_correlated_pairs_make_van_elteren_blunt_and_aligned_ranks_sharp():
    # Common seeds: a difference of a third of the spread, 32 pairs in 6 strata.
    strata = np.repeat(range(6), [4, 5, 3, 10, 4, 6])
    rng = np.random.default_rng(13)
    found = []
    for _ in range(200):
        shared = rng.normal(size=len(strata))
        first, second = shared + 0.3 * rng.normal(size=(2, len(strata))) + [[0.0], [0.33]]
        independent = van_elteren(np.r_[first, second], np.repeat([False, True], len(strata)), np.r_[strata, strata])
        found.append((independent.p < 0.05, aligned_ranks(second - first, strata).p < 0.05))
    blunt, sharp = np.mean(found, axis=0)
    assert sharp > 0.9 > 0.4 > blunt
