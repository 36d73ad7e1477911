"""Bursts of losses in the guest kernel: exactly the packets that its random numbers give for the seed."""

import json
from itertools import groupby, islice

import pytest

from experiment.link_options import loss_model_of
from experiment.loss_models import GilbertElliott
from experiment.specification import RunSpecification
from run_tables.loss_burst_columns import burst_columns
from testbed.checks.loss_replay import check_loss_bursts, loss_bursts, losses


def test_netem_loses_the_packets_that_its_seed_says_in_bursts_of_the_mean_length(run):
    link = {
        "rate_mbps": 20, "delay_ms": {"forward": 10, "reverse": 10}, "loss_percent": {"forward": 3, "reverse": 0},
        "loss_burst_packets": {"forward": 6, "reverse": None},
    }  # fmt: skip
    traffic = {"protocol": "udp", "block_bytes": 1250, "bitrate_mbps": 15, "duration_s": 8}
    document = run(link=link, traffic=traffic)
    netem = document["links"]["after"]["r2-eth0"]["qdiscs"]["netem"]
    offered = netem["packets"] + netem["backlog_packets"] + netem["drops"]
    seed = document["network"]["set"]["qdiscs"]["r2-eth0"]["netem"]["seed"]
    model = list(islice(losses(seed, GilbertElliott.of_bursts(0.03, 6), False), offered))
    assert netem["drops"] == sum(model) > 100
    seen, before = (
        document["loss_bursts"]["forward"],
        document["links"]["before"]["r2-eth0"]["qdiscs"]["netem"]["drops"],
    )
    assert seen["dropped"] == seen["replayed_drops"] == netem["drops"] - before
    bursts = [len(list(packets)) for is_lost, packets in groupby(model[offered - seen["packets"] :]) if is_lost]
    assert (seen["bursts"], seen["longest_packets"]) == (len(bursts) - model[-1], max(bursts))
    # What the receiver misses of the datagrams, by their numbers, is what netem dropped of them.
    (stream,) = document["traffic"][0]["server"]["end"]["streams"]
    assert stream["udp"]["lost_packets"] == pytest.approx(seen["dropped"], abs=max(bursts))
    columns = burst_columns(document)
    assert columns["loss_burst_packets"] == pytest.approx(6, abs=4 * 30**0.5 / len(bursts) ** 0.5)
    # Bursts of half the length would not be chance, nor if the kernel had dropped others.
    asked = RunSpecification(json.loads(json.dumps(document["specification"]).replace('"forward": 6', '"forward": 3')))
    assert not check_loss_bursts(asked, document).ok
    seen["replayed_drops"] += 1
    assert not check_loss_bursts(RunSpecification(document["specification"]), document).ok
    assert document["network"]["read_back"]["interfaces"]["r2-eth0"]["qdiscs"]["netem"][
        "loss_burst_packets"
    ] == pytest.approx(6, rel=2e-5)  # tc prints six digits


@pytest.mark.parametrize(
    ("name", "chances"),
    [
        ("loss_gemodel", {"p": 1, "r": 20, "bad_loss": 70, "good_loss": 0.2}),
        ("loss_state", {"p13": 1, "p31": 30, "p32": 20, "p23": 40, "p14": 0.5}),
    ],
)
def test_netem_loses_by_a_model_what_the_model_says_packet_by_packet(run, name, chances):
    """Jitter takes numbers from the same source in between."""
    value = {f"{key}_percent": percent for key, percent in chances.items()}
    link = {
        "rate_mbps": 20, "delay_ms": {"forward": 10, "reverse": 10}, "jitter_ms": {"forward": 1, "reverse": 0},
        name: {"forward": value, "reverse": None},
    }  # fmt: skip
    model = loss_model_of({"loss_percent": {"forward": 0, "reverse": 0}} | link, "forward")
    link["loss_percent"] = {"forward": round(100 * model.share, 7), "reverse": 0}
    document = run(link=link, traffic={"protocol": "udp", "block_bytes": 1250, "bitrate_mbps": 15, "duration_s": 8})
    seen = document["loss_bursts"]["forward"]
    assert seen["dropped"] == seen["replayed_drops"] > 100
    assert burst_columns(document)["loss_burst_configured_packets"] == pytest.approx(model.burst_packets)
    # Another chance of the same model would have lost other packets.
    first = next(iter(value))
    other = json.loads(json.dumps(document["specification"]))
    other["scenario"]["link"][name]["forward"][first] *= 1.2
    specification = RunSpecification(other)
    again = loss_bursts(specification, document)["forward"]
    assert again["replayed_drops"] != again["dropped"]
