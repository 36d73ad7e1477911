"""The balance of datagrams: what iperf3 may miss, and what it may not."""

import pytest

from experiment.specification import RunSpecification
from testbed.checks.datagram_checks import BESIDE, REPEATED, check_datagrams, most_under_way
from testbed.checks.flow_checks import check_goodput_ceiling


@pytest.fixture
def document(recorded):
    return recorded("datagrams-ipv6")


def judged(document):
    return check_datagrams(RunSpecification(document["specification"]), document)


def of_server(document):
    return document["traffic"][0]["server"]["end"]["sum"]


def lose_in_queue(document, count):
    """Simulate a queue that has dropped datagrams that iperf3 reports as lost."""
    for kind in ("htb", "pfifo"):
        document["links"]["after"]["h1-eth0"]["qdiscs"][kind]["drops"] += count
    document["stack"]["tcp"]["h2"]["Udp6InDatagrams"] -= count
    of_server(document)["lost_packets"] += count


def end_early(document, count):
    """Simulate a server that stopped counting before the last datagrams came."""
    of_server(document)["packets"] -= count


def test_as_recorded(document):
    assert judged(document).ok


def test_losses_in_the_queue_are_accounted_for(document):
    lose_in_queue(document, 3000)
    assert judged(document).ok


def test_lost_datagrams_that_the_queue_does_not_know_of(document):
    lose_in_queue(document, 3000)
    document["links"]["after"]["h1-eth0"]["qdiscs"]["htb"]["drops"] = 1000
    document["links"]["after"]["h1-eth0"]["qdiscs"]["pfifo"]["drops"] = 1000
    assert not judged(document).ok


def test_what_the_queue_holds_may_come_after_the_server_has_stopped(document):
    held = most_under_way(RunSpecification(document["specification"]))
    assert held == 1000  # the queue's limit; the cable has no delay
    end_early(document, held)
    assert judged(document).ok
    end_early(document, BESIDE + 1)
    assert not judged(document).ok


def test_more_sent_than_left_the_host(document):
    document["traffic"][0]["client"]["end"]["sum"]["packets"] += 100
    assert not judged(document).ok


def test_openings_are_repeated_where_packets_are_lost(document):
    document["stack"]["tcp"]["h1"]["Udp6OutDatagrams"] += BESIDE + 10
    document["stack"]["tcp"]["h2"]["Udp6InDatagrams"] += BESIDE + 10
    assert not judged(document).ok
    lose_in_queue(document, 10)
    assert judged(document).ok
    document["stack"]["tcp"]["h1"]["Udp6OutDatagrams"] += REPEATED
    assert not judged(document).ok


def test_a_flow_may_get_nothing(document):
    sent = document["traffic"][0]["client"]["end"]["sum"]["packets"]
    lose_in_queue(document, sent)
    of_server(document)["packets"], of_server(document)["lost_packets"] = 0, 0
    assert judged(document).ok


def test_flows_at_different_times_have_no_sum_of_rates(document):
    """Two flows, one after the other, each with the whole link: together they have one link's goodput over both times."""
    document["specification"]["scenario"]["flows"] = 2
    run = RunSpecification(document["specification"])
    each = round(run.goodput_limit_mbps * 1e6 / 8)
    intervals = [{"sum": {"start": n, "end": n + 1, "bytes": size}} for n, size in enumerate((each, each, 1))]
    first = document["traffic"][0]
    first["server"]["intervals"] = intervals
    document["traffic"].append(first | {"flows": [1], "start_offset_ms": 2000.0})
    check = check_goodput_ceiling(run, document)
    assert check.ok, check.observed
    document["traffic"][1]["start_offset_ms"] = 0.0
    assert not check_goodput_ceiling(run, document).ok
