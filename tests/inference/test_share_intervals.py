"""Intervals of shares: on the logit scale, against known answers and in their coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from inference.share_intervals import bounded_estimate, expit, logit


def test_two_flows_logit_is_the_log_ratio_of_goodputs():
    assert logit([8.0 / (8.0 + 2.0)])[0] == pytest.approx(math.log(8.0 / 2.0))
    assert expit(logit([0.3, 0.97])) == pytest.approx([0.3, 0.97])


def test_interval_is_students_on_the_logit_scale():
    # Student's sleep data, group 1 (R's `sleep`): t.test gives mean 0.75, interval -0.5297804 to 2.0297804.
    logits = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    estimate = bounded_estimate(expit(logits), 0.95)
    assert logit([estimate.value, estimate.low, estimate.high]) == pytest.approx(
        [0.75, -0.5297804, 2.0297804], abs=1e-6
    )
    assert (estimate.n, estimate.note) == (10, "")
    assert (estimate.smallest, estimate.largest) == pytest.approx((expit(-1.6), expit(3.7)))


def test_both_sides_of_a_pair_have_mirrored_intervals():
    shares = np.array([0.91, 0.95, 0.93, 0.9, 0.97])
    one, other = bounded_estimate(shares, 0.95), bounded_estimate(1 - shares, 0.95)
    assert (other.value, other.low, other.high) == pytest.approx((1 - one.value, 1 - one.high, 1 - one.low))


def test_index_has_bounds_of_its_own():
    # Jain's index of four flows is at least 1/4: no interval reaches below.
    estimate = bounded_estimate([0.26, 0.3, 0.5], 0.95, 0.25, 1.0)
    assert 0.25 < estimate.low < estimate.value < estimate.high < 1
    with pytest.raises(ValueError, match="0.2 to 0.9 is beyond 0.25 to 1"):
        bounded_estimate([0.2, 0.9], 0.95, 0.25, 1.0)


@pytest.mark.parametrize(
    ("values", "expected", "note"),
    [
        ([], (None, None, None), "no valid run"),
        ([math.nan], (None, None, None), "no valid run"),
        ([0.4], (0.4, None, None), "one value: no interval"),
        ([0.4, 0.4, 0.4], (0.4, None, None), "all 3 values are equal: one measurement repeated, so no interval"),
        ([1.0, 1.0], (1.0, None, None), "all 2 values are equal: one measurement repeated, so no interval"),
    ],
)
def test_too_few_values_say_so(values, expected, note):
    estimate = bounded_estimate(values, 0.95)
    assert ((estimate.value, estimate.low, estimate.high), estimate.note) == (expected, note)


def test_value_on_a_bound_takes_the_interval_of_the_values_cut_there():
    values = [1.0, 0.9, 0.95]
    estimate = bounded_estimate(values, 0.95)
    half = stats.t.ppf(0.975, 2) * np.std(values, ddof=1) / math.sqrt(3)
    assert estimate.low == pytest.approx(0.95 - half)
    assert estimate.high == 1.0
    assert "bound has no logit" in estimate.note


def test_five_replications_are_covered_and_by_bca_are_not():
    """Why it is not the BCa bootstrap: of 5 shares near a bound it misses far more often than 1 time in 20."""
    rng, runs, missed = np.random.default_rng(7), 400, {"t": 0, "bca": 0}
    for _ in range(runs):
        # Logits of starving flows, spread as replications are: the typical share is 0.05.
        shares = expit(logit([0.05])[0] + 0.5 * rng.standard_normal(5))
        estimate = bounded_estimate(shares, 0.95)
        missed["t"] += not estimate.low <= 0.05 <= estimate.high
        median = stats.bootstrap(
            (shares,), lambda x, axis: expit(logit(x).mean(axis=axis)), n_resamples=500, rng=rng
        ).confidence_interval
        missed["bca"] += not median.low <= 0.05 <= median.high
    assert missed["t"] / runs < 0.08
    assert missed["bca"] / runs > 0.11
    # And for shares that no transformation makes normal: beta, mean 0.9, held against the typical share.
    typical = expit(logit(np.random.default_rng(1).beta(18, 2, 200_000)).mean())
    draws = [bounded_estimate(rng.beta(18, 2, 5), 0.95) for _ in range(1000)]
    assert np.mean([estimate.low <= typical <= estimate.high for estimate in draws]) > 0.92
