"""Intervals of shares on the logit scale, against known results and by their coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from inference.mean_interval import mean_interval
from inference.share_intervals import bounded_estimate, expit, logit


def test_two_flows_logit_is_the_log_ratio_of_goodputs():
    assert logit([8.0 / (8.0 + 2.0)])[0] == pytest.approx(math.log(8.0 / 2.0))
    assert expit(logit([0.3, 0.97])) == pytest.approx([0.3, 0.97])


def test_interval_is_that_of_the_mean_on_the_logit_scale():
    # Student's sleep data, group 1 (R's `sleep`): t.test gives mean 0.75, interval -0.5297804 to 2.0297804. They are skewed to
    # the right: the bootstrap-t interval reaches farther there.
    logits = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    estimate = bounded_estimate(expit(logits), 0.95)
    ends = logit([estimate.value, estimate.low, estimate.high])
    assert ends == pytest.approx(mean_interval(logits, 0.95), abs=1e-6)
    assert ends[:2] == pytest.approx([0.75, -0.5297804], abs=1e-6) and ends[2] > 2.0297804
    assert (estimate.n, estimate.note) == (10, "")
    assert (estimate.smallest, estimate.largest) == pytest.approx((expit(-1.6), expit(3.7)))


def test_both_sides_of_a_pair_have_mirrored_intervals():
    shares = np.array([0.91, 0.95, 0.93, 0.9, 0.97, 0.94])
    one, other = bounded_estimate(shares, 0.95), bounded_estimate(1 - shares, 0.95)
    assert (other.value, other.low, other.high) == pytest.approx((1 - one.value, 1 - one.high, 1 - one.low))


def test_index_has_bounds_of_its_own():
    # Jain's index of four flows is at least 1/4: no interval reaches below.
    estimate = bounded_estimate([0.26, 0.3, 0.5, 0.28, 0.4, 0.35], 0.95, 0.25, 1.0)
    assert 0.25 < estimate.low < estimate.value < estimate.high < 1
    with pytest.raises(ValueError, match="0.2 to 0.9 is beyond 0.25 to 1"):
        bounded_estimate([0.2, 0.9], 0.95, 0.25, 1.0)


@pytest.mark.parametrize(
    ("values", "expected", "note"),
    [
        ([], (None, None, None), "no valid run"),
        ([math.nan], (None, None, None), "no valid run"),
        ([0.4], (0.4, None, None), "one run: an interval needs 6"),
        ([0.2, 0.5, 0.8], (0.5, None, None), "3 runs: an interval needs 6"),
        ([1.0, 0.5, 0.9], (0.8, None, None), "3 runs: an interval needs 6"),
        ([0.4, 0.4, 0.4], (0.4, None, None), "all 3 values are equal: one measurement repeated, so no interval"),
        ([1.0, 1.0], (1.0, None, None), "all 2 values are equal: one measurement repeated, so no interval"),
    ],
)
def test_too_few_values_say_so(values, expected, note):
    estimate = bounded_estimate(values, 0.95)
    assert ((estimate.value, estimate.low, estimate.high), estimate.note) == (pytest.approx(expected), note)


def test_value_on_a_bound_takes_the_interval_of_the_values_cut_there():
    # Skewed to the right: the lower end is Student's.
    values = [1.0, 0.89, 0.9, 0.91, 0.95, 0.9]
    estimate = bounded_estimate(values, 0.95)
    assert estimate.value == pytest.approx(0.925)
    assert estimate.low == pytest.approx(stats.ttest_1samp(values, 0).confidence_interval(0.95).low)
    assert estimate.high == 1.0
    assert "bound has no logit" in estimate.note


def test_six_replications_are_covered_and_by_bca_are_not():
    """The reason for not using the BCa bootstrap: with 6 shares near a bound it misses far more often than 1 time in 20."""
    rng, drawn, runs, missed = np.random.default_rng(7), 400, 0, {"used": 0, "bca": 0}
    for _ in range(drawn):
        # Logits of starving flows, spread as replications are: the typical share is 0.05.
        shares = expit(logit([0.05])[0] + 0.5 * rng.standard_normal(6))
        estimate = bounded_estimate(shares, 0.95)
        if estimate.low is None:
            assert "no interval of the mean" in estimate.note
            continue
        runs += 1
        missed["used"] += not estimate.low <= 0.05 <= estimate.high
        median = stats.bootstrap(
            (shares,), lambda x, axis: expit(logit(x).mean(axis=axis)), n_resamples=500, rng=rng
        ).confidence_interval
        missed["bca"] += not median.low <= 0.05 <= median.high
    # On both sides of a share 1 of 100 samples seems to have two kinds of run.
    assert runs > 0.95 * drawn
    assert missed["used"] / runs < 0.06
    assert missed["bca"] / runs > 0.11
    # And for shares that no transformation makes normal: beta, mean 0.9, compared with the typical share.
    typical = expit(logit(np.random.default_rng(1).beta(18, 2, 200_000)).mean())
    draws = [bounded_estimate(rng.beta(18, 2, 6), 0.95) for _ in range(1000)]
    known = [estimate for estimate in draws if estimate.low is not None]
    assert len(known) > 0.95 * len(draws)
    assert np.mean([estimate.low <= typical <= estimate.high for estimate in known]) > 0.93
