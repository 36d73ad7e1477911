"""Unchanged outputs of ping and tc, and the values read from them."""

import json

import pytest

from testbed.network.emulation import Bottleneck, Netem, parse_qdiscs
from testbed.readings.probes import parse_ping, ping_count


@pytest.fixture
def data(root):
    return root / "tests" / "data"


def test_ping_summary(data):
    result = parse_ping((data / "ping.txt").read_text(), 10)
    assert result == {"sent": 10, "received": 10, "min_ms": 40.0, "mean_ms": 40.0, "max_ms": 40.0}


def test_ping_without_an_answer():
    text = "--- 10.0.2.2 ping statistics ---\n10 packets transmitted, 0 received, 100% packet loss, time 922ms\n\n"
    assert parse_ping(text, 10) == {"sent": 10, "received": 0, "min_ms": None, "mean_ms": None, "max_ms": None}


def test_ping_count_grows_with_loss():
    assert ping_count(0, 0) == 10
    assert ping_count(0.01, 0) == 10
    # 0.5^30 is about 1e-9.
    assert ping_count(0.5, 0) == 30
    assert ping_count(0.99, 0.99) == 1000


def read(data, name):
    return json.loads((data / name).read_text())


def test_netem_as_tc_says_it(data):
    netem = Netem(delay_ms=10, jitter_ms=2, loss_percent=1, seed=8098725925661431731)
    qdiscs = parse_qdiscs(read(data, "tc-netem.json"), [])
    assert qdiscs.keys() == {"netem"}
    for key, value in netem.expected()["netem"].items():
        assert qdiscs["netem"][key] == pytest.approx(value, rel=1e-6)


def test_bottleneck_as_tc_says_it(data):
    bottleneck = Bottleneck(rate_mbps=12.5, queue_packets=33, queue_bytes=None)
    qdiscs = parse_qdiscs(read(data, "tc-htb.json"), read(data, "tc-htb-class.json"))
    assert qdiscs == bottleneck.expected()


def test_queue_in_bytes():
    bottleneck = Bottleneck(rate_mbps=1, queue_packets=None, queue_bytes=100_000)
    assert "bfifo limit 100000" in bottleneck.commands("r1-eth1")[2]
    assert bottleneck.expected()["bfifo"] == {"limit": 100_000}
