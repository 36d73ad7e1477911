"""The policer in the guest kernel: a token bucket passes its rate and one burst, to the packet, shared among senders."""

import pytest

from run_tables.run_metrics import bottleneck_metrics
from testbed.network.policer import drops

POLICER = {"rate_mbps": 4, "burst_bytes": 40_000}
LINK = {"rate_mbps": 100, "delay_ms": {"forward": 10, "reverse": 10}, "policer": POLICER}
UDP = {"protocol": "udp", "block_bytes": 1250, "bitrate_mbps": 20, "duration_s": 3, "control_connection": "own-network"}
FRAME_BYTES = 1250 + 28 + 14


def test_of_datagrams_a_rate_and_one_burst_pass(run):
    """Sent evenly for 3 s with a full bucket at first: 4 Mbit/s x 3 s + 40,000 bytes, except for the last packet's time."""
    document = run(link=LINK, traffic=UDP)
    summary = document["traffic"][0]["server"]["end"]["sum"]
    sent = document["traffic"][0]["client"]["end"]["sum"]["packets"]
    passed = sent - drops(document, "forward")
    assert passed == pytest.approx((4e6 / 8 * 3 + 40_000) / FRAME_BYTES, abs=2)
    # The server counts no more once its client has ended: what is then on its way of 10 ms.
    assert 0 <= passed - (summary["packets"] - summary["lost_packets"]) <= 5
    # The first message of iperf3 itself, by which its server knows the address, passes too.
    metrics = bottleneck_metrics(document)
    assert (metrics["policer_drops"], metrics["queue_drops"], metrics["packets_sent"] - passed) in (
        (drops(document, "forward"), 0, 0),
        (drops(document, "forward"), 0, 1),
    )
    assert metrics["loss_percent"] == pytest.approx(100 * drops(document, "forward") / sent, rel=1e-3)


def test_all_senders_share_one_bucket(run):
    hosts = {"pairs": 2, "access_delay_ms": [0, 0]}
    document = run(link=LINK, flows=2, hosts=hosts, traffic=UDP | {"bitrate_mbps": 10, "start_within_ms": 0})
    sent = sum(process["client"]["end"]["sum"]["packets"] for process in document["traffic"])
    assert sent - drops(document, "forward") == pytest.approx((4e6 / 8 * 3 + 40_000) / FRAME_BYTES, abs=4)
    assert len(document["network"]["set"]["policer"]) == 2
