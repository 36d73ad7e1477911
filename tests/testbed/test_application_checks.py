"""Checks of UDP, ping-pongs and file transfers: they pass on recorded sound runs, and fail on runs with a planted error."""

import pytest

from experiment.specification import RunSpecification
from testbed.checks.verification import checks_of, judge

RECORDED = ("datagrams-ipv6", "exchanges-ipv4", "transfer-ipv4")


def failed(document):
    """Return the names of the failed checks of a document."""
    return [
        check["name"]
        for check in judge(RunSpecification(document["specification"]), document)["checks"]
        if not check["ok"]
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_runs_pass_all_checks(recorded, name):
    document = recorded(name)
    assert failed(document) == []
    assert len(document["verdict"]["checks"]) == len(checks_of(RunSpecification(document["specification"])))


def test_what_an_application_does_not_have_is_not_checked(recorded):
    names = {name: {check["name"] for check in recorded(name)["verdict"]["checks"]} for name in RECORDED}
    assert not {"cca", "segment_size", "rtt_floor", "series"} & names["datagrams-ipv6"]
    assert not {"cca", "streams", "goodput_ceiling"} & names["exchanges-ipv4"]
    assert {"cca", "segment_size", "transfer", "goodput_ceiling"} < names["transfer-ipv4"]


def end(document, side="server"):
    return document["traffic"][0][side]["end"]


def too_few_messages(document):
    end(document, "client")["sum"]["bytes"] = 4999 * 640


def datagrams_that_nobody_knows_of(document):
    end(document, "client")["sum"]["packets"] += 100


def nothing_sent(document):
    document["traffic"][0]["client"]["end"]["sum"]["packets"] = 0


def faster_than_the_cable(document):
    document["traffic"][0]["server"]["intervals"][0]["sum"]["bytes"] *= 1.02


def a_few_exchanges(document):
    document["traffic"][0]["round_trip"]["exchanges"] = 99


def exchanges_of_another_size(document):
    document["traffic"][0]["round_trip"]["message_bytes"] = 895


def half_a_file(document):
    document["traffic"][0]["transfer"]["bytes"] //= 2


def a_file_faster_than_the_cable(document):
    document["traffic"][0]["transfer"]["seconds"] *= 0.99


def arrivals_past_the_ifb(document):
    document["network"]["read_back"]["interfaces"]["h2-in0"]["arrivals_of"] = None


def another_serialisation(document):
    document["network"]["read_back"]["interfaces"]["h2-in0"]["qdiscs"]["netem"]["rate_bps"] = 10**9


def no_frame_overhead(document):
    document["network"]["read_back"]["interfaces"]["h1-eth0"]["qdiscs"]["htb"]["overhead_bytes"] = 0


def super_packets(document):
    document["network"]["read_back"]["interfaces"]["h1-eth0"]["gso_max_segs"] = 44


def fq_at_the_sender(document):
    document["network"]["read_back"]["interfaces"]["h1-eth0"]["qdiscs"]["fq"] = {}


def an_idle_cable_without_serialisation(document):
    document["idle_rtt"][0]["min_ms"] = 0.005


CORRUPTIONS = [
    ("datagrams-ipv6", "messages", too_few_messages),
    ("datagrams-ipv6", "datagrams", datagrams_that_nobody_knows_of),
    ("datagrams-ipv6", "streams", nothing_sent),
    ("datagrams-ipv6", "goodput_ceiling", faster_than_the_cable),
    ("exchanges-ipv4", "exchanges", a_few_exchanges),
    ("exchanges-ipv4", "exchanges", exchanges_of_another_size),
    ("transfer-ipv4", "transfer", half_a_file),
    ("transfer-ipv4", "goodput_ceiling", a_file_faster_than_the_cable),
    ("transfer-ipv4", "pacing", fq_at_the_sender),
    *((name, "qdiscs", arrivals_past_the_ifb) for name in RECORDED),
    *((name, "qdiscs", another_serialisation) for name in RECORDED),
    *((name, "qdiscs", no_frame_overhead) for name in RECORDED),
    *((name, "offloads", super_packets) for name in RECORDED),
    *((name, "idle_rtt", an_idle_cable_without_serialisation) for name in RECORDED),
]


@pytest.mark.parametrize(("name", "check", "corrupt"), CORRUPTIONS)
def test_each_check_fails_on_what_it_is_for(recorded, name, check, corrupt):
    document = recorded(name)
    corrupt(document)
    assert check in failed(document)
