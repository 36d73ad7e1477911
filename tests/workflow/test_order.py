"""Jitter that keeps the order of packets and jitter that doesn't; acknowledgements that travel in bunches."""

import numpy as np
import pytest

LINK = {"rate_mbps": 20, "delay_ms": {"forward": 20, "reverse": 20}}
#: A datagram each 2 ms.
UDP = {"protocol": "udp", "block_bytes": 1250, "bitrate_mbps": 5, "duration_s": 3}


@pytest.mark.parametrize("order", ["any", "kept"])
def test_datagrams_arrive_in_order_if_that_is_kept(run, order):
    """With delays drawn uniformly over 20 ms, and packets 2 ms apart, the next packet overtakes one with a probability of (18/20)^2 / 2."""
    jitter = {"jitter_ms": {"forward": 10, "reverse": 0}} | ({"jitter_order": order} if order == "kept" else {})
    document = run(link=LINK | jitter, traffic=UDP)
    (stream,) = document["traffic"][0]["server"]["end"]["streams"]
    if order == "kept":
        assert stream["udp"]["out_of_order"] == 0
        netem = document["network"]["read_back"]["interfaces"]["r2-eth0"]["qdiscs"]["netem"]
        assert netem["rate_bps"] == 32_000_000_000
    else:
        assert stream["udp"]["out_of_order"] > 0.405 * stream["udp"]["packets"]


def test_acknowledgements_come_in_bunches_so_far_apart(run):
    """Read every millisecond, the acknowledged amount grows only once per slot; without slots it grows nearly every millisecond."""
    gaps = {}
    for slot in (None, 8):
        link = LINK | ({"ack_slot_ms": slot} if slot else {})
        document = run(link=link, traffic={"duration_s": 3, "sample_interval_ms": 1})
        (flow,) = document["series"]["sockets"]
        times, acked = np.array(flow["time_s"]), np.array(flow["bytes_acked"], float)
        grown = times[1:][(np.diff(acked) > 0) & (times[1:] > 1)]
        gaps[slot] = np.diff(grown) * 1e3
    assert np.median(gaps[None]) < 3
    # A slot begins between two readings.
    assert np.median(gaps[8]) == pytest.approx(8, abs=1.01) and gaps[8].min() > 6.9
