"""Tests of a mean against R, SciPy and textbooks; the choice of the test, and cases without one."""

import math

import numpy as np
import pytest
from scipy import stats

from inference import paired_contrasts, paired_effects, paired_tests

pytestmark = pytest.mark.filterwarnings("error")

# Student (1908), R's data set sleep: hours of extra sleep with two drugs, group 1 minus group 2.
SLEEP = -np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])


def test_paired_t_of_students_sleep_data():
    # R: t.test(extra ~ group, paired): t = -4.0621, df = 9, p-value = 0.002833.
    test = paired_tests.StudentMean(SLEEP)
    assert test.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert test.p() == pytest.approx(0.002833, abs=5e-7)


def test_t_interval_and_one_sided_p_of_students_sleep_data():
    # R: t.test(extra ~ group, paired): 95 percent confidence interval -2.4598858 -0.7001142.
    test = paired_tests.StudentMean(SLEEP)
    assert (test.name, test.p()) == ("paired t", pytest.approx(0.002833, abs=5e-7))
    assert test.interval(0.95) == pytest.approx((-2.4598858, -0.7001142), abs=5e-7)
    assert test.p(-1, "less") == pytest.approx(stats.ttest_1samp(SLEEP, -1, alternative="less").pvalue)


@pytest.mark.parametrize("n", [8, 12])
@pytest.mark.parametrize("null", [0.0, 0.3])
def test_sign_flips_are_scipys_exact_permutation_test(n, null):
    contrasts = np.random.default_rng(n).normal(0.4, 1, n)
    flipped = paired_tests.FlippedMean(contrasts)
    for alternative in ("two-sided", "less", "greater"):
        reference = stats.permutation_test(
            (contrasts - null,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=alternative
        )
        assert flipped.p(null, alternative) == pytest.approx(min(1.0, reference.pvalue), abs=1e-12)


def test_sign_flips_of_fishers_plants():
    # Darwin's 15 pairs of maize, in eighths of an inch (Fisher, 1935, The Design of Experiments, section 21):
    # of 2^15 = 32,768 arrangements 863 have a sum of 314 or more, and so 1,726 of both signs: 5.267 %.
    darwin = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
    assert darwin.sum() == 314
    assert paired_tests.FlippedMean(darwin).p() == pytest.approx(1726 / 32768)


def test_drawn_flips_meet_all_flips():
    contrasts = np.random.default_rng(1).normal(0.15, 1, 17)
    means = np.array([0.0])
    for value in contrasts:  # sums of all 2^17 subsets
        means = np.concatenate([means, means + value])
    exact = 2 * np.mean(means <= 1e-12)
    assert 0.01 < exact < 0.9
    assert paired_tests.FlippedMean(contrasts).p() == pytest.approx(exact, abs=0.008)


@pytest.mark.parametrize("n", [9, 30])
@pytest.mark.parametrize("tied", [False, True])
def test_interval_of_flips_holds_what_its_tests_keep(n, tied):
    contrasts = np.random.default_rng(n).normal(0.5, 1, n)
    test = paired_tests.FlippedMean(np.round(contrasts, 1) if tied else contrasts)
    low, high = test.interval(0.95)
    assert test.p(low - 1e-6, "greater") <= 0.025 < test.p(low + 1e-6, "greater")
    assert test.p(high + 1e-6, "less") <= 0.025 < test.p(high - 1e-6, "less")


def test_flips_and_t_agree_on_many_normal_pairs():
    contrasts = np.random.default_rng(2).normal(0.1, 1, 150)
    flips, t = paired_tests.FlippedMean(contrasts), paired_tests.StudentMean(contrasts)
    assert flips.p() == pytest.approx(t.p(), rel=0.1)
    assert flips.interval(0.95) == pytest.approx(t.interval(0.95), abs=0.02)


@pytest.mark.parametrize(
    ("pairs", "kind"), [(6, "sign flips of the mean"), (200, "sign flips of the mean"), (201, "paired t")]
)
def test_the_test_follows_from_the_number_of_pairs(pairs, kind):
    rng = np.random.default_rng(pairs)
    for contrasts in (rng.normal(size=pairs), rng.standard_cauchy(pairs), np.append(np.zeros(pairs - 1), 9.0)):
        assert paired_tests.mean_test(contrasts).name == kind


@pytest.mark.parametrize(("tests", "pairs"), [(1, 6), (2, 7), (6, 8), (72, 12), (288, 14), (1440, 16), (5000, 25)])
def test_a_test_takes_so_many_pairs_that_their_smallest_p_is_below_the_level(tests, pairs):
    assert paired_tests.pairs_for(tests, 0.05) == pairs
    if pairs > paired_tests.LEAST_PAIRS:
        assert paired_tests.smallest_p(pairs - 1) * tests > 0.05
    contrasts = np.ones(pairs) + 1e-6 * np.arange(pairs)
    assert paired_tests.FlippedMean(contrasts).p() * tests <= 0.05


def test_beyond_drawn_flips_p_has_hoeffdings_bound():
    # Of 40 equal contrasts: exp(-40^2 / (2 x 40)), on both sides; drawn flips alone say 2 / 2^16.
    contrasts = 1 + 1e-9 * np.arange(40.0)
    assert paired_tests.FlippedMean(contrasts).p() == pytest.approx(2 * math.exp(-20), rel=1e-6)
    assert paired_tests.FlippedMean(-contrasts).p(alternative="less") == pytest.approx(math.exp(-20), rel=1e-6)
    assert paired_tests.FlippedMean(contrasts).p(2.0, "greater") == 1


@pytest.mark.parametrize("contrasts", [[], [1.0], [2.0, 2.0, 2.0, 2.0], [0.0] * 12, [1.0, 2, 3, 4, 5]])
def test_no_test_without_a_spread_or_of_too_few_pairs(contrasts):
    assert paired_tests.mean_test(np.array(contrasts)) is None


def test_quantised_values_are_not_closer_than_they_were_measured():
    contrasts = np.array([2.0, 2.0, 2.0, 1.0])
    plain, stepped = paired_tests.StudentMean(contrasts), paired_tests.StudentMean(contrasts, 2.0)
    assert plain.p() == pytest.approx(stats.ttest_1samp(contrasts, 0).pvalue)
    # Two roundings to whole numbers have a variance of 1/12 each.
    assert stepped.error == pytest.approx(math.sqrt((0.25 + 1 / 6) / 4))


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
    assert paired_effects.doubled_ranks(contrasts).tolist() == [3, 3, 6]


def test_ratio_of_zero_is_refused_and_another_scale_offered():
    a, b = np.array([0.0, 5.0]), np.array([4.0, 6.0])
    assert paired_contrasts.usable_scale(a, b, "ratio") == "relative"
    with pytest.raises(ValueError, match="needs values above 0, the smallest is 0"):
        paired_contrasts.contrasts(a, b, "ratio")
