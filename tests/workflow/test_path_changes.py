"""Paths that change in the guest kernel, against the theory of each change; a repeated run is identical."""

import json
from itertools import pairwise

import numpy as np
import pytest

from changing_run import change
from experiment.specification import RunSpecification
from study_files.study_traces import completed_trace

LINK = {"rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 10}}
UDP = {"protocol": "udp", "block_bytes": 1250, "duration_s": 3}


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
    """100 datagrams a second for 0.4 s, with at most one more or fewer at its ends; packets in flight arrive."""
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
    timeline = RunSpecification(document["specification"]).timeline
    # Once the sender has begun.
    first, *later = [entry for entry in document["timeline"] if entry["at_ns"] >= 800_000_000]
    assert len(later) >= 10
    for entry in later:
        passed = entry["devices"]["r1-eth1"]["bytes"] - first["devices"]["r1-eth1"]["bytes"]
        due = timeline.mean_rate_mbps(first["at_ns"], entry["at_ns"]) * (entry["at_ns"] - first["at_ns"]) / 8e3
        assert passed == pytest.approx(due, abs=3 * 1292)


#: Traces in Mahimahi's format, in ms, and the length of a step.
SATURATED = {
    "one line": ([1], 100),
    "a period of 105 ms": (list(range(1, 106)), 100),
    "on and off": ([at for at in range(1, 101) for _ in (1, 2)] + [200], 100),
}
MANY = {
    "one line in steps of 10 ms": ([1], 10),
    "1 to 1000": (list(range(1, 1001)), 100),
    "three in a period of 7 ms": ([0, 0, 7], 10),
    "bursts in one ms": ([50] * 40 + [400] * 3 + [1000], 100),
    "bursts in steps of 10 ms": ([50] * 40 + [400] * 3 + [1000], 10),
    "a packet in 9 ms": ([9], 20),
    "below a packet a step": ([*range(30, 3000, 47), 3000], 10),
    "an empty second": ([*range(1, 1001), 2000], 100),
    "an empty begin": ([*range(150, 400), 400], 50),
    "a partial step of bursts": ([*range(1, 250, 2)] + [260] * 20, 100),
    "on and off in steps of 37 ms": ([at for at in range(1, 101) for _ in (1, 2)] + [200], 37),
    "slow, then 50 times as fast": (
        [*range(25, 500, 50)] + [at for at in range(501, 1000) for _ in (1, 2)] + [1000],
        100,
    ),
}


@pytest.mark.parametrize(
    "name", [*SATURATED, *(pytest.param(name, marks=pytest.mark.long) for name in MANY)]
)  # fmt: skip
def test_a_sender_that_always_has_packets_gets_the_sum_of_the_trace(run, tmp_path, name):
    """Within 0.5 % and the packets at either end: UDP above all rates, with packets 20 bytes shorter than full ones."""
    times, step_ms = (SATURATED | MANY)[name]
    (tmp_path / "link.trace").write_text("".join(f"{at}\n" for at in times))
    keys = {"file": "link.trace", "format": "mahimahi", "direction": "forward", "sha256": None, "period_ms": None}
    trace = completed_trace(keys | {"step_ms": step_ms, "rates_mbps": None}, str(tmp_path / "s.yaml"))
    traffic = UDP | {"block_bytes": 1452, "bitrate_mbps": 30, "duration_s": 10}
    document = run(link=LINK | {"trace": trace | {"file": None}}, traffic=traffic, queue={"packets": 200})
    period_ns, rate_mbps = times[-1] * 1_000_000, len(times) * 1514 * 8 / times[-1] / 1e3
    first, *later = [entry for entry in document["timeline"] if entry["at_ns"] >= 1_500_000_000] or [None]
    if first is None:
        # One rate: what arrived in the seconds that the receiver saw whole.
        seen = [one["sum"] for one in document["traffic"][0]["server"]["intervals"]][2:-2]
        assert sum(one["bytes"] for one in seen) * 8 / sum(one["seconds"] for one in seen) / 1e6 == pytest.approx(
            rate_mbps * 1452 / 1494, rel=0.005
        )
        return
    # Of the later changes one that is nearest to whole periods behind the first, the last of these.
    last = min(
        reversed(later[len(later) // 2 :]),
        key=lambda one: abs((one["at_ns"] - first["at_ns"] + period_ns // 2) % period_ns - period_ns // 2) > 2_000_000,
    )
    passed = last["devices"]["r1-eth1"]["bytes"] - first["devices"]["r1-eth1"]["bytes"]
    offered = rate_mbps * (last["at_ns"] - first["at_ns"]) / 8e3
    assert passed == pytest.approx(offered, rel=0.005, abs=3 * 1514)
