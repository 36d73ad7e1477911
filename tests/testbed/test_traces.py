"""A trace's number of packets, period and mean rate are those that the link offers: for drawn traces, with a model of the shaper."""

import math
import random
from bisect import bisect_right
from itertools import islice, takewhile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from experiment.packet_sizes import PACKET_BYTES
from experiment.timeline import Timeline
from experiment.traces import spans, stretches
from study_files.study_traces import completed_trace

WAYS = {"forward": 10, "reverse": 10}
NOTHING = {"forward": 0, "reverse": 0}
LINK = {"rate_mbps": 10, "delay_ms": WAYS, "loss_percent": NOTHING}
S = 1_000_000_000
KEYS = {"format": "mahimahi", "direction": "forward", "sha256": None, "period_ms": None, "rates_mbps": None}


@st.composite
def opportunities(draw):
    """Draw a trace in Mahimahi's format (steady, bursts in one millisecond, on and off, or next to nothing) and its period."""
    period = draw(st.one_of(st.integers(1, 300), st.integers(300, 5000)))
    times = st.integers(0, period)
    kind = draw(st.sampled_from(["drawn", "bursts", "on and off", "steady", "sparse"]))
    if kind == "drawn":
        chance = random.Random(draw(st.integers(0, 2**32)))
        made = [chance.randint(0, period) for _ in range(math.ceil(period * draw(st.sampled_from([0.02, 0.3, 1, 4]))))]
    elif kind == "bursts":
        made = [at for at in draw(st.lists(times, max_size=4)) for _ in range(draw(st.integers(1, 80)))]
    elif kind == "on and off":
        begin, end = sorted((draw(times), draw(times)))
        made = [at for at in range(begin, end) for _ in range(draw(st.integers(1, 3)))]
    elif kind == "steady":
        made = list(range(1, period, draw(st.integers(1, 40))))
    else:
        made = draw(st.lists(times, max_size=4))
    return [*sorted(made), period]


STEPS_MS = st.sampled_from([10, 15.5, 20, 37, 100, 250, 1000, 10000])


@pytest.fixture(scope="session")
def read(tmp_path_factory):
    """A function that reads a trace, given as times in ms."""
    folder = tmp_path_factory.mktemp("traces")

    def read(times, step_ms):
        (folder / "link.trace").write_text("".join(f"{at}\n" for at in times))
        return completed_trace(KEYS | {"file": "link.trace", "step_ms": step_ms}, str(folder / "s.yaml"))

    return read


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(times=opportunities(), step_ms=STEPS_MS)
@example(times=[1], step_ms=10)
@example(times=[1] * 60, step_ms=100)
@example(times=list(range(1, 106)), step_ms=100)
@example(times=[0, 0, 0, 7], step_ms=100)
def test_a_period_offers_the_packets_of_the_file_in_the_file_s_time(read, times, step_ms):
    timeline = Timeline(LINK | {"trace": read(times, step_ms)}, 20)
    period_ns = times[-1] * 1_000_000
    for begin, count in ((0, 1), (period_ns, 1), (0, 3)):
        offered = timeline.mean_rate_mbps(begin, begin + count * period_ns) * count * period_ns / 8e3
        assert offered / PACKET_BYTES == pytest.approx(count * len(times), rel=1e-6, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(times=opportunities(), step_ms=st.sampled_from([10, 20, 100]), packet_bytes=st.sampled_from([1514, 1494, 700]))
def test_at_the_end_of_each_span_all_whole_packets_have_passed_but_what_a_gap_lets_ahead(
    read, times, step_ms, packet_bytes
):
    trace = read(times, step_ms)
    if len(set(trace["rates_mbps"])) == 1:
        return
    timeline, passed, before = Timeline(LINK | {"trace": trace}, 20), 0, 0
    for begin, end, packets in takewhile(lambda span: span[1] < 20 * S, islice(spans(trace, packet_bytes), 40)):
        assert begin == before and end > begin and packets > 0
        passed, before = passed + packets, end
        due = timeline.mean_rate_mbps(0, end) * end / 8e3 / packet_bytes
        assert due - 1.01 <= passed <= due + 1.01


def departures(timeline, begin_ns, until_ns, packet_bytes):
    """Return the number of packets that HTB releases for a sender that always has some: each waits for the previous one's time at its
    rate."""
    values = [(change.at_ns, change.value) for change in timeline.changes]
    packets, now = 0, begin_ns
    while now < until_ns:
        rate_mbps = values[bisect_right(values, now, key=lambda value: value[0]) - 1][1]
        packets, now = packets + 1, now + math.floor(packet_bytes * 8e3 / rate_mbps)
    return packets


@settings(max_examples=200, deadline=None)
@given(
    times=opportunities(),
    step_ms=STEPS_MS,
    packet_bytes=st.sampled_from([1514, 1494, 1292, 590]),
    begin_ns=st.integers(0, 150_000_000),
)
@example(
    times=[at for at in range(1, 101) for _ in (1, 2)] + [200], step_ms=100, packet_bytes=1494, begin_ns=20_000_000
)
@example(times=[149, 395, *[549] * 45, 1581], step_ms=20, packet_bytes=1514, begin_ns=12_000_000)
@example(times=[1, 26], step_ms=20, packet_bytes=1514, begin_ns=13_000_000)
def test_a_sender_that_always_has_packets_gets_what_the_trace_offers(read, times, step_ms, packet_bytes, begin_ns):
    """Within 12 packets, those of a first packet that comes while nothing is offered; see `experiment.traces`."""
    timeline = Timeline(LINK | {"trace": read(times, step_ms)}, 10, packet_bytes)
    offered = timeline.mean_rate_mbps(begin_ns, 10 * S) * (10 * S - begin_ns) / 8e3 / packet_bytes
    assert abs(departures(timeline, begin_ns, 10 * S, packet_bytes) - offered) <= 12 + 1e-3 * offered


def test_a_step_without_capacity_is_the_time_of_one_packet_and_the_rate_rises_before_its_end(read):
    trace = read([*range(1, 101), 300], 100)
    assert trace["rates_mbps"] == pytest.approx([12.112, 0, 0.12112])
    changes = Timeline(LINK | {"trace": trace}, 0.3).changes
    gaps_ms = [(c.at_ns / 1e6, PACKET_BYTES * 8 / c.value / 1e3) for c in changes]
    assert [at for at, _ in gaps_ms[:2]] == pytest.approx([0, 100], abs=0.1)
    assert [gap for _, gap in gaps_ms[:2]] == pytest.approx([1, 200], rel=0.01)
    assert gaps_ms[-1][1] == pytest.approx(1, rel=0.01) and 295 < gaps_ms[-1][0] < 300
    # What leaves late does not hold the link beyond the end.
    assert all(at + gap <= 301 for at, gap in gaps_ms[2:])


def test_a_last_step_of_less_than_a_tenth_is_part_of_the_one_before(read):
    assert len(read([1, 1005], 100)["rates_mbps"]) == 10
    assert len(read([1, 1015], 100)["rates_mbps"]) == 11
    ends = [end for _, end, _ in islice(stretches(read([1, 1005], 100)), 2)]
    assert ends == [100_000_000, 900_000_000]
