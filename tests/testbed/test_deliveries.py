"""The times at which deliveries are read, and what follows from two readings: windows and goodputs against sums calculated by hand."""

import pytest

from experiment.specification import RunSpecification
from testbed.readings.deliveries import (
    START_UP,
    common_datagrams,
    common_window,
    delivered_bytes,
    reading_times_ns,
    separate_datagrams,
    windows,
)

TIMES_NS = [0, 10, 20, 30, 40, 50]


def delivered(*flows):
    return {"time_ns": TIMES_NS, "flows": [{"flow": n, "bytes": counts} for n, counts in enumerate(flows)]}


def test_the_window_is_that_of_all_flows():
    window = common_window(delivered([None, 37, 1037, 2037, 3037, 4037], [37, 537, 1037, 1537, 2037, None]))
    # At 10 ns the first flow has only said who it is; at 50 ns the second has ended.
    assert (window.begin_ns, window.end_ns) == (20, 40)
    assert window.delivered_bytes == {0: 2000, 1: 1000}
    assert window.goodput_mbps(0) == 2000 * 8 / 20e-9 / 1e6


def test_start_up_is_the_windows_first_quarter():
    window = common_window(delivered([0, 100, 200, 300, 600, 1000]), START_UP)
    assert (window.begin_ns, window.end_ns, window.delivered_bytes) == (20, 50, {0: 800})


@pytest.mark.parametrize("counts", [[0] * 6, [None] * 6, [0, 0, 0, 0, 0, 99]])
def test_without_two_readings_there_is_no_window(counts):
    assert common_window(delivered(counts)) is None


def test_a_flow_that_others_starve_has_a_goodput_of_nothing():
    window = common_window(delivered([0, 100, 200, 300, 400, 500], [0] * 6))
    assert (window.begin_ns, window.delivered_bytes) == (10, {0: 400, 1: 0})


def test_what_was_acknowledged_selectively_was_delivered():
    assert delivered_bytes({"bytes_acked": 5000, "sacked_packets": 3, "mss_bytes": 1448}) == 9344
    assert delivered_bytes({"bytes_acked": 5000}) == 5000  # of MPTCP's connection
    assert delivered_bytes({"bytes_acked": None}) is None


def test_a_flow_that_began_when_others_had_ended_got_nothing_in_their_time():
    early, late = [0, 100, 200, 300, None, None], [None, None, None, None, 100, 200]
    window = common_window(delivered(early, late), same_times=True)
    assert (window.begin_ns, window.end_ns, window.delivered_bytes) == (10, 30, {0: 200, 1: 0})
    # Flows that were to send one after the other have no time in common.
    assert common_window(delivered(early, late)) is None


def datagrams(*flows):
    """Return a document of UDP flows, each with its offset in ms and the bytes of its intervals of 1 s."""
    return [
        {
            "flows": [number],
            "start_offset_ms": offset_ms,
            "server": {
                "intervals": [
                    {"sum": {"start": n, "end": n + 1, "bytes": size}} for n, size in enumerate([*sizes, 1, 0])
                ]
            },
        }
        for number, (offset_ms, sizes) in enumerate(flows)
    ]


def test_flows_of_udp_are_compared_over_the_same_time():
    # The first is alone for half a second and has all of the link; the second has all of it when the first has ended.
    document = {"traffic": datagrams((0, [1000, 500, 500]), (500, [500, 500, 1000]))}
    of_flows = common_datagrams(document)
    assert {(window.begin_ns, window.end_ns) for window in of_flows.values()} == {(500_000_000, 3_000_000_000)}
    assert of_flows[0].delivered_bytes == {0: 1500, 1: 1500}
    assert set(common_datagrams(document, START_UP)) == {0, 1}


def test_a_flow_of_udp_that_got_nothing_has_a_goodput_of_nothing():
    document = {"traffic": datagrams((0, [1000, 1000]), (0, [0, 0]))}
    document["traffic"][1]["server"]["intervals"] = []
    assert common_datagrams(document)[1].goodput_mbps(1) == 0


def test_flows_of_udp_that_began_at_unknown_times_are_each_of_their_own():
    """The first interval with data may be incomplete; a flow that received nothing has a time nevertheless."""
    document = {"traffic": datagrams((0, [0, 600, 1000, 1000]), (0, [1000] * 4), (0, [0, 0]))}
    document["traffic"][2]["server"]["intervals"] = []
    of_flows = separate_datagrams(document)
    assert [of_flows[flow].goodput_mbps(flow) for flow in range(3)] == [0.008, 0.008, 0]
    assert of_flows[0].begin_ns == 2_000_000_000


@pytest.fixture
def specification(recorded):
    return RunSpecification(recorded("lossy-reno-ipv4")["specification"])


def test_readings_lie_between_the_last_begin_and_the_first_end(specification):
    times_s = [at / 1e9 for at in reading_times_ns([0.0, 0.5], 4, specification)]
    rtt_s = specification.rtt_longest_ms / 1e3
    assert times_s[0] == pytest.approx(0.5 + 4 * rtt_s)
    assert times_s[-1] == pytest.approx(3 * rtt_s + specification.expected_s)
    assert times_s == sorted(set(times_s))
    assert times_s[1] - times_s[0] == pytest.approx(rtt_s / 2)
    assert (
        max(later - earlier for earlier, later in zip(times_s, times_s[1:], strict=False))
        < specification.expected_s / 39
    )


def test_flows_that_are_never_side_by_side_are_not_read(specification):
    assert reading_times_ns([0.0, specification.expected_s], 4, specification) == []


def test_datagrams_are_counted_in_whole_intervals_while_the_client_was_sending(recorded):
    document = recorded("datagrams-ipv6")
    intervals = [interval["sum"] for interval in document["traffic"][0]["server"]["intervals"]]
    (window,) = windows(document).values()
    assert len(intervals) == 1
    assert window.delivered_bytes == {0: intervals[0]["bytes"]}
    assert window.end_ns - window.begin_ns == round(intervals[0]["end"] * 1e9)
    # Three more: the queue's rest arrives in the last but one, then the server waits for a lost message.
    document["traffic"][0]["server"]["intervals"] += [
        {"sum": {"start": intervals[0]["end"], "end": 2.0, "seconds": 1.0, "bytes": 500_000}},
        {"sum": {"start": 2.0, "end": 3.0, "seconds": 1.0, "bytes": 640}},
        {"sum": {"start": 3.0, "end": 4.0, "seconds": 1.0, "bytes": 0}},
    ]
    (window,) = windows(document).values()
    assert window.delivered_bytes == {0: intervals[0]["bytes"] + 500_000}
    assert window.end_ns - window.begin_ns == 2_000_000_000


def test_applications_without_readings_have_no_window(recorded):
    assert windows(recorded("exchanges-ipv4")) == windows(recorded("transfer-ipv4")) == {}
