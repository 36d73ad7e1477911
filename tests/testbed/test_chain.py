"""A chain follows its specification, and its checks fail on documents with errors."""

import copy

import pytest

from experiment.specification import RunSpecification
from study_files import study as studies
from testbed.checks import chain_verification
from testbed.network.addresses import chain_addresses, chain_routes


def specification(**changes):
    """Return a chain of three bottlenecks: two long flows, and two cross flows over each."""
    own = [
        {"rate_mbps": 10, "delay_ms": 3},
        {"rate_mbps": 5},
        {"rate_mbps": 8, "delay_ms": {"forward": 7, "reverse": 2}},
    ]
    scenario = {
        "id": "a", "topology": "chain", "flows": 2, "chain": {"bottlenecks": own, "cross_flows": 2, "cross_cca": "cubic"},
        "hosts": {"access_delay_ms": [0, 1, 2, 5]}, "link": {"delay_ms": 10},
    }  # fmt: skip
    study = studies.resolve({"study": "small", "ccas": ["reno"], "scenarios": [scenario | changes]}, "small.yaml")
    return RunSpecification(studies.run_specification(study, "a", "reno", "ipv4", 1))


def test_flows_have_their_bottlenecks_hosts_and_ccas():
    run = specification()
    assert (run.flows, run.end_to_end_flows) == (8, 2)
    assert [(p.sender, p.receiver, p.first_hop, p.hops) for p in run.pairs] == [
        ("h1", "h2", 1, 3), ("h3", "h4", 1, 1), ("h5", "h6", 2, 1), ("h7", "h8", 3, 1),
    ]  # fmt: skip
    assert [run.flow_pair(flow).sender for flow in range(8)] == ["h1", "h1", "h3", "h3", "h5", "h5", "h7", "h7"]
    assert [run.flows_through(number) for number in (1, 2, 3)] == [[0, 1, 2, 3], [0, 1, 4, 5], [0, 1, 6, 7]]
    assert [run.flow_cca(flow) for flow in range(8)] == ["reno"] * 2 + ["cubic"] * 6


def test_round_trip_times_are_sums_of_what_is_passed():
    run = specification()
    assert [pair.rtt_ms for pair in run.pairs] == [6 + 20 + 9, 6 + 4, 20 + 8, 9 + 20]
    assert run.idle_rtts_ms == [pair.rtt_ms for pair in run.pairs]
    # An echo of 98 bytes takes its length over each rate, both ways.
    serialised = specification(link={"delay_ms": 10, "serialisation": "virtual-clock"})
    on_wire = [2 * 98 * 8 / rate / 1e3 for rate in (10, 5, 8)]
    expected = [35 + sum(on_wire), 10 + on_wire[0], 28 + on_wire[1], 29 + on_wire[2]]
    assert serialised.idle_rtts_ms == pytest.approx(expected, abs=1e-12)


def test_a_bottleneck_is_the_dumbbell_of_its_flows():
    run = specification(queue={"bdp": 1})
    second = run.bottlenecks[1]
    assert [pair.rtt_ms for pair in second.pairs] == [35, 28]
    assert second.bdp_bytes == pytest.approx(5e6 / 8 * (35 + 28) / 2 / 1e3)
    assert second.queue_packets == 14  # 19,687.5 bytes are 13.004 packets of 1,514
    assert (second.flows, second.goodput_limit_mbps) == (4, pytest.approx(5 * 1448 / 1514))
    assert run.narrowest is second
    assert (run.rate_mbps, run.queue_packets, run.goodput_limit_mbps) == (5, 14, None)


def test_all_interfaces_have_addresses_and_all_networks_routes():
    run = specification()
    planned = chain_addresses(run)
    between = {f"r{number}-right" for number in (1, 2, 3)} | {f"r{number}-left" for number in (2, 3, 4)}
    hosts = {f"h{number}-eth0" for number in range(1, 9)}
    assert set(planned) == between | hosts | {
        "r1-eth0", "r4-eth0", "r1-eth2", "r2-eth2", "r2-eth3", "r3-eth3", "r3-eth4", "r4-eth4",
    }  # fmt: skip
    assert len({address for both in planned.values() for address in both.values()}) == 2 * len(planned)
    assert planned["r2-left"] == {"ipv4": "10.0.12.2", "ipv6": "2001:db8:12::2"}
    routes = chain_routes(run)
    # r2 is on the way of the long flows and at an end of two others.
    assert [str(route) for route in routes["r2"] if "db8" not in route.network] == [
        "route 10.1.1.0/24 via 10.0.12.1", "route 10.2.1.0/24 via 10.0.23.2",
        "route 10.1.2.0/24 via 10.0.12.1", "route 10.2.3.0/24 via 10.0.23.2",
    ]  # fmt: skip


def counts(packets, drops=0, waiting=0, kind="htb", marks=0):
    return {
        "tx_packets": packets, "rx_packets": packets,
        "qdiscs": {kind: {"packets": packets, "drops": drops, "backlog_packets": waiting, "marks": marks}},
    }  # fmt: skip


@pytest.fixture
def document():
    """Counters of a chain of two bottlenecks without loss: 100 long packets, 50 over the first alone, 30 over the second."""
    before = {
        name: counts(0)
        for name in ("r1-right", "r2-left", "r2-right", "r3-left", "h1-eth0", "h2-eth0", "h3-eth0", "h4-eth0", "h5-eth0", "h6-eth0",
                     "r1-eth0", "r1-eth2", "r2-eth2", "r2-eth3", "r3-eth0", "r3-eth3", "r2-in-left", "r1-in-right", "r3-in-left", "r2-in-right")
    }  # fmt: skip
    after = copy.deepcopy(before)
    sent = {"h1-eth0": 100, "h3-eth0": 50, "h5-eth0": 30, "r2-in-left": 145, "r2-eth2": 48, "r3-in-left": 120}
    after |= {name: counts(packets) for name, packets in sent.items()}
    after["r1-right"], after["r2-right"] = counts(145, drops=3, waiting=2), counts(120, drops=7)
    netem = {"forward": ["r2-in-left", "r3-in-left"], "reverse": ["r1-in-right", "r2-in-right"]}
    own = {f"h{number}": {"Ip6OutMcastPkts": 4} for number in range(1, 7)}
    return {"links": {"before": before, "after": after}, "network": {"set": {"netem": netem}}, "stack": {"tcp": own}}


def test_packets_that_vanish_between_queues_are_found(document):
    run = specification(chain={"bottlenecks": 2}, hosts={"access_delay_ms": 0}, flows=1)
    check = chain_verification.check_conservation(run, document)
    assert check.ok, check.observed
    assert check.observed == "bottleneck 1: forward +0, reverse +0; bottleneck 2: forward +0, reverse +0"
    document["links"]["after"]["r2-right"] = counts(100, drops=7)
    check = chain_verification.check_conservation(run, document)
    assert not check.ok and "bottleneck 2: forward +20" in check.observed


def test_loss_is_judged_behind_each_bottleneck(document):
    run = specification(
        chain={"bottlenecks": 2}, hosts={"access_delay_ms": 0}, flows=1,
        link={"delay_ms": 10, "loss_percent": {"forward": 1, "reverse": 0}},
    )  # fmt: skip
    after = document["links"]["after"]
    for name in ("r2-in-left", "r3-in-left", "r1-in-right", "r2-in-right"):
        document["links"]["before"][name] = counts(0, kind="netem")
        after[name] = counts(100_000, drops=1010 if "left" in name else 0, kind="netem")
    assert chain_verification.check_losses_forward(run, document).ok
    assert chain_verification.check_losses_reverse(run, document).ok
    # Together they would be right.
    after["r2-in-left"], after["r3-in-left"] = counts(100_000, 2020, kind="netem"), counts(100_000, 0, kind="netem")
    assert not chain_verification.check_losses_forward(run, document).ok


def test_marks_are_judged_at_each_bottleneck(document):
    queue = {"discipline": "codel", "packets": 100, "ecn": True}
    run = specification(
        chain={"bottlenecks": 2}, hosts={"access_delay_ms": 0}, flows=1, queue=queue, transport={"ecn": "accurate"}
    )
    after = document["links"]["after"]
    for name, marks in (("r1-right", 20), ("r2-right", 10), ("r2-left", 0), ("r3-left", 0)):
        after[name] = counts(200, kind="codel", marks=marks)
    after |= {name: counts(200, kind="netem") for name in ("r2-in-left", "r3-in-left", "r1-in-right", "r2-in-right")}
    ce = {"h2": 18, "h4": 5, "h6": 4}  # two of the long flow's were marked twice
    hosts = [host for pair in run.pairs for host in (pair.sender, pair.receiver)]
    document["stack"] = {"tcp": {host: {"IpExtInCEPkts": ce.get(host, 0)} for host in hosts}}
    assert chain_verification.check_marks_of_each(run, document).ok
    # Fewer of the first bottleneck's 20 marks arrived.
    document["stack"]["tcp"]["h2"]["IpExtInCEPkts"] = 10
    assert not chain_verification.check_marks_of_each(run, document).ok
    document["stack"]["tcp"]["h2"]["IpExtInCEPkts"] = 40
    assert not chain_verification.check_marks_of_each(run, document).ok
