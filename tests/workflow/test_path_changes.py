"""Paths that change in the guest's kernel, against what theory says of each change; a run of them is the same twice."""

import json
from itertools import pairwise

import numpy as np
import pytest

LINK = {"rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 10}}
UDP = {"protocol": "udp", "block_bytes": 1250, "duration_s": 3}


def change(at_s, direction="both", over_s=0, step_ms=100, **values):
    nothing = dict.fromkeys(("rate_mbps", "delay_ms", "loss_percent", "down_for_s"))
    return nothing | {"at_s": at_s, "direction": direction, "over_s": over_s, "step_ms": step_ms} | values


def test_between_two_changes_exactly_the_rate_passes(run):
    timeline = [change(1, rate_mbps=2), change(2, rate_mbps=20), change(3, "forward", 0.5, 50, rate_mbps=5)]
    document = run(link=LINK | {"timeline": timeline}, traffic=UDP | {"bitrate_mbps": 30, "duration_s": 5})
    changes = [entry for entry in document["timeline"] if "r1-eth1" in entry["devices"]]
    assert len(changes) == 12
    earlier = 10
    for before, after in pairwise(changes):
        passed = after["devices"]["r1-eth1"]["bytes"] - before["devices"]["r1-eth1"]["bytes"]
        due = before["value"] * (after["realised_ns"] - before["realised_ns"]) / 8e3
        # The packet that is under way at either end keeps the rate at which it left.
        slower = max(1, before["value"] / earlier)
        assert due - (1 + slower) * 1292 <= passed <= due + 2 * 1292
        earlier = before["value"]
        assert after["devices"]["r1-eth1"]["backlog_packets"] > 0


def test_a_round_trip_takes_the_new_delay_at_once(run):
    timeline = [change(1, delay_ms=60), change(2.5, "forward", delay_ms=5)]
    traffic = {"duration_s": 4, "bitrate_mbps": 0.5, "block_bytes": 1448, "sample_interval_ms": 10}
    document = run(link=LINK | {"timeline": timeline}, traffic=traffic)
    (flow,) = document["series"]["sockets"]
    times, rtts = np.array(flow["time_s"]), np.array(flow["rtt_ms"])
    for at_s, rtt_ms in ((0.99, 20), (2.49, 120), (3.99, 65)):
        # Smoothed over eight round trips.
        assert rtts[times <= at_s][-1] == pytest.approx(rtt_ms, rel=0.03)
    assert min(s["rtt_min_ms"] for look in document["sockets"] for s in look["sockets"]) >= 20


def test_an_outage_loses_what_is_sent_into_it_and_nothing_else(run):
    """100 datagrams a second for 0.4 s, at most one more or less at its ends; those on the way arrive."""
    timeline = [change(1, "forward", delay_ms=100), change(1.5, "forward", down_for_s=0.4)]
    document = run(link=LINK | {"timeline": timeline}, traffic=UDP | {"bitrate_mbps": 1})
    lost = document["traffic"][0]["server"]["end"]["sum"]["lost_packets"]
    down, up = [entry for entry in document["timeline"] if entry["kind"] in ("down", "up")]
    assert lost == up["devices"]["r2-eth0"]["drops"] - down["devices"]["r2-eth0"]["drops"]
    assert abs(lost - 40) <= 1


def test_a_run_with_changes_is_the_same_twice(specification, testbed, tmp_path):
    timeline = [
        change(0.5, rate_mbps=30, delay_ms=5),
        change(1, "forward", 0.4, 20, loss_percent=2),
        change(2, down_for_s=0.2),
    ]
    asked = specification(cca="bbr", link=LINK | {"timeline": timeline}, traffic={"duration_s": 3})
    files = [tmp_path / "first.json.gz", tmp_path / "second.json.gz"]
    for file in files:
        done = testbed(json.loads(json.dumps(asked)), file)
        assert done.returncode == 0, done.stderr[-2000:]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_trace_lets_pass_in_each_step_what_it_says(run):
    """UDP above all rates: bytes in each step."""
    rates = [8, 2, 12, 4]
    trace = {"file": None, "format": "csv", "direction": "forward", "step_ms": 200, "sha256": None, "rates_mbps": rates}
    document = run(link=LINK | {"trace": trace}, traffic=UDP | {"bitrate_mbps": 20})
    changes = document["timeline"]
    assert [entry["value"] for entry in changes] == [rates[number % 4] for number in range(15)]
    assert [entry["at_ns"] for entry in changes] == [number * 200_000_000 for number in range(15)]
    # Once the sender has begun.
    for before, after in pairwise(changes[4:]):
        passed = after["devices"]["r1-eth1"]["bytes"] - before["devices"]["r1-eth1"]["bytes"]
        due = before["value"] * (after["realised_ns"] - before["realised_ns"]) / 8e3
        assert due - 7 * 1292 <= passed <= due + 2 * 1292
