"""The lowest possible RTT: which readings of TCP's RTT a right run may have, and which show a wrong path."""

import math
import random

import pytest

from experiment.specification import RunSpecification
from testbed.checks.network_checks import check_idle_rtt
from testbed.checks.rtt_checks import check_rtt_floor


def passes(document):
    return check_rtt_floor(RunSpecification(document["specification"]), document).ok


def with_rtts(document, path_ms, rtt_ms):
    """Set a document's path RTT, and the shortest RTT that its connections have measured."""
    document["specification"]["scenario"]["link"]["delay_ms"] = {"forward": path_ms / 2, "reverse": path_ms / 2}
    for look in document["sockets"]:
        for socket in look["sockets"]:
            if "rtt_min_ms" in socket:
                socket["rtt_min_ms"] = rtt_ms
    return document


@pytest.mark.parametrize(
    ("path_ms", "rtt_ms", "sound"),
    [(19.6, 19.0, True), (19.6, 18.0, False), (19.6, 19.3, False), (19.6, 19.6, True), (43.9998, 43.0, True), (44.0, 43.0, False)],
)  # fmt: skip
def test_an_rtt_by_timestamps_is_of_whole_milliseconds(recorded, path_ms, rtt_ms, sound):
    """After a loss the kernel uses TCP's timestamps, so it may report 19 for a path of 19.6 ms."""
    assert passes(with_rtts(recorded("lossy-reno-ipv4"), path_ms, rtt_ms)) is sound


@pytest.mark.parametrize(
    ("rtt_ms", "pacing_mbps", "retransmits", "sound"),
    [(37.0, 0.1, 7, True), (37.0, 20.0, 7, False), (37.0, 0.1, 0, False), (37.5, 0.1, 7, False)],
)  # fmt: skip
def test_a_paced_retransmission_may_leave_before_its_timestamp(recorded, rtt_ms, pacing_mbps, retransmits, sound):
    """BBR behind a loss of 50 %: 37 ms on a path of 40. Only TCP's timestamps, after a retransmission, show such an RTT."""
    document = with_rtts(recorded("lossy-reno-ipv4"), 40.0, rtt_ms)
    for look in document["sockets"]:
        for socket in look["sockets"]:
            socket.update(pacing_mbps=pacing_mbps, retransmits=retransmits, cwnd_packets=4, rtt_ms=39.9)
    assert passes(document) is sound


def test_a_connection_may_have_a_minimum_rtt_before_a_smoothed_one(recorded):
    """On slow paths, a reading may come before TCP's first estimate."""
    document = with_rtts(recorded("lossy-reno-ipv4"), 40.0, 40.0)
    for look in document["sockets"]:
        for socket in look["sockets"]:
            socket.update(pacing_mbps=0.1)
            socket.pop("rtt_ms", None)
    assert passes(document)


def test_no_right_rtt_fails_the_floor(recorded):
    """For drawn paths: the difference on a clock of whole ms, whenever the packet left, and the time in whole microseconds."""
    document, draw = recorded("lossy-reno-ipv4"), random.Random(1)
    for _ in range(2000):
        path_ms = round(draw.uniform(1, 300), draw.choice((0, 1, 4)))
        left_ms = draw.random()
        for rtt_ms in (float(math.floor(left_ms + path_ms)), math.floor(path_ms * 1000 + 1e-6) / 1000):
            with_rtts(document, path_ms, rtt_ms)
            assert passes(document), (path_ms, rtt_ms)


@pytest.mark.parametrize(("percent", "sound"), [(99.9999, True), (90, False)])
def test_pings_may_all_be_late_where_nearly_all_packets_are(recorded, percent, sound):
    """With 99.9999 % of the packets late, none of 1,000 pings comes on time; with 90 %, some do."""
    document = recorded("lossy-reno-ipv4")
    run = RunSpecification(document["specification"])
    document["idle_rtt"] = [one | {"received": 1000, "min_ms": run.idle_rtts_ms[0]} for one in document["idle_rtt"]]
    assert check_idle_rtt(run, document).ok
    document["specification"]["scenario"]["link"]["reordering"] = {
        "percent": percent,
        "late_ms": 5,
        "direction": "forward",
    }
    document["idle_rtt"] = [one | {"min_ms": one["min_ms"] + 5} for one in document["idle_rtt"]]
    assert check_idle_rtt(RunSpecification(document["specification"]), document).ok is sound
