"""Settings of shapers and policers: tc's arguments and the values to be read back agree."""

import pytest

from experiment.loss_models import GilbertElliott
from experiment.specification import RunSpecification
from testbed.checks.probe_checks import check_rate
from testbed.network.emulation import SHAPERS, Netem
from testbed.network.policer import Policer


@pytest.mark.parametrize("shaper", SHAPERS.values(), ids=SHAPERS)
def test_a_rate_is_set_and_read_back_in_whole_bytes_per_second(shaper):
    bottleneck = shaper(rate_mbps=0.133333, queue_packets=5, queue_bytes=None)
    assert "rate 133336bit" in " ".join(bottleneck.commands("r1-eth1"))
    assert bottleneck.expected()[shaper.shaper]["rate_bps"] == 133336


def test_a_policers_rate_is_set_and_read_back_in_whole_bytes_per_second():
    policer = Policer(0.133333, 30_000)
    assert "rate 133336bit" in " ".join(policer.commands("r1-eth0"))
    assert policer.expected()["rate_mbps"] == 0.133336


@pytest.mark.parametrize(
    ("p", "r", "share", "packets"), [(0.01, 0.2, 100 / 21, 5), (1e-8, 1e-8, 50, 99_883_136.73), (1e-8, 1e-5, 0.10001587, 100_000)]
)  # fmt: skip
def test_a_loss_model_is_read_back_as_the_kernel_stores_it(p, r, share, packets):
    """1e-8 is 43 of 2^32; the values read back in the guest."""
    netem = Netem(delay_ms=10, jitter_ms=0, loss_percent=100 * p / (p + r), seed=1, loss_model=GilbertElliott(p, r))
    expected = netem.expected()["netem"]
    assert (expected["loss_percent"], expected["loss_burst_packets"]) == (
        pytest.approx(share, rel=1e-5),
        pytest.approx(packets, rel=1e-5),
    )


@pytest.mark.parametrize(("packets", "sound"), [(4, True), (60, False)])
def test_a_train_passes_at_once_where_netem_holds_less_than_the_path(recorded, packets, sound):
    """Netem's drops don't cost the shaper any tokens, so packets leave as they came, at twice the rate."""
    document = recorded("lossy-reno-ipv4")
    document["specification"]["scenario"] |= {"queue": {"packets": packets}}
    link = document["specification"]["scenario"]["link"]
    link |= {"netem": "both-ends", "rate_mbps": 10, "delay_ms": {"forward": 100, "reverse": 100}}
    for seen in document["probe"]["bottlenecks"]:
        seen["gap_ns"] = 606_000
    assert check_rate(RunSpecification(document["specification"]), document).ok is sound
