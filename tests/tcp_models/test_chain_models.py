"""Shares over several bottlenecks: against published values, and against a direct solution of the models."""

import math

import pytest
from scipy.optimize import minimize_scalar

from tcp_models.chain_models import fair_share, reno_share_independent, reno_share_synchronised


@pytest.mark.parametrize(("alpha", "share"), [(1, 1 / 4), (2, 1 / (1 + math.sqrt(3))), (math.inf, 1 / 2)])
def test_fair_shares_of_single_flows_over_three_bottlenecks(alpha, share):
    assert fair_share(3, alpha) == pytest.approx(share)


@pytest.mark.parametrize("alpha", [0.5, 1, 2, 4])
@pytest.mark.parametrize("flows", [(1, 1), (2, 3)])
def test_a_fair_share_has_the_most_utility(alpha, flows):
    long, cross = flows
    bottlenecks = 3

    def utility(rate):
        return math.log(rate) if alpha == 1 else rate ** (1 - alpha) / (1 - alpha)

    def lost(share):
        return -long * utility(share / long) - bottlenecks * cross * utility((1 - share) / cross)

    best = minimize_scalar(lost, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-10}).x
    assert fair_share(bottlenecks, alpha, *flows) == pytest.approx(best, abs=1e-6)


def test_reno_at_equal_round_trip_times_is_as_fair_as_said():
    for bottlenecks in (1, 2, 5):
        assert reno_share_independent(bottlenecks, 1) == pytest.approx(fair_share(bottlenecks, 2))
        assert reno_share_synchronised(bottlenecks, 1) == pytest.approx(fair_share(bottlenecks, 1))


def test_a_longer_round_trip_takes_its_part():
    # Twice the round-trip time: half the rate, or a quarter of it.
    assert reno_share_independent(1, 0.5) == pytest.approx(1 / 3)
    assert reno_share_synchronised(1, 0.5) == pytest.approx(1 / 5)
    assert reno_share_independent(4, 0.5, 2, 1) == pytest.approx(1 / 3)  # each a quarter of the cross flow's rate


@pytest.mark.parametrize("bottlenecks", [1, 2, 3])
def test_windows_that_are_halved_together_come_to_the_share_said(bottlenecks):
    """Simulated windows: each queue overflows once in turn, and halves both windows that pass it."""
    rtt_long, rtt_cross, period = 0.15, 0.1, 60.0
    long, cross, area_long, area_cross = 100.0, 100.0, 0.0, 0.0
    for _ in range(200):
        area_long = area_cross = 0.0
        # The cross flow of one bottleneck, followed over its period; the long flow over all parts of it.
        for _ in range(bottlenecks):
            part = period / bottlenecks
            area_long += (long + part / rtt_long / 2) * part
            long = (long + part / rtt_long) / 2
        area_cross += (cross + period / rtt_cross / 2) * period
        cross = (cross + period / rtt_cross) / 2
    ratio = area_long / rtt_long / (area_cross / rtt_cross)
    assert ratio / (1 + ratio) == pytest.approx(reno_share_synchronised(bottlenecks, rtt_cross / rtt_long))
