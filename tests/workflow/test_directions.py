"""A path whose directions differ in rate, queue and trace, verified by the probe, by counters and by theory."""

import pytest

from experiment.specification import RunSpecification
from run_tables.group_metrics import groups_of_run
from run_tables.tidy_rows import factors, rows_of_run
from study_files import study as studies
from study_files.study import StudyError
from testbed.checks.flow_checks import check_goodput_ceiling

LINK = {"rate_mbps": 50, "delay_ms": {"forward": 10, "reverse": 10}}


def resolved(link, defaults=None):
    study = {
        "study": "s",
        "ccas": ["reno"],
        "scenarios": [{"id": "a", "link": link}],
        "defaults": {"link": defaults or {}},
    }
    return studies.resolve(study, "s.yaml")["scenarios"][0]["link"]


def test_one_rate_is_both_directions_and_two_are_two_keys():
    assert resolved({"rate_mbps": {"forward": 50, "reverse": 10}})["reverse_rate_mbps"] == 10
    assert resolved({"rate_mbps": 50})["reverse_rate_mbps"] is None
    # A scenario's one rate is that of both, whatever the defaults have; a separate key stays.
    assert resolved({"rate_mbps": 20}, {"rate_mbps": {"forward": 50, "reverse": 10}})["reverse_rate_mbps"] is None
    assert resolved({"rate_mbps": 20}, {"reverse_rate_mbps": 10})["reverse_rate_mbps"] == 10
    assert resolved({}, {"rate_mbps": {"forward": 50, "reverse": 10}})["rate_mbps"] == 50


def test_a_trace_has_the_direction_of_its_key():
    trace = {"rates_mbps": [1, 2], "direction": "reverse"}
    assert resolved({"reverse_trace": {"rates_mbps": [1, 2]}})["reverse_trace"]["direction"] == "reverse"
    assert resolved({}, {"reverse_trace": {"rates_mbps": [1, 2]}})["reverse_trace"]["direction"] == "reverse"
    assert resolved({"trace": {"reverse": trace}})["reverse_trace"]["direction"] == "reverse"


@pytest.mark.parametrize(
    "link, sentence",
    [
        ({"rate_mbps": {"forward": 50}}, "link.rate_mbps has only forward; allowed: both forward and reverse, or one value for both."),
        ({"trace": {"forward": {"rates_mbps": [1], "direction": "reverse"}}}, 'link.trace.forward.direction is "reverse"; allowed: forward, or no direction.'),
        ({"reverse_trace": {"rates_mbps": [1], "direction": "both"}}, "link.reverse_trace.direction is both; allowed: reverse."),
        ({"rate_mbps": {"forward": 50, "reverse": 0}}, "link.reverse_rate_mbps is 0; allowed: a number from 0.01"),
        ({"rate_mbps": {"forward": 50, "reverse": "x"}}, 'link.reverse_rate_mbps is "x"; allowed: a number from 0.01'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_direction_is_said_of_its_key(link, sentence):
    with pytest.raises(StudyError, match="scenarios") as raised:
        resolved(link)
    assert f"scenarios[a].{sentence}" in str(raised.value)


def test_each_direction_has_its_rate_and_its_queue(run):
    """A BDP of 50 Mbit/s and 20 ms is 83 packets, one of 2 Mbit/s is 4; the probe measures the theoretical time of a packet."""
    document = run(link=LINK | {"reverse_rate_mbps": 2}, queue={"bdp": 1})
    seen = {one["direction"]: one for one in document["probe"]["bottlenecks"]}
    assert seen["forward"]["gap_ns"] == pytest.approx(1514 * 8e3 / 50, abs=3)
    assert seen["reverse"]["gap_ns"] == pytest.approx(1514 * 8e3 / 2, abs=50)
    assert (seen["forward"]["waiting_packets"], seen["reverse"]["waiting_packets"]) == (83, 4)


def test_acknowledgements_at_their_rate_bound_what_they_acknowledge(run):
    """A reverse path of 0.2 Mbit/s carries 379 acknowledgements of 66 bytes per second, each for as many segments as the receiver counts;
    the window limits nothing."""
    document = run(
        cca="reno", link=LINK | {"reverse_rate_mbps": 0.2}, queue={"packets": 2000}, traffic={"duration_s": 12},
        transport={"receive_buffer_bytes": 200_000},
    )  # fmt: skip
    assert document["links"]["after"]["r2-eth1"]["qdiscs"]["pfifo"]["drops"] == 0
    received = [one["sum"]["bits_per_second"] / 1e6 for one in document["traffic"][0]["server"]["intervals"][5:11]]
    tcp = document["stack"]["tcp"]["h2"]
    segments = tcp["TcpInSegs"] / tcp["TcpOutSegs"]
    assert 1 <= segments < 2.1
    assert sum(received) / len(received) == pytest.approx(0.2e6 / 8 / 66 * segments * 1448 * 8 / 1e6, rel=0.08)


def test_two_traces_are_carried_out_at_once(run):
    """Each direction's shaper passes what its own trace offers, and no more."""
    trace = {"file": None, "format": "csv", "step_ms": 100, "sha256": None, "period_ms": None}
    link = LINK | {
        "trace": trace | {"direction": "forward", "rates_mbps": [10, 20]},
        "reverse_trace": trace | {"direction": "reverse", "rates_mbps": [5, 1, 3]},
    }
    document = run(link=link, traffic={"duration_s": 3})
    changed = {(one["direction"], one["at_ns"]) for one in document["timeline"] if one["kind"] == "trace"}
    assert (
        len({at for way, at in changed if way == "forward"}) > 20 < len({at for way, at in changed if way == "reverse"})
    )
    end = document["traffic"][0]["server"]["end"]["sum_received"]
    assert 11 < end["bits_per_second"] / 1e6 < 15 * 1448 / 1514


@pytest.mark.parametrize("distribution, longest", [("normal", 4), ("pareto", 4)])
def test_jitter_is_drawn_from_the_table_that_is_asked_for(run, distribution, longest):
    """Delays from a table exceed the limit of uniformly drawn jitter, but never four times the jitter."""
    link = {"rate_mbps": 20, "delay_ms": {"forward": 60, "reverse": 60}, "jitter_ms": {"forward": 10, "reverse": 0}}
    document = run(link=link | {"jitter_distribution": distribution})
    there, back = document["probe"]["delays"]
    assert (there["direction"], "deviation_ns" in there, "deviation_ns" in back) == ("forward", True, False)
    assert max(there["longest_ns"] - 60e6, 60e6 - there["shortest_ns"]) > 10e6
    assert 60e6 - longest * 10e6 <= there["shortest_ns"] and there["longest_ns"] <= 60e6 + longest * 10e6


def test_three_quarters_may_be_late_as_netem_has_it(run):
    """`reorder 25%` of netem sends a quarter at once."""
    late = {"percent": 75, "late_ms": 5, "direction": "forward"}
    document = run(link={"rate_mbps": 20, "delay_ms": {"forward": 20, "reverse": 20}, "reordering": late})
    netem = document["network"]["read_back"]["interfaces"]["r2-in1"]["qdiscs"]["netem"]
    assert (netem["at_once_percent"], netem["delay_ms"]) == (25, 5)


def test_cakes_filter_drops_acknowledgements_that_wait(run):
    """On a reverse path of 0.2 Mbit/s CAKE with its filter drops acknowledgements, and more data arrive than without it."""
    received = []
    for on in (False, True):
        queue = {
            "discipline": "cake",
            "bytes": 200_000,
            "rtt_ms": 100,
            "isolation": "triple-isolate",
            "tins": "diffserv3",
            "ack_filter": on,
        }
        document = run(link=LINK | {"reverse_rate_mbps": 0.2}, queue=queue, traffic={"duration_s": 8})
        received.append(document["traffic"][0]["server"]["end"]["sum_received"]["bytes"])
        drops = document["links"]["after"]["r2-eth1"]["qdiscs"]["cake"]["drops"]
    assert received[1] > 1.5 * received[0] and drops > 500


GROUP = {
    "application": "iperf3", "cca": "own", "pair": None, "ecn": None, "start_s": 0, "stop_s": 6, "rate_mbps": None, "on_s": None, "off_s": None,
    "arrivals_per_s": None, "sizes": "main-object", "bytes": None, "packet_bytes": 200, "interval_ms": 20,
}  # fmt: skip


def both_ways(run, **changes):
    groups = [GROUP | {"name": "down", "count": 2}, GROUP | {"name": "up", "count": 2, "direction": "reverse"}]
    call = GROUP | {"name": "call", "application": "real-time", "count": 1, "direction": "reverse", "stop_s": 5}
    return run(**({"link": LINK, "flows": 4, "groups": [*groups, call], "traffic": {"duration_s": 6}} | changes))


def test_flows_of_both_directions_share_nothing_but_their_acknowledgements(run):
    """Each direction's flows fill their own bottleneck, between separate hosts; flows in a document state their direction, and the run's
    columns are those of the first."""
    document = both_ways(run, link=LINK | {"reverse_rate_mbps": 10})
    row, flows, _, _ = rows_of_run(document, "both", "0" * 64)
    assert [flow["direction"] for flow in flows] == ["forward", "forward", "reverse", "reverse"]
    down, up = (
        sum(flow["goodput_lifetime_mbps"] for flow in flows if flow["direction"] == way)
        for way in ("forward", "reverse")
    )
    assert 0.2 * 50 < down < 50 * 1448 / 1514 and 0.8 * 10 < up < 10 * 1448 / 1514
    assert (row["flows"], row["flows_under_test"], row["pairs"]) == (4, 2, 2)
    assert row["goodput_mbps"] == pytest.approx(down, rel=0.02)
    looks = {(socket["flow"], socket["host"]) for look in document["sockets"] for socket in look["sockets"]}
    assert looks == {(0, "h1"), (1, "h1"), (2, "h3"), (3, "h3")}
    # h3 is behind r2: what it sends passes r2's queue, and the packets of the call with it.
    assert document["links"]["after"]["r2-eth1"]["qdiscs"]["htb"]["packets"] > 6 * 10e6 / 8 / 1514 * 0.8
    ((delays,),) = [group["delay_ns"] for group in document["real_time"]]
    assert min(delay for delay in delays if delay) >= 10e6


def test_objects_come_in_reverse_as_on_an_empty_path_of_that_direction(run):
    """Each object is alone on the 10 Mbit/s of the reverse path, from a server behind r2, so packets and windows determine its completion
    time."""
    web = GROUP | {
        "application": "web", "count": 1, "stop_s": None, "direction": "reverse", "cca": "reno", "sizes": "fixed",
    }  # fmt: skip
    sizes = (10_000, 60_000)
    groups = [web | {"name": f"up{size}", "bytes": size, "start_s": 1 + number} for number, size in enumerate(sizes)]
    document = run(link=LINK | {"reverse_rate_mbps": 10}, flows=0, groups=groups, traffic={"duration_s": 6})
    objects = groups_of_run(document, factors(document))[1].to_pylist()
    assert [row["bytes"] for row in objects] == list(sizes)
    for row in objects:
        assert row["completion_ms"] == pytest.approx(row["ideal_ms"], abs=0.05)
    assert document["links"]["after"]["r2-eth1"]["qdiscs"]["htb"]["packets"] > sum(sizes) / 1448


def test_more_than_a_direction_carries_is_noticed_in_it(run):
    """The same document with the bytes of an upload doubled fails the check, which names the direction."""
    document = both_ways(run)
    specification = RunSpecification(document["specification"])
    assert check_goodput_ceiling(specification, document).ok
    for flow in document["delivered"]["flows"][2:]:
        flow["bytes"] = [count and 2 * count for count in flow["bytes"]]
    check = check_goodput_ceiling(specification, document)
    assert not check.ok and "forward" in check.observed and "reverse" in check.observed


def test_where_data_may_not_go_in_reverse_it_is_said():
    def problems(**scenario):
        groups = [
            {"name": "down", "stop_s": 10},
            {"name": "up", "stop_s": 10, "direction": "reverse"} | scenario.pop("up", {}),
        ]
        study = {"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a", "flows": groups} | scenario]}
        with pytest.raises(StudyError) as raised:
            studies.resolve(study, "s.yaml")
        return str(raised.value)

    assert "flows has a group with direction reverse; allowed with topology cable: forward" in problems(
        topology="cable"
    )
