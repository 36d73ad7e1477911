"""Loss in bursts: chances from means, and a bound on the number lost that is right about how often chance alone exceeds it."""

import math
import random

import pytest

from experiment.loss_bursts import chances
from testbed.checks.loss_burst_checks import _log_bound, _log_generating, judge_bursty_loss
from testbed.network.emulation import Netem, parse_qdiscs


def test_chances_give_the_mean_loss_and_the_mean_burst():
    p, r = chances(0.02, 5)
    assert (p / (p + r), 1 / r) == pytest.approx((0.02, 5))


def test_the_generating_function_is_that_of_a_chain_worked_out_by_hand():
    """Of two packets: both states and both steps written out, with p = 0.1, r = 0.5, stationary 5/6 good."""
    weight = math.exp(0.3)
    good, bad = 5 / 6, 1 / 6
    expected = good * (0.9 + 0.1 * weight) + bad * weight * (0.5 + 0.5 * weight)
    assert _log_generating(0.1, 0.5, 0.3, 2) == pytest.approx(math.log(expected))


def test_independent_losses_have_the_bound_of_a_binomial():
    """Where a burst ends with the chance that a packet passes, packets are lost each on its own: Chernoff's N D(q||p)."""
    loss, packets, dropped = 0.1, 1000, 150
    p, r = chances(loss, 1 / (1 - loss))
    entropy = 0.15 * math.log(0.15 / 0.1) + 0.85 * math.log(0.85 / 0.9)
    assert _log_bound(p, r, dropped, packets) == pytest.approx(-packets * entropy, rel=0.05)


def lost(p, r, packets, draw):
    bad, count = draw.random() < p / (p + r), 0
    for _ in range(packets):
        count += bad
        bad = draw.random() >= r if bad else draw.random() < p
    return count


def test_sound_runs_pass_and_those_of_another_loss_fail():
    p, r = chances(0.02, 8)
    counts = [lost(p, r, 20_000, random.Random(seed)) for seed in range(100)]
    assert all(judge_bursty_loss("loss", 0.02, 8, count, 20_000, 1e-6).ok for count in counts)
    # No more than 5 % fail at a level of 5 %: a bound, so fewer.
    assert sum(not judge_bursty_loss("loss", 0.02, 8, count, 20_000, 0.05).ok for count in counts) <= 5
    assert not judge_bursty_loss("loss", 0.02, 8, 2 * 400, 20_000, 1e-3).ok
    assert not judge_bursty_loss("loss", 0.02, 8, 100, 20_000, 1e-3).ok
    # What bursts explain single losses don't.
    assert not judge_bursty_loss("loss", 0.02, 1, max(counts), 20_000, 1e-3).ok


def test_netem_is_told_the_chances_and_tells_the_means():
    netem = Netem(10, 0, 2, seed=1, loss_burst_packets=5)
    assert "loss gemodel 0.4081633% 20.0000000%" in netem.commands("x")[0]
    options = {"delay": {"delay": 0.01}, "loss-gemodel": {"p": 0.0040816327, "r": 0.2}, "limit": 1_000_000, "seed": 1}
    read_back = parse_qdiscs([{"kind": "netem", "options": options}], [])["netem"]
    assert (read_back["loss_percent"], read_back["loss_burst_packets"]) == pytest.approx((2, 5))
