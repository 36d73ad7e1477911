"""Paired tests against R and textbooks, the choice between them, and where there is none."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from inference import paired_contrasts, paired_tests

pytestmark = pytest.mark.filterwarnings("error")

# Hollander and Wolfe (1973), 29f, as in R's ?wilcox.test: Hamilton depression scale, two visits.
FIRST = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
SECOND = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
# Student (1908), R's data set sleep: hours of extra sleep with two drugs, group 1 minus group 2.
SLEEP = -np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])


def test_paired_t_of_students_sleep_data():
    # R: t.test(extra ~ group, paired): t = -4.0621, df = 9, p-value = 0.002833.
    t, p = paired_tests.t_test(SLEEP)
    assert t == pytest.approx(-4.0621, abs=5e-5)
    assert p == pytest.approx(0.002833, abs=5e-7)


@pytest.mark.parametrize(
    "contrasts, alternative, v, p",
    [
        # R: wilcox.test(x, y, paired = TRUE, alternative = "greater"): V = 40, p-value = 0.01953.
        (FIRST - SECOND, "greater", 40, 0.01953),
        # R: wilcox.test(y - x, alternative = "less"): V = 5, p-value = 0.01953.
        (SECOND - FIRST, "less", 5, 0.01953),
        # R: wilcox.test(x, mu = 1.6): V = 29, p-value = 0.4961.
        (FIRST - 1.6, "two-sided", 29, 0.4961),
        # R: wilcox.test(x, mu = 3, alternative = "greater"): V = 1, p-value = 0.998.
        (FIRST - 3, "greater", 1, 0.998),
    ],
)
def test_signed_rank_test_of_r(contrasts, alternative, v, p):
    statistic, mine = paired_tests.signed_rank_test(contrasts, alternative)
    assert statistic == v
    assert mine == pytest.approx(p, rel=5e-4)


def test_normal_approximation_of_the_signed_rank_test_of_r(monkeypatch):
    # R: wilcox.test(y - x, alternative = "less", exact = FALSE, correct = FALSE): p-value = 0.01908.
    monkeypatch.setattr(paired_tests, "EXACT_MAX_PAIRS", 0)
    assert paired_tests.signed_rank_test(SECOND - FIRST, "less")[1] == pytest.approx(0.01908, abs=5e-6)


def test_normal_approximation_meets_the_exact_test():
    contrasts = np.random.default_rng(1).normal(0.15, 1, paired_tests.EXACT_MAX_PAIRS)
    exact = paired_tests.signed_rank_test(contrasts)[1]
    longer = np.append(contrasts, [1e-6])  # one more pair, of the smallest rank
    assert paired_tests.signed_rank_test(longer)[1] == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    "contrasts",
    [
        [1.0, -1.0, 2.0, 2.0, 3.0, -4.0, 5.0],
        [0.0, 1.0, -1.0, 2.0, 2.0, 3.0, 0.0, -4.0, 5.0],
        [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0, -0.5],
        [0.0, 0.0, 1.2, -0.4, 2.2, 3.1, 1.9, -0.2, 0.7],
        [3.0, 3.0, 3.0, 3.0, 3.0, 3.0],
    ],
)
def test_signed_rank_p_with_ties_and_zeros_is_that_of_all_signs(contrasts):
    # By its definition: all 2^n signs of the non-zero contrasts, with Pratt's ranks.
    contrasts = np.array(contrasts)
    v, p = paired_tests.signed_rank_test(contrasts)
    ranks = stats.rankdata(np.abs(contrasts))[contrasts != 0]
    signs = np.array(list(itertools.product([0, 1], repeat=len(ranks))))
    possible = signs @ ranks
    assert p == pytest.approx(min(1, 2 * min(np.mean(possible <= v), np.mean(possible >= v))))


def test_critical_value_of_the_tables():
    # Wilcoxon's table, n = 10, two-sided 0.05: reject at 8 and below (P = 0.0488), so 9 is the
    # first v with P(V <= v) > 0.025; n = 6: reject at 0 (P = 0.0313); n = 5: never.
    assert paired_tests.critical_count(10, 0.025) == 9
    assert paired_tests.critical_count(6, 0.025) == 1
    assert paired_tests.critical_count(5, 0.025) is None


def test_critical_value_of_large_samples_meets_the_exact_one(monkeypatch):
    exact = paired_tests.critical_count(200, 0.025)
    monkeypatch.setattr(paired_tests, "EXACT_MAX_PAIRS", 199)
    assert abs(paired_tests.critical_count(200, 0.025) - exact) <= 2


def test_normality_above_5000_pairs_is_called_approximate():
    test = paired_tests.paired_test(np.random.default_rng(1).normal(size=5001), 0.05)
    assert test.notes == ("above n = 5000 the p of Shapiro-Wilk is approximate",)


def test_normal_contrasts_get_the_t_test():
    test = paired_tests.paired_test(FIRST - SECOND, 0.05)
    assert (test.kind, test.name, test.notes) == ("t", "paired t", ())
    # R: shapiro.test(x - y) and t.test(x, y, paired = TRUE) agree with scipy's.
    assert test.normality_p == pytest.approx(stats.shapiro(FIRST - SECOND).pvalue, abs=1e-6)
    assert test.p == pytest.approx(stats.ttest_rel(FIRST, SECOND).pvalue)


def test_contrasts_with_an_outlier_get_the_signed_rank_test():
    contrasts = np.array([1.0, 1.1, 1.2, 0.9, 1.3, 0.8, 90.0])
    test = paired_tests.paired_test(contrasts, 0.05)
    assert (test.kind, test.name) == ("rank", "Wilcoxon signed-rank")
    assert test.normality_p < 0.05
    assert (test.statistic, test.p) == (28, 2 / 2**7)


@pytest.mark.parametrize(
    "contrasts, kind, note",
    [
        ([], "", None),
        ([1.0], "", "one pair: no spread"),
        ([1.0, 2.0], "", "2 pairs: a test needs 3"),
        ([2.0, 2.0, 2.0, 2.0], "", None),
        ([0.0] * 12, "", None),
        ([1.0, 1.01, 1.02, 1.03, 90.0], "rank", "with 5 pairs the signed-rank test can't go below p = 0.0625"),
        ([0.0] * 9 + [5.0], "rank", "with 1 differing pair of 10 the signed-rank test can't go below p = 1"),
    ],
)
def test_no_test_where_none_could_reject(contrasts, kind, note):
    test = paired_tests.paired_test(np.array(contrasts, dtype=float), 0.05)
    assert (test.kind, test.name, test.statistic, test.p) == (kind, "", None, None)
    assert (note is None and test.notes == ()) or note in test.notes[0]


def test_six_pairs_can_reject_and_five_can_not():
    six = np.array([1.0, 1.01, 1.02, 1.03, 1.04, 90.0])
    assert paired_tests.paired_test(six, 0.05).p == 2 / 2**6
    assert paired_tests.paired_test(six[1:], 0.05).name == ""


def test_contrasts_by_hand():
    a, b = np.array([110.0, 90.0]), np.array([100.0, 100.0])
    assert paired_contrasts.contrasts(a, b, "ratio") == pytest.approx([math.log(1.1), math.log(0.9)])
    assert paired_contrasts.contrasts(a, b, "relative") == pytest.approx([10, -10])
    assert paired_contrasts.contrasts(a, b, "points") == pytest.approx([10, -10])


def test_effects_and_contrasts_are_inverse():
    for scale, effect in (("ratio", 25.0), ("ratio", -20.0), ("points", 0.3), ("relative", -70.0)):
        contrast = paired_contrasts.from_effect(effect, scale)
        assert paired_contrasts.to_effect(contrast, scale) == pytest.approx(effect)
    assert paired_contrasts.to_effect(math.log(1.25), "ratio") == pytest.approx(25)
    assert paired_contrasts.from_effect(-100, "ratio") == -math.inf


@pytest.mark.parametrize("scale", ["ratio", "relative", "points"])
def test_rounding_noise_is_no_variance(scale):
    # The same ratio or difference throughout, from numbers that no double holds exactly.
    if scale == "ratio":
        b = np.array([0.1, 0.7, 123.4, 9.87e5])
        a = b * 1.1
    else:
        b = np.array([0.1, 0.2, 0.3, 0.7])
        a = b + 0.1
    contrasts = paired_contrasts.contrasts(a, b, scale)
    assert paired_tests.is_constant(contrasts)
    assert paired_contrasts.contrasts(a, a * (1 + 2e-16), scale).tolist() == [0, 0, 0, 0]


def test_a_microsecond_is_no_noise():
    # One microsecond in a run of a minute: a real difference of 2e-8.
    seconds = 60 + np.array([0, 1e-6, 2e-6, 5e-6])
    contrasts = paired_contrasts.contrasts(1e9 / seconds, np.full(4, 1e9 / 60), "ratio")
    assert len(set(contrasts)) == 4


def test_ties_but_for_rounding_share_a_rank():
    # 0.3 - 0.1 and 0.5 - 0.3 differ in the last bit.
    contrasts = paired_contrasts.contrasts(np.array([0.3, 0.5, 0.9]), np.array([0.1, 0.3, 0.1]), "points")
    assert paired_tests.doubled_ranks(contrasts).tolist() == [3, 3, 6]


def test_ratio_of_zero_is_refused_and_another_scale_offered():
    a, b = np.array([0.0, 5.0]), np.array([4.0, 6.0])
    assert paired_contrasts.usable_scale(a, b, "ratio") == "relative"
    with pytest.raises(ValueError, match="needs values above 0, the smallest is 0"):
        paired_contrasts.contrasts(a, b, "ratio")
