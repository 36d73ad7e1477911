"""Values read from run documents: from recorded ones, and from time series of a shaper and a queue that are simulated here."""

import copy
import gzip
import json

import pytest

from topics.calibration.readings import burst, deliveries, queue_samples, readings
from topics.calibration.tables import READINGS

ACKS_BYTES, FRAME_BYTES, BUCKET_BYTES = 2 * 66, 1514, 1514


@pytest.fixture
def recorded(root):
    def read(name):
        return json.loads(gzip.decompress((root / "tests" / "data" / f"{name}.json.gz").read_bytes()))

    return read


def departures_ms(packets, rate_mbps, bucket_bytes, came_ms):
    """Return the times at which packets leave a token bucket that releases one whenever it has no debt, with acknowledgements before
    them."""
    tokens, now_ms, times = bucket_bytes - ACKS_BYTES, came_ms, []
    for _ in range(packets):
        wait_ms = max(0.0, -tokens / (125 * rate_mbps))
        now_ms, tokens = now_ms + wait_ms, tokens + wait_ms * 125 * rate_mbps - FRAME_BYTES
        times.append(now_ms)
    return times


def series_of(rate_mbps, interval_ms, bucket_bytes=BUCKET_BYTES, packets=10, came_ms=7.3, limit=100):
    """Return the document's time series of packets that all arrive at once after idle time and are never acknowledged."""
    left = departures_ms(packets, rate_mbps, bucket_bytes, came_ms)
    times = [number * interval_ms for number in range(int(left[4] / interval_ms) + 3)]
    waiting = [sum(at > now for at in left) if now >= came_ms else 0 for now in times]
    socket = {
        "time_s": [now / 1e3 for now in times],
        "unacked_packets": [packets if now >= came_ms else 1 for now in times],
    }
    queue = {
        "time_s": socket["time_s"], "packets": [min(count, limit) for count in waiting],
        "bytes": [FRAME_BYTES * min(count, limit) for count in waiting], "drops": [max(0, count - limit) for count in waiting],
    }  # fmt: skip
    return {"interval_ms": interval_ms, "queue": queue, "sockets": [socket]}


@pytest.mark.parametrize("rate_mbps, interval_ms", [(0.01, 10), (0.1, 2), (1, 1)])
@pytest.mark.parametrize("bucket_bytes", [BUCKET_BYTES, 2 * BUCKET_BYTES, 100])
def test_the_bucket_is_found_within_a_sample(rate_mbps, interval_ms, bucket_bytes):
    row = burst(series_of(rate_mbps, interval_ms, bucket_bytes))
    per_ms = 125 * rate_mbps
    bucket = (row["burst_packets"] - 1) * FRAME_BYTES - per_ms * row["burst_ms"]
    assert abs(bucket - (bucket_bytes - ACKS_BYTES)) <= per_ms * interval_ms


def test_no_burst_is_read_where_packets_were_dropped_or_acknowledged_meanwhile():
    assert burst(series_of(1, 1, limit=4)) == {}
    acknowledged = series_of(1, 1)
    acknowledged["sockets"][0]["unacked_packets"][12:] = [9] * len(acknowledged["sockets"][0]["unacked_packets"][12:])
    assert burst(acknowledged) == {}
    assert burst(series_of(1, 1, packets=5, bucket_bytes=10 * BUCKET_BYTES)) == {}


def test_queue_is_read_between_two_times_and_at_its_first_drop():
    queue = {
        "time_s": [0, 0.1, 0.2, 0.3, 0.4],
        "packets": [0, 5, 3, 4, 1],
        "bytes": [0, 50, 30, 40, 10],
        "drops": [0, 0, 2, 3, 3],
    }
    socket = {"time_s": queue["time_s"], "retransmits": [1, 2, 2, 4, 5]}
    row = queue_samples({"interval_ms": 100, "queue": queue, "sockets": [socket]}, 100_000_000, 300_000_000)
    assert row == {
        "queue_most_packets": 5, "queue_most_bytes": 50, "drops": 3, "sample_ms": 100, "queue_least_packets": 3, "retransmits": 3,
        "first_drop_packets": 3, "first_drop_bytes": 30,
    }  # fmt: skip


def test_rows_of_recorded_documents(recorded):
    tcp, datagrams, trips = (
        readings(recorded(name)) for name in ("slow-vegas-ipv6", "datagrams-ipv6", "exchanges-ipv4")
    )
    for row in (tcp, datagrams, trips):
        assert list(row) == READINGS.names and row["failed_checks"] == ""
    assert (tcp["payload_bytes"], tcp["echo_ms"], tcp["retransmits"]) == (1428, 40.0, None)
    window_s = (tcp["end_ns"] - tcp["begin_ns"]) / 1e9
    assert tcp["delivered_bytes"] * 8 / window_s / 1e6 == pytest.approx(10 * 1428 / 1514, rel=3e-4)
    assert (datagrams["offered_forward"], datagrams["lost_forward"], datagrams["delivered_bytes"]) == (5238, 0, None)
    assert (trips["exchanges"], round(trips["round_trip_us"], 2)) == (12563, 159.2)


def test_lost_packets_are_read_of_each_direction(recorded):
    row = readings(recorded("lossy-reno-ipv4") | {"idle_rtt": [{"min_ms": 20.0}]})
    assert (row["offered_forward"], row["lost_forward"], row["lost_reverse"]) == (26125, 259, 0)


def test_a_failed_check_is_named_and_without_a_window_nothing_is_delivered(recorded):
    document = copy.deepcopy(recorded("slow-vegas-ipv6"))
    next(check for check in document["verdict"]["checks"] if check["name"] == "idle_rtt")["ok"] = False
    document["delivered"]["flows"][0]["bytes"] = [0] * len(document["delivered"]["time_ns"])
    row = readings(document)
    assert row["failed_checks"] == "idle_rtt" and row["delivered_bytes"] is None
    assert deliveries(document) == {}
