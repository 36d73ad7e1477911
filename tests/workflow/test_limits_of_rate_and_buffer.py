"""Limits that once had no effect: a rate with netem on both ends, a send buffer of flows without pacing."""

import pytest

from testbed.readings.deliveries import windows


def goodput_mbps(document):
    (window,) = set(windows(document).values())
    return window.goodput_mbps(0)


@pytest.mark.parametrize(("packets", "low_mbps", "high_mbps"), [(6000, 90, 95.7), (300, 0, 95.7)])
def test_netem_on_both_ends_keeps_to_the_rate(run, packets, low_mbps, high_mbps):
    """As with Mininet's TCLink: packets in flight count against the limit, so a small limit doesn't fill the path."""
    link = {"rate_mbps": 100, "delay_ms": {"forward": 20, "reverse": 20}, "netem": "both-ends"}
    document = run(link=link, queue={"packets": packets}, traffic={"duration_s": 6})
    interface = document["network"]["read_back"]["interfaces"]["r1-eth1"]["qdiscs"]
    assert interface["htb"]["rate_bps"] == 100e6 and interface["netem"]["limit"] == packets
    assert low_mbps <= goodput_mbps(document) <= high_mbps


@pytest.mark.parametrize("cca", ["cubic", "reno", "bbr"])
def test_a_send_buffer_holds_every_flow(run, cca):
    """A packet takes 2,304 bytes of a 64 KiB buffer, so at most 29 packets are in flight."""
    link = {"rate_mbps": 100, "delay_ms": {"forward": 35, "reverse": 35}}
    traffic = {"duration_s": 4, "sample_interval_ms": 5}
    document = run(cca=cca, link=link, queue={"packets": 500}, traffic=traffic, transport={"send_buffer_bytes": 65_536})
    (series,) = document["series"]["sockets"]
    assert max(series["unacked_packets"]) <= 29
    assert max(s["send_buffer_taken_bytes"] for look in document["sockets"] for s in look["sockets"]) <= 65_536 + 2_304
    assert goodput_mbps(document) < 5.5
