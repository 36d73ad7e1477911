"""Intervals of percentiles against binomial sums, printed tables, SciPy, and distributions without a mean or with ties."""

import math

import numpy as np
import pytest
from scipy import stats

from inference.percentile_interval import NONE, TWO_SIDED, UPPER, least_values, percentile_interval


def chance(n, share, first, last):
    """Return the probability that `first` to `last` of n values are below the percentile, from binomial coefficients."""
    return sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(first, last + 1))


@pytest.mark.parametrize(
    "share, kind, least",
    [(0.5, TWO_SIDED, 6), (0.9, TWO_SIDED, 36), (0.95, TWO_SIDED, 72), (0.05, TWO_SIDED, 72), (0.99, TWO_SIDED, 368),
     (0.5, UPPER, 5), (0.9, UPPER, 29), (0.95, UPPER, 59), (0.99, UPPER, 299)],
)  # fmt: skip
def test_least_numbers_are_the_first_that_allow_it(share, kind, least):
    """The one-sided numbers are those of TriScale's table of runs at 95 %, and of Wilks (1941)."""
    assert least_values(share, 0.95, kind) == least
    for n, kinds in ((least, {kind, TWO_SIDED}), (least - 1, {UPPER, NONE} if kind == TWO_SIDED else {NONE})):
        assert percentile_interval(range(n), share, 0.95).kind in kinds


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.9, 0.95])
@pytest.mark.parametrize("n", [6, 10, 37, 72, 100, 500])
def test_chance_is_the_binomial_one_and_no_shorter_interval_would_do(share, n):
    values = np.random.default_rng(1).permutation(np.arange(1, n + 1))
    estimate = percentile_interval(values, share, 0.95)
    if estimate.kind == NONE:
        assert n < least_values(share, 0.95, UPPER) and estimate.low is estimate.high is estimate.held is None
        return
    high = int(estimate.high)  # of the numbers from 1 each is its own rank
    if estimate.kind == UPPER:
        assert estimate.low is None and estimate.held >= 0.95
        assert estimate.held == pytest.approx(chance(n, share, 0, high - 1))
        assert chance(n, share, 0, high - 2) < 0.95
        return
    low = int(estimate.low)
    assert estimate.held >= 0.95
    assert estimate.held == pytest.approx(chance(n, share, low, high - 1))
    assert chance(n, share, 0, low - 1) < 0.025 <= chance(n, share, 0, low)
    assert chance(n, share, high, n) <= 0.025 < chance(n, share, high - 1, n)
    with_scipy = stats.quantile_test(values, p=share).confidence_interval(0.95)
    assert (estimate.low, estimate.high) == (with_scipy.low, with_scipy.high)


@pytest.mark.parametrize("n, low, high, held", [(6, 1, 6, 0.9688), (8, 1, 8, 0.9922), (9, 2, 8, 0.9609), (10, 2, 9, 0.9785),
                                                (15, 4, 12, 0.9648), (20, 6, 15, 0.9586)])  # fmt: skip
def test_intervals_of_medians_are_those_of_the_sign_test(n, low, high, held):
    """Conover, Practical Nonparametric Statistics (1999), section 3.2, and any table of the sign test."""
    estimate = percentile_interval(np.arange(1, n + 1), 0.5, 0.95)
    assert (estimate.low, estimate.high) == (low, high)
    assert estimate.held == pytest.approx(held, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize("share, n", [(0.5, 6), (0.5, 30), (0.95, 60), (0.95, 100)])
@pytest.mark.parametrize(
    "draw, quantile",
    [(lambda rng, n: rng.standard_cauchy(n), stats.cauchy.ppf), (lambda rng, n: rng.pareto(1.0, n), stats.lomax(1).ppf),
     (lambda rng, n: rng.poisson(3, n), stats.poisson(3).ppf)],
    ids=["cauchy", "pareto", "ties"],
)  # fmt: skip
def test_intervals_hold_the_truth_whatever_the_distribution(draw, quantile, share, n):
    rng, studies, held = np.random.default_rng(2), 400, 0
    for _ in range(studies):
        estimate = percentile_interval(draw(rng, n), share, 0.95)
        held += (estimate.low is None or estimate.low <= quantile(share)) and quantile(share) <= estimate.high
    expected = percentile_interval(range(n), share, 0.95).held
    error = 4 * math.sqrt(expected * (1 - expected) / studies)
    assert held / studies > expected - error
    if draw(rng, 3).dtype != int:
        assert held / studies < expected + error


def test_percentiles_themselves():
    values = [5.0, 1.0, math.nan, 3.0, 2.0, 4.0]
    assert percentile_interval(values, 0.5, 0.95).value == 3
    assert percentile_interval(values, 0.5, 0.95).n == 5
    # None of nineteen need be above the 95th percentile, one of twenty is.
    assert percentile_interval(range(19), 0.95, 0.95).value is None
    assert percentile_interval(range(20), 0.95, 0.95).value == 18
    assert percentile_interval([], 0.5, 0.95).kind == NONE
