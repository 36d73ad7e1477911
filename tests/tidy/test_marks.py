"""Drops, marks, and the arrival and echo of marks: columns of runs and flows, from documents with known counters."""

import copy
import json

import pytest

from experiment.disciplines import completed
from experiment.specification import RunSpecification
from run_tables.marks import marks_of_flows, marks_of_run
from run_tables.queue_sizes import discipline_columns, parameter_words
from testbed.checks.mark_checks import check_ecn, check_marks

CODEL = {"drops": 7, "marks": 40, "overflow_drops": 2, "backlog_packets": 3}


@pytest.fixture
def document(recorded):
    """A recorded drop-tail run, changed into one of CoDel with ECN: 40 marks, of which 37 arrived and 3 wait."""
    made = copy.deepcopy(recorded("lossy-reno-ipv4"))
    scenario = made["specification"]["scenario"]
    scenario["queue"] = completed({"discipline": "codel", "ecn": True})
    scenario["transport"]["ecn"] = "classic"
    for when, counted in (("before", dict.fromkeys(CODEL, 0)), ("after", CODEL)):
        for name in ("r1-eth1", "r2-eth1"):
            queue = counted if name == "r1-eth1" else dict.fromkeys(CODEL, 0)
            made["links"][when][name]["qdiscs"] = {"htb": {"drops": 7, "backlog_packets": 3}, "codel": queue}
        for queues in made["links"][when].values():
            for kind in queues["qdiscs"].values():
                kind["backlog_packets"] = kind["backlog_packets"] if "marks" in kind else 0
                kind["drops"] = kind["drops"] if "marks" in kind else 0
    counters = made["stack"]["tcp"]
    for host, arrived in (("h1", 0), ("h2", 37)):
        counters[host] |= {"IpExtInCEPkts": arrived, "Ip6InCEPkts": 0, "TcpExtTCPDeliveredCE": 90}
    for look in made["sockets"]:
        for socket in look["sockets"]:
            socket |= {"ecn": "classic", "delivered_ce_packets": 21, "received_ce_packets": 9}
    return made


def test_marks_drops_and_echoes_are_columns(document):
    assert marks_of_run(document) == {"queue_marks": 40, "overflow_drops": 2, "ce_received": 37, "ce_echoed": 90}
    flows = document["specification"]["scenario"]["flows"]
    columns = {"ecn_observed": "classic", "ce_received": 9, "ce_echoed": 21}
    assert marks_of_flows(document) == dict.fromkeys(range(flows), columns)


def test_drop_tail_without_ecn_has_none_of_them(recorded):
    document = recorded("lossy-reno-ipv4")
    assert set(marks_of_run(document).values()) == {None}
    assert {value for flow in marks_of_flows(document).values() for value in flow.values()} == {None}
    assert discipline_columns(document["specification"]["scenario"]) == {"discipline": "drop-tail", "ecn": "off"}


def test_parameters_are_written_as_in_a_study():
    queue = completed({"discipline": "codel", "target_ms": 7.5})
    assert parameter_words(queue) == "target_ms 7.5, interval_ms 100, ecn false, ce_threshold_ms null"
    assert parameter_words(queue, all_of_them=False) == "target_ms 7.5"
    assert parameter_words({"packets": 3}) == ""


@pytest.mark.parametrize(("arrived", "ok"), [(36, False), (37, True), (40, True), (41, False)])
def test_marks_must_arrive_or_wait(document, arrived, ok):
    document["stack"]["tcp"]["h2"]["IpExtInCEPkts"] = arrived
    check = check_marks(RunSpecification(document["specification"]), document)
    assert check.ok is ok, json.dumps(check.observed)


def test_nothing_is_marked_without_ecn(document):
    document["specification"]["scenario"]["transport"].pop("ecn")
    assert not check_marks(RunSpecification(document["specification"]), document).ok


def test_a_connection_that_fell_back_fails_the_run(document):
    specification = RunSpecification(document["specification"])
    assert check_ecn(specification, document).ok
    document["sockets"][-1]["sockets"][0]["ecn"] = "off"
    assert not check_ecn(specification, document).ok


def test_a_packet_that_two_rules_mark_counts_twice(document):
    """33 of 40 marks arrived and 3 wait: 4 packets had two marks, if that many came from the threshold."""
    document["stack"]["tcp"]["h2"]["IpExtInCEPkts"] = 33
    queue = document["links"]["after"]["r1-eth1"]["qdiscs"]["codel"]
    for of_threshold, ok in ((0, False), (3, False), (4, True), (37, False), (36, True)):
        queue["counted"] = {"ce_mark": of_threshold}
        assert check_marks(RunSpecification(document["specification"]), document).ok is ok, of_threshold
