"""Losses that depend on the path's state: probabilities from means, shares and bursts of each model, and a bound on losses that chance
exceeds as rarely as claimed."""

import dataclasses
import itertools
import math
import random

import pytest

from experiment.loss_models import FourStates, GilbertElliott, read_model
from testbed.checks.loss_burst_checks import _log_bound, _log_generating, judge_bursty_loss
from testbed.network.emulation import Netem, parse_qdiscs


def test_chances_give_the_mean_loss_and_the_mean_burst():
    model = GilbertElliott.of_bursts(0.02, 5)
    assert (model.share, model.burst_packets) == pytest.approx((0.02, 5))


#: Models of all kinds, and those of one state's chances among them.
MODELS = [
    GilbertElliott(0.01, 0.2), GilbertElliott(0.02, 0.3, 0.6, 0.01), GilbertElliott(0.5, 0.5, 0.1, 0.9), FourStates(0.02, 0.3),
    FourStates(0.01, 0.3, 0.3, 0.2, 0.01), FourStates(0, 1, 0, 1, 0.05), FourStates(0, 0.05, 0, 0.1, 0.01), FourStates(0.1, 0.2, 0.7, 0.9, 0.3),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_share_and_bursts_are_those_of_the_kernel_s_way_of_drawing(model):
    """Over 400,000 packets from another source of random numbers, shares and bursts agree within their sampling error."""
    draw, packets = random.Random(7), 400_000
    fates = list(itertools.islice(model.fates(lambda: draw.getrandbits(32)), packets))
    bursts = sum(after and not before for before, after in itertools.pairwise(fates))
    assert sum(fates) / packets == pytest.approx(model.share, rel=0.06)
    assert sum(fates) / bursts == pytest.approx(model.burst_packets, rel=0.06)
    behind = [after for before, after in itertools.pairwise(fates) if before]
    assert sum(behind) / len(behind) <= model.in_a_row + 0.02
    assert sum(model.chain()[0]) == pytest.approx(1) and all(sum(row) == pytest.approx(1) for row in model.chain()[1])
    # The bound on the number lost is right of what was drawn, and excludes half and twice as many.
    assert judge_bursty_loss("loss", model, sum(fates), packets, 1e-6).ok
    assert not judge_bursty_loss("loss", model, sum(fates) // 2, packets, 1e-6).ok


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_tc_prints_of_a_model_is_the_model(model):
    """Its words are in tc's order; its JSON has the names of `iproute2`."""
    words = f"loss {model.words}".split()
    assert words[1] == model.word and all(word.endswith("%") for word in words[2:])
    names = {"gemodel": ("p", "r", "1-h", "1-k"), "state": ("p13", "p31", "p32", "p23", "p14")}[model.word]
    told = {f"loss-{model.word}": dict(zip(names, dataclasses.astuple(model), strict=True))}
    assert read_model(told) == model


def test_the_generating_function_is_that_of_a_chain_worked_out_by_hand():
    """For two packets: both states and both steps written out, with p = 0.1, r = 0.5, stationary 5/6 good."""
    weight = math.exp(0.3)
    good, bad = 5 / 6, 1 / 6
    expected = good * (0.9 + 0.1 * weight) + bad * weight * (0.5 + 0.5 * weight)
    assert _log_generating(GilbertElliott(0.1, 0.5), 0.3, 2) == pytest.approx(math.log(expected))


def test_independent_losses_have_the_bound_of_a_binomial():
    """If a burst ends with the probability that a packet passes, losses are independent: Chernoff's N D(q||p)."""
    loss, packets, dropped = 0.1, 1000, 150
    model = GilbertElliott.of_bursts(loss, 1 / (1 - loss))
    entropy = 0.15 * math.log(0.15 / 0.1) + 0.85 * math.log(0.85 / 0.9)
    assert _log_bound(model, dropped, packets) == pytest.approx(-packets * entropy, rel=0.05)


def lost(p, r, packets, draw):
    bad, count = draw.random() < p / (p + r), 0
    for _ in range(packets):
        count += bad
        bad = draw.random() >= r if bad else draw.random() < p
    return count


def test_sound_runs_pass_and_those_of_another_loss_fail():
    model, single = (GilbertElliott.of_bursts(0.02, length) for length in (8, 1))
    counts = [lost(model.p, model.r, 20_000, random.Random(seed)) for seed in range(100)]
    assert all(judge_bursty_loss("loss", model, count, 20_000, 1e-6).ok for count in counts)
    # No more than 5 % fail at a level of 5 %: a bound, so fewer.
    assert sum(not judge_bursty_loss("loss", model, count, 20_000, 0.05).ok for count in counts) <= 5
    assert not judge_bursty_loss("loss", model, 2 * 400, 20_000, 1e-3).ok
    assert not judge_bursty_loss("loss", model, 100, 20_000, 1e-3).ok
    # What bursts explain single losses don't.
    assert not judge_bursty_loss("loss", single, max(counts), 20_000, 1e-3).ok


def test_netem_is_told_the_chances_and_tells_the_means():
    netem = Netem(10, 0, 2, seed=1, loss_model=GilbertElliott.of_bursts(0.02, 5))
    assert "loss gemodel 0.4081633% 20.0000000%" in netem.commands("x")[0]
    options = {"delay": {"delay": 0.01}, "loss-gemodel": {"p": 0.0040816327, "r": 0.2}, "limit": 1_000_000, "seed": 1}
    read_back = parse_qdiscs([{"kind": "netem", "options": options}], [])["netem"]
    assert (read_back["loss_percent"], read_back["loss_burst_packets"]) == pytest.approx((2, 5))
