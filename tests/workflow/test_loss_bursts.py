"""Losses in bursts in the guest's kernel: to the packet those that its random numbers make of the seed."""

from itertools import groupby

import pytest

from netem_random_numbers import CERTAIN, taus113
from testbed.loss_bursts import chances


def lost(seed, p, r, packets):
    """Return for each of so many packets whether netem's loss_gilb_ell drops it."""
    numbers, bad, found = taus113(seed), False, []
    for _ in range(packets):
        found.append(bad)
        change, _ = next(numbers), next(numbers)
        if change < round((r if bad else p) * CERTAIN):
            bad = not bad
    return found


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
    model = lost(seed, *chances(0.03, 6), offered)
    assert netem["drops"] == sum(model) > 100
    bursts = [len(list(packets)) for is_lost, packets in groupby(model) if is_lost]
    # Geometric lengths: their standard deviation is sqrt(1 - r) / r.
    assert sum(bursts) / len(bursts) == pytest.approx(6, abs=4 * (30**0.5) / len(bursts) ** 0.5)
    assert document["network"]["read_back"]["interfaces"]["r2-eth0"]["qdiscs"]["netem"][
        "loss_burst_packets"
    ] == pytest.approx(6)
