"""The capacity of a path at a time, whatever limits it, and the part of it that can be known as delivered in a period."""

import copy
import itertools

import pytest

from changing_run import change
from experiment.specification import RunSpecification

S = 1_000_000_000
MS = 1_000_000


@pytest.fixture
def asked(recorded):
    """A function that returns a lossless run of 10 Mbit/s and an RTT of 30 ms with changed keys of its link and other sections."""
    document = recorded("lossy-reno-ipv4")["specification"]

    def make(cca="reno", flows=1, **sections):
        scenario = copy.deepcopy(document["scenario"]) | {"flows": flows}
        scenario["link"] |= {
            "rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 20}, "loss_percent": {"forward": 0, "reverse": 0},
            "jitter_ms": {"forward": 0, "reverse": 0},
        }  # fmt: skip
        for name, values in sections.items():
            scenario[name] = scenario[name] | values if isinstance(values, dict) else values
        return RunSpecification(document | {"scenario": scenario, "cca": cca})

    return make


def changing(*entries, **link):
    return {"link": {"timeline": list(entries)} | link}


def mbit(value):
    return value * 1e6 / 8


def test_a_link_a_policer_a_timeline_and_an_outage_set_it(asked):
    assert [asked().capacity_in(way).mbps_at(0) for way in ("forward", "reverse")] == [10, 10]
    run = asked(link={"policer": {"rate_mbps": 4, "burst_bytes": 9000}})
    policed = run.capacity
    back = run.capacity_in("reverse")
    assert (policed.mbps_at(5 * S), policed.most_mbps(), back.mbps_at(0)) == (4, 4, 10)
    # The policer's bucket lets nothing more pass of data against it; their acknowledgements pass it when it has room for one, of 114 bytes.
    unpoliced = asked().capacity_in("reverse")
    meanwhile_bytes = 10e6 / 8 * 114 * 8 / 4e6 * 1448 / 1514
    assert back.is_links
    assert back.most_bytes(0, S, [0]) - unpoliced.most_bytes(0, S, [0]) == pytest.approx(meanwhile_bytes)
    run = asked(**changing(change(2, "forward", rate_mbps=1), change(5, "forward", down_for_s=1)))
    stepped = run.capacity
    assert stepped.rates() == [(0, 10), (2 * S, 1), (5 * S, 0), (6 * S, 1)]
    assert stepped.carried_bytes(1 * S, 7 * S) == mbit(10 + 3 + 1)
    assert run.capacity_in("reverse").rates() == [(0, 10)]
    assert (stepped.least_mbps(), stepped.most_mbps()) == (0, 10)


def test_nothing_limits_a_path_without_a_rate(asked):
    for link in ({"rate_mbps": None}, {"rate_mbps": None, "netem": "both-ends"}):
        capacity = asked(link=link).capacity
        assert capacity.is_unlimited()
        assert (capacity.mbps_at(0), capacity.known_bytes(0, S), capacity.most_bytes(0, S)) == (None, None, None)
        assert capacity.share_percent(1000, 0, S) is None
    policed = asked(link={"rate_mbps": None, "policer": {"rate_mbps": 4, "burst_bytes": 9000}}).capacity
    assert policed.mbps_at(0) == 4
    assert policed.carried_bytes(0, S) == mbit(4)


def test_a_trace_sets_the_direction_that_it_is_about(asked):
    """The other direction has 10 Mbit/s."""
    trace = {"file": None, "direction": "forward", "step_ms": 100, "period_ms": None, "rates_mbps": [0, 24]}
    run = asked(link={"trace": trace})
    capacity = run.capacity
    assert capacity.mean_mbps(0, 2 * S) == pytest.approx(12)
    assert run.capacity_in("reverse").mean_mbps(0, 2 * S) == 10
    assert (capacity.least_mbps(), capacity.most_mbps()) == (0, 24)
    policed = asked(link={"trace": trace, "policer": {"rate_mbps": 11, "burst_bytes": 9000}}).capacity
    # What passes the policer while the link stands waits for it.
    assert policed.mean_mbps(0, 2 * S) == pytest.approx(11)
    assert (policed.mbps_at(50 * MS), policed.mbps_at(150 * MS)) == (0, 11)


def test_what_a_sender_hears_of_left_the_bottleneck_a_round_trip_before(asked):
    """The rate is 10 until 2 s and 100 afterwards, with an RTT of 30 ms: of a window that ends at 3 s, 30 ms are still at 10."""
    run = asked(**changing(change(2, rate_mbps=100)))
    share = run.payload_bytes / run.packet_bytes
    assert run.capacity.departures(2 * S, 3 * S) == [(1_970 * MS, 2_970 * MS)]
    assert run.capacity.known_bytes(2 * S, 3 * S) == pytest.approx(mbit(0.03 * 10 + 0.97 * 100) * share)


def test_a_delay_that_changes_changes_the_time_by_which_a_packet_is_known(asked):
    """The forward delay is 10 ms until 2 s, then 60 ms: what left before 2 s is known by 2.03 s, what left later from 2.08 s on."""
    longer = asked(**changing(change(2, "forward", delay_ms=60))).capacity
    assert longer.departures(1 * S, 2_050 * MS) == [(970 * MS, 2 * S)]
    assert longer.departures(2_050 * MS, 3 * S) == [(2 * S, 2_920 * MS)]
    assert (longer.rtt_ms(0), longer.rtt_ms(2 * S), longer.shortest_rtt_ms()) == (30, 80, 30)
    shorter = asked(**changing(change(2, "reverse", delay_ms=5))).capacity
    # What arrived at 2 s or later is known after 5 ms, while 20 ms of what arrived before are still on their way.
    assert shorter.departures(2_005 * MS, 2_020 * MS) == [(1_975 * MS, 1_990 * MS), (1_990 * MS, 2_005 * MS)]
    assert (shorter.rtt_ms(1_989 * MS), shorter.rtt_ms(1_990 * MS), shorter.shortest_rtt_ms()) == (30, 15, 15)


def test_spans_of_departures_are_each_known_once(asked):
    """Whatever changes, consecutive windows cover all departures, none twice."""
    entries = [change(1, delay_ms=70), change(2, "reverse", down_for_s=0.7), change(4, "forward", 2, 100, delay_ms=5)]
    capacity = asked(**changing(*entries, change(7, "reverse", delay_ms=1))).capacity
    edges = [round(at * S) for at in (-1, 0.99, 1.06, 2.05, 2.5, 2.71, 3.3, 4.55, 6.01, 7.004, 9, 12)]
    spans = sorted(span for window in itertools.pairwise(edges) for span in capacity.departures(*window))
    assert all(begin < end for begin, end in spans)
    assert all(end == following for (_, end), (following, _) in itertools.pairwise(spans))


def test_after_an_outage_of_acknowledgements_all_is_known_that_arrived_meanwhile(asked):
    """The reverse path is down from 1 to 2 s: what arrived meanwhile, 10 ms after it left, is known 20 ms after the outage."""
    capacity = asked(**changing(change(1, "reverse", down_for_s=1))).capacity
    assert capacity.departures(1_500 * MS, 2_500 * MS) == [(990 * MS, 1_990 * MS), (1_990 * MS, 2_470 * MS)]
    assert capacity.departures(1_100 * MS, 2_010 * MS) == []


def test_the_share_of_a_full_path_is_100_percent_whatever_the_grain(asked):
    """At 10 kbit/s a packet takes 1.2 s: a window of 10 s has 8.26 packets, and may show 9 or, if one acknowledgement covers two, 10."""
    run = asked(link={"rate_mbps": 0.01})
    capacity, payload = run.capacity, run.payload_bytes
    assert capacity.share_percent(8 * payload, 0, 10 * S) == pytest.approx(100 * 8 * run.packet_bytes * 8 / 1e5)
    assert [capacity.share_percent(count * payload, 0, 10 * S) for count in (9, 10)] == [100, 100]
    # A path that carries more than it may is not hidden.
    assert capacity.share_percent(14 * payload, 0, 10 * S) > 150


def test_old_packets_are_none_of_a_slower_rate(asked):
    """After a step from 100 to 10 Mbit/s at 2 s, a full path's packets of the 30 ms before become known within the window, and are part
    of it."""
    run = asked(**changing(change(2, rate_mbps=10), rate_mbps=100))
    got = mbit(0.03 * 100 + 0.97 * 10) * run.payload_bytes / run.packet_bytes
    assert run.capacity.share_percent(got, 2 * S, 3 * S) == pytest.approx(100)
    assert run.capacity.share_percent(got / 2, 2 * S, 3 * S) == pytest.approx(50)


def test_a_policers_share_is_of_what_it_lets_pass(asked):
    run = asked(link={"rate_mbps": 1000, "policer": {"rate_mbps": 4, "burst_bytes": 50_000}})
    whole = mbit(4) * 10 * run.payload_bytes / run.packet_bytes
    assert run.capacity.share_percent(whole / 2, 0, 10 * S) == pytest.approx(50)
    assert run.capacity.share_percent(whole + 50_000, 0, 10 * S) == 100


def test_a_ceiling_has_room_for_late_packets_of_each_kind(asked):
    plain = asked().capacity
    room = plain.most_bytes(0, S) - plain.known_bytes(0, S)
    # Two that wait for one acknowledgement, with their headers, and one whose selective acknowledgement is delayed for 1.1 ms.
    assert room == pytest.approx(3 * 1514)
    for link in (
        {"ack_slot_ms": 50}, {"jitter_ms": {"forward": 0, "reverse": 25}},
        {"reordering": {"percent": 1, "late_ms": 50, "direction": "forward"}},
    ):  # fmt: skip
        capacity = asked(link=link).capacity
        more = capacity.most_bytes(0, S) - capacity.known_bytes(0, S) - room
        assert more == pytest.approx(mbit(10) * 0.05 * 1448 / 1514)


@pytest.mark.parametrize(
    ("transport", "rate_mbps", "flows", "packets"),
    [
        ({}, 10, 1, 1),
        ({}, 100, 1, 10),
        ({}, 100, 4, 10),
        ({}, 1000, 1, 44),
        ({}, 1000, 2, 88),
        ({}, 1000, 4, 91),
        ({"sack_compression": False}, 1000, 4, 0),
        ({"selective_acks": False}, 1000, 4, 0),
    ],
)
def test_a_ceiling_has_room_for_compressed_selective_acknowledgements(asked, transport, rate_mbps, flows, packets):
    capacity = asked(flows=flows, link={"rate_mbps": rate_mbps}, transport=transport).capacity
    room = capacity.most_bytes(0, S) - capacity.known_bytes(0, S)
    exact = capacity.known_bytes(0, S) * (1514 * 8e3 / rate_mbps / (1514 * 8e3 // rate_mbps) - 1)
    assert room - exact == pytest.approx((2 * flows + packets) * 1514)


def test_a_capacity_is_the_links_where_nothing_else_sets_it(asked):
    assert asked().capacity.is_links and asked(link={"rate_mbps": None}).capacity.is_links
    for link in ({"policer": {"rate_mbps": 20, "burst_bytes": 9000}}, {"timeline": [change(2, rate_mbps=5)]}):
        assert not asked(link=link).capacity.is_links


def test_paths_that_differ_carry_what_each_can(asked):
    own = {
        "path_rate_mbps": [5, 30],
        "path_loss_percent": [1, 0],
        "path_queue_packets": [9, 500],
        "outage": {"path": 2, "at_s": 2, "for_s": 3},
    }
    run = asked(topology="cable", multipath={"paths": 2, "by": "mptcp", "path_delay_ms": [0, 90], **own})
    assert run.capacity.rates() == [(0, 35), (2 * S, 5), (5 * S, 35)]
    assert (run.rate_mbps, run.total_rate_mbps, run.queue_packets) == (5, 35, 500)
    short, long = run.bottlenecks
    assert (short.rate_mbps, short.queue_packets, short.direction("reverse").loss_percent) == (5, 9, 1)
    assert (long.rate_mbps, long.queue_packets, long.direction("forward").loss_percent) == (30, 500, 0)
    assert long.rtt_path_ms - short.rtt_path_ms == 180 and short.bottlenecks == [short]
    assert short.capacity.rates() == [(0, 5)] and long.capacity.rates() == [(0, 30), (2 * S, 0), (5 * S, 30)]


def test_a_queue_in_bdps_is_one_of_each_paths_own_rate_and_rtt(asked):
    run = asked(
        topology="cable",
        queue={"bdp": 1},
        multipath={"paths": 2, "by": "mptcp", "path_delay_ms": [0, 90], "path_rate_mbps": [5, 30]},
    )
    for path in run.bottlenecks:
        bdp_packets = path.rate_mbps * 1e3 / 8 * path.rtt_path_ms / path.packet_bytes
        assert 0 <= path.queue_packets - bdp_packets < 1


def test_a_path_that_is_down_carries_nothing_of_its_part(asked):
    paths = {"paths": 2, "by": "mptcp", "path_delay_ms": [0, 0], "outage": {"path": 2, "at_s": 2, "for_s": 3}}
    run = asked(topology="cable", multipath=paths)
    capacity = run.capacity
    assert capacity.rates() == [(0, 20), (2 * S, 10), (5 * S, 20)] == run.capacity_in("reverse").rates()
    assert capacity.carried_bytes(0, 10 * S) == mbit(20 * 7 + 10 * 3)
