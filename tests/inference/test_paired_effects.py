"""Effect sizes based on ranks, against published values."""

import numpy as np
import pytest
from scipy import stats

from inference import paired_effects

pytestmark = pytest.mark.filterwarnings("error")

# Hollander and Wolfe (1973), 29f: second minus first visit.
DEPRESSION = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]) - np.array(
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
)


def test_hodges_lehmann_of_hollander_and_wolfe():
    # Their examples 3.3 and 3.4: estimate -0.46, interval (-0.786, -0.010) at 96.1 %; R:
    # wilcox.test(y - x, conf.int = TRUE) gives the same at 95 %.
    assert paired_effects.hodges_lehmann(DEPRESSION) == pytest.approx(-0.46)
    low, high = paired_effects.hodges_lehmann_interval(DEPRESSION, 0.95)
    assert (low, high) == (pytest.approx(-0.786), pytest.approx(-0.010))


def test_hodges_lehmann_interval_holds_what_the_signed_rank_test_keeps():
    contrasts = np.random.default_rng(3).normal(0.4, 1, 14)
    low, high = paired_effects.hodges_lehmann_interval(contrasts, 0.95)
    for shift, kept in ((low + 1e-9, True), (low - 1e-9, False), (high - 1e-9, True), (high + 1e-9, False)):
        assert (stats.wilcoxon(contrasts - shift, method="exact").pvalue > 0.05) == kept


def test_hodges_lehmann_interval_needs_six_pairs():
    assert paired_effects.hodges_lehmann_interval(np.arange(5.0), 0.95) is None
    assert paired_effects.hodges_lehmann_interval(np.arange(6.0), 0.95) == (0.0, 5.0)


def test_critical_value_of_large_samples_meets_the_exact_one(monkeypatch):
    contrasts = np.random.default_rng(3).normal(0.4, 1, 200)
    exact = paired_effects.hodges_lehmann_interval(contrasts, 0.95)
    monkeypatch.setattr(paired_effects, "EXACT_MAX_PAIRS", 199)
    paired_effects._critical_count.cache_clear()
    assert paired_effects.hodges_lehmann_interval(contrasts, 0.95) == pytest.approx(exact, abs=1e-3)
    paired_effects._critical_count.cache_clear()


def test_rank_biserial_by_the_simple_difference_formula():
    # Kerby (2014): favourable minus unfavourable share of the rank sum. Wikipedia, "Wilcoxon
    # signed-rank test": nine pairs that differ, W = 9 of a rank sum of 45, r = 0.20.
    first = np.array([125, 115, 130, 140, 115, 140, 125, 140, 135.0])
    second = np.array([110, 122, 125, 120, 124, 123, 137, 135, 145.0])
    assert paired_effects.rank_biserial(first - second) == pytest.approx(0.20)
    # V = 5 of 45 (R's ?wilcox.test): 5/45 - 40/45.
    assert paired_effects.rank_biserial(DEPRESSION) == pytest.approx(-35 / 45)


def test_rank_biserial_counts_a_zero_for_neither_side():
    assert paired_effects.rank_biserial(np.array([0.0, 1.0])) == pytest.approx(2 / 3)
    assert paired_effects.rank_biserial(np.zeros(4)) == 0


def test_cliffs_delta_of_hogarty_and_kromrey():
    # Hogarty and Kromrey (1999), as in R's effsize::cliff.delta: delta estimate -0.25.
    treatment = np.array([10, 10, 20, 20, 20, 30, 30, 30, 40, 50.0])
    control = np.array([10, 20, 30, 40, 40, 50.0])
    assert paired_effects.cliffs_delta(treatment, control) == pytest.approx(-0.25)
    assert paired_effects.cliffs_delta(control, treatment) == pytest.approx(0.25)
    assert paired_effects.cliffs_delta(control, control - 100) == 1
