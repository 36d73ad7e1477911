"""Logs of QUIC stacks (qlog): the values read from real ones, and the messages for unreadable ones."""

import json
import math
import os
import random
import re
import tracemalloc
from datetime import datetime

import pytest

from testbed.readings import qlog
from testbed.readings.qlog import read_logs, series_of
from testbed.readings.qlog_files import QlogError
from testbed.readings.qlog_traces import MOST_RECORD

#: Of quic-go 0.65.0: a sequence of JSON texts (RFC 7464), in ms since a wall clock.
SEQUENCE = """\
\x1e{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","title":"quic-go qlog",\
"trace":{"vantage_point":{"type":"server"},"common_fields":{"group_id":"5b","reference_time":{"clock_type":"monotonic","epoch":"unknown",\
"wall_clock_time":"1970-01-01T00:00:05.250000512Z"}}},"qlog_format":"JSON-SEQ","qlog_version":"0.3"}
\x1e{"time":0.002,"name":"transport:connection_started","data":{}}
\x1e{"time":1.5,"name":"recovery:metrics_updated","data":{"congestion_window":40960,"bytes_in_flight":1252,"packets_in_flight":1}}
\x1e{"time":60,"name":"recovery:metrics_updated","data":{"min_rtt":20.005,"smoothed_rtt":20.006,"latest_rtt":21,"rtt_variance":5.6,\
"congestion_window":42000,"bytes_in_flight":41393,"packets_in_flight":34}}
\x1e{"time":70,"name":"recovery:congestion_state_updated","data":{"new":"recovery"}}
\x1e{"time":71,"name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":30},"trigger":"reordering_threshold"}}
\x1e{"time":110,"name":"recovery:metrics_updated","data":{"pto_count":1}}
"""
#: Of aioquic 1.7.2: one JSON text, in ms since 1970, which it doesn't say.
METRICS = {
    "cwnd": 12000,
    "bytes_in_flight": 177,
    "ssthresh": 9000,
    "latest_rtt": 40.2,
    "min_rtt": 40.1,
    "smoothed_rtt": 40.15,
}
DOCUMENT = {
    "qlog_format": "JSON", "qlog_version": "0.3",
    "traces": [{
        "common_fields": {"ODCID": "758c1ea8ea9403b1"},
        "events": [
            {"data": {"frames": [{"frame_type": "ping"}]}, "name": "transport:packet_sent", "time": 1795865977866.0},
            {"data": METRICS, "name": "recovery:metrics_updated", "time": 1795865977866.9763},
            {"data": {"type": "1RTT", "packet_number": 7, "trigger": ""}, "name": "recovery:packet_lost", "time": 1795865977900.5},
        ],
        "vantage_point": {"name": "aioquic", "type": "server"},
    }],
}  # fmt: skip


@pytest.mark.parametrize(
    "reference", ["0", "12.5", '{"clock_type":"monotonic","wall_clock_time":"1970-01-01T00:00:00Z"}']
)
def test_a_reference_that_is_no_time_of_the_run_is_none(reference):
    """ngtcp2 writes 0: counted from 1970, all events would precede the traffic, and each sample would have the last value."""
    text = re.sub(r'"reference_time":\{[^}]*\}', lambda _: f'"reference_time":{reference}', SEQUENCE)
    assert text != SEQUENCE
    series = series_of(text, 1_795_865_977_000_000_000, 50_000_000)
    assert not series["aligned"] and series["from_ns"] == 0
    assert series["cwnd_bytes"] == [40960, 40960, 42000, 42000]
    # A reference within the run's hour is believed.
    assert series_of(SEQUENCE, 5_000_000_000 + 3_500_000_000_000, 50_000_000)["aligned"]


def test_a_sequence_is_read_on_a_grid_of_the_runs_times():
    """The flow's log began 250.000512 ms after the origin; a value applies from its event to the next."""
    series = series_of(SEQUENCE, 5_000_000_000, 50_000_000)
    assert (series["from_ns"], series["aligned"], series["complete"], series["readings"]) == (
        250_000_000,
        True,
        True,
        2,  # the last event has no column's value
    )
    assert series["cwnd_bytes"] == [None, 40960, 42000, 42000] and series["rtt_ms"] == [None, None, 20.006, 20.006]
    assert series["flight_bytes"] == [None, 1252, 41393, 41393] and series["rtt_min_ms"][-1] == 20.005
    assert series["state"] == [None, None, "recovery", "recovery"] and series["lost_packets"] == [None, 0, 1, 1]
    assert "ssthresh_bytes" not in series


def test_a_document_is_read_the_same_way():
    series = series_of(json.dumps(DOCUMENT, indent=2), 1795865977_000_000_000, 10_000_000)
    assert series["from_ns"] == 860_000_000 and series["aligned"] and series["complete"]
    assert series["cwnd_bytes"][:2] == [None, 12000] and series["ssthresh_bytes"][-1] == 9000
    assert series["lost_packets"] == [None, 0, 0, 0, 0, 1]


def test_newer_names_and_time_formats():
    event = {"time": 20, "name": "quic:recovery_metrics_updated", "data": {"congestion_window": 5}}
    epoch = {"clock_type": "system", "epoch": "1970-01-01T00:00:01.000Z"}
    for header, first in (
        ({"time_format": "relative_to_epoch", "reference_time": epoch}, 0),
        ({"time_format": "relative", "reference_time": 1000}, 0),
        ({"time_format": "absolute"}, -1000),
    ):
        text = "\n".join(map(json.dumps, ({"common_fields": header}, event, event)))
        series = series_of(text, 1_000_000_000, 1_000_000)
        assert series["from_ns"] == (20 + first) * 1_000_000 and series["aligned"]
    text = "\n".join(map(json.dumps, ({"common_fields": {"time_format": "relative_to_previous_event"}}, event, event)))
    series = series_of(text, 10**18, 10_000_000)
    assert (series["from_ns"], series["aligned"], len(series["cwnd_bytes"])) == (0, False, 4)


@pytest.mark.parametrize("is_sequence", [True, False])
def test_all_events_count_if_times_count_from_the_event_before(is_sequence):
    """Ten times 90 ms to a packet and 10 ms more to the metrics are 1 s, not 100 ms."""
    pair = [
        {"time": 90, "name": "transport:packet_sent", "data": {}},
        {"time": 10, "name": "recovery:metrics_updated", "data": {"congestion_window": 5}},
    ]
    header = {"common_fields": {"time_format": "relative_to_previous_event"}}
    text = (
        "\n".join(map(json.dumps, [header, *pair * 10])) if is_sequence else json.dumps(header | {"events": pair * 10})
    )
    series = series_of(text, 0, 10_000_000)
    assert len(series["cwnd_bytes"]) == 900 // 10 + 2


def test_events_that_are_lists_are_read_by_their_fields():
    """Of picoquic (loglib/qlog.c): times in us, as those of the metrics, since a time that is a text of digits."""
    events = [
        [100, "transport", "packet_sent", {}],
        [20_000, "recovery", "metrics_updated", {"cwnd": 15360, "smoothed_rtt": 40_250, "bytes_in_flight": 1252}],
        [40_000, "recovery", "packet_lost", {"packet_number": 3}],
    ]
    trace = {
        "configuration": {"time_units": "us"}, "common_fields": {"reference_time": "5000000"},
        "event_fields": ["relative_time", "category", "event", "data"], "events": events,
    }  # fmt: skip
    series = series_of(json.dumps({"qlog_version": "draft-00", "traces": [trace]}), 5 * 10**9, 20_000_000)
    assert series["aligned"] and series["from_ns"] == 20_000_000
    assert series["cwnd_bytes"][0] == 15360 and series["rtt_ms"][0] == 40.25 and series["lost_packets"] == [0, 1, 1]
    trace["event_fields"][0] = "delta_time"
    assert series_of(json.dumps({"traces": [trace]}), 5 * 10**9, 20_000_000)["lost_packets"] == [None, 0, 0, 1]


def test_the_trace_with_the_most_readings_counts_with_its_own_times():
    """A file may hold a trace of each connection, or of each side."""
    early = {
        "common_fields": {"reference_time": 1000, "time_format": "relative"},
        "events": [{"time": 1, "name": "x", "data": {}}],
    }
    late = {"common_fields": {"reference_time": 6000, "time_format": "relative"}, "events": [json.loads(event(cwnd=7))]}
    for traces in ([early, late], [late, early]):
        series = series_of(json.dumps({"traces": traces}), 6 * 10**9, 1_000_000)
        assert series["from_ns"] == 1_000_000 and series["cwnd_bytes"] == [7, 7]


def test_a_byte_order_mark_is_skipped(tmp_path):
    (tmp_path / "a.qlog").write_bytes(b"\xef\xbb\xbf" + json.dumps(DOCUMENT).encode())
    folder = os.open(tmp_path, os.O_RDONLY)
    assert read_logs(folder, "*.qlog", 0, 10**9)["readings"] == 1
    os.close(folder)


def test_a_log_that_breaks_off_counts_up_to_there():
    whole, cut = series_of(SEQUENCE, 0, 50_000_000), series_of(SEQUENCE[:-20], 0, 50_000_000)
    assert whole["complete"] and not cut["complete"] and cut["rtt_ms"][-1] == 20.006
    text = json.dumps(DOCUMENT)
    assert not series_of(text[: text.index('"1RTT"')], 0, 10**9)["complete"]
    # A buffered log of a program that was killed usually ends within an event that isn't read.
    sent = '\x1e{"time":120,"name":"transport:packet_sent","data":{"header":{"packet_number":31}}}'
    assert series_of(SEQUENCE + sent, 0, 50_000_000)["complete"]
    assert not series_of(SEQUENCE + sent[:-20], 0, 50_000_000)["complete"]


def event(**data):
    return json.dumps({"time": 1, "name": "recovery:metrics_updated", "data": data})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("GIF89a", "is not a qlog in JSON"),
        ('{"events": []}', "has no metrics_updated event"),
        ("\x1e" + '{"name":"metrics_updated",' + "[" * 60_000, "record 2 is not valid JSON"),
        ('{"events": [' + "[" * 10**6, "trace 1 has content that is not valid JSON"),
        ('{"events": [' + event(note="x" * MOST_RECORD) + "]}", "trace 1 has content that is not valid JSON, or an event of more than"),
        ('{"time_units": "fortnight", "events": [' + event() + "]}", "has times in the unit fortnight; allowed: ms, us"),
        ("\x1e" + event(note="x" * MOST_RECORD), "record 2 has more than 65536 characters"),
        ("\x1e" + event(congestion_window=1) + "\n\x1emetrics_updated\x1e" + event(), "record 3 is not valid JSON"),
        (event(congestion_window=1) + "\n" + event().replace('"time": 1', '"time": 1e300'), "has an event without a valid time"),
        (event(congestion_window=1) + "\n" + event().replace('"time": 1', '"time": NaN'), "has an event without a valid time"),
        (event() + "\n" + event().replace('"time": 1', '"time": ' + "9" * 5000) + "\n" + event(), "record 2 is not valid JSON"),
        (event(cwnd=1).replace('"time": 1', '"time": 9e9') + "\n" + event(cwnd=1), "has times that go backwards"),
        (event(cwnd=1) + "\n" + event(cwnd=1).replace('"time": 1', '"time": 9e12'), "covers "),
        (event(congestion_window="12000", pto_count=2), "has no metrics_updated event with a value in its data"),
        (event(congestion_window=math.nan, min_rtt=math.inf), "has no metrics_updated event with a value in its data"),
    ],
)  # fmt: skip
def test_what_nobody_can_read_is_said(text, words):
    with pytest.raises(QlogError, match=words.replace("(", r"\(")):
        series_of(text, 0, 1_000_000)


@pytest.mark.parametrize("text", [SEQUENCE, json.dumps(DOCUMENT)])
def test_damaged_logs_are_read_or_refused(text):
    draw, outcomes = random.Random(1), set()
    for _ in range(400):
        damaged = list(text)
        for _ in range(draw.randint(1, 5)):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.choice((0, 1, 40))] = draw.choice(
                ("", "{", "]", '"', "\\", "9" * 400, "\x1e", "\n", "\0", "-1", "1e309")
            )
        try:
            outcomes.add(series_of("".join(damaged), 0, 10**6)["readings"])
        except QlogError:
            outcomes.add("refused")
    assert "refused" in outcomes and len(outcomes) > 2 - text.startswith("{")


def test_values_that_are_no_numbers_are_left_out():
    text = "\n".join(
        [event(congestion_window=True, smoothed_rtt="fast", min_rtt=-1, latest_rtt=[3], bytes_in_flight=7)] * 2
    )
    series = series_of(text, 0, 1_000_000)
    assert series["flight_bytes"][-1] == 7 and not {"cwnd_bytes", "rtt_ms", "rtt_min_ms", "rtt_latest_ms"} & {*series}


def test_of_several_files_the_one_with_the_most_readings_is_read(tmp_path):
    (tmp_path / "a.sqlog").write_text(SEQUENCE)
    (tmp_path / "b.sqlog").write_text("\n".join([event(congestion_window=3)] * 9))
    (tmp_path / "c.qlog").write_text("\n".join([event(congestion_window=4)] * 20))
    handle = os.open(tmp_path, os.O_RDONLY)
    assert read_logs(handle, "*.sqlog", 0, 10**6)["cwnd_bytes"] == [3, 3]
    assert read_logs(handle, "*.json", 0, 10**6) == {"problem": "no file matches *.json"}
    os.close(handle)


def test_only_files_are_opened(tmp_path):
    """The program may leave a link, a pipe or a folder, and none of them is followed."""
    (tmp_path / "secret").write_text(SEQUENCE)
    (tmp_path / "a.qlog").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "b.qlog")
    (tmp_path / "c.qlog").mkdir()
    handle = os.open(tmp_path, os.O_RDONLY)
    problem = read_logs(handle, "*.qlog", 0, 10**6)["problem"]
    assert "a.qlog: Too many levels" in problem and "b.qlog: is not a regular file" in problem and "c.qlog: " in problem
    os.close(handle)


def test_what_is_said_of_hostile_names_is_no_longer_than_a_document_may_have(tmp_path):
    for number in range(3):
        (tmp_path / ("\U0001f600" * 59 + f"{number}.sqlog")).write_text("nothing")
    said = read_logs(os.open(tmp_path, os.O_RDONLY), "*.sqlog", 0, 10**6)["problem"]
    assert len(said) <= 1000 and said.isascii()


def test_many_empty_records_are_no_list_and_events_have_an_end(monkeypatch):
    text = "{" + "\n" * 300_000
    tracemalloc.start()
    with pytest.raises(QlogError):
        series_of(text, 0, 10**6)
    assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    tracemalloc.stop()
    monkeypatch.setattr(qlog, "MOST_EVENTS", 100)
    for events in (100, 101):
        series = series_of("\n".join([event(congestion_window=3)] * events), 0, 10**6)
        assert (series["readings"], series["complete"]) == (100, events == 100)


ORIGIN_MS = 1_795_865_977_000


def trace(*values, first_ms=500, header=None, after=None):
    """Return a trace with a congestion window for every 100 ms, and fields before and after the events."""
    events = [
        json.loads(event(congestion_window=value)) | {"time": first_ms + 100 * n} for n, value in enumerate(values)
    ]
    return {
        **({"common_fields": header} if header else {}),
        "events": events,
        **({"common_fields": after} if after else {}),
    }


def reference(ms):
    return {"reference_time": ms}


@pytest.mark.parametrize(
    "traces, from_ms",
    [
        ([trace(1, after=reference(ORIGIN_MS - 9000)), trace(2, 3, header=reference(ORIGIN_MS))], 500),
        ([trace(1, header=reference(ORIGIN_MS - 9000)), trace(2, 3, after=reference(ORIGIN_MS))], 500),
        ([trace(2, 3), trace(1, header=reference(ORIGIN_MS - 9000))], None),
        ([trace(2, 3, header={"title": "{a}", **reference(ORIGIN_MS)}), trace(1)], 500),
    ],
)  # fmt: skip
def test_each_trace_has_its_own_fields(traces, from_ms):
    series = series_of(json.dumps({"traces": traces}), ORIGIN_MS * 10**6, 10**8)
    assert series["cwnd_bytes"][:2] == [2, 3]
    assert (series["aligned"], series["from_ns"]) == (from_ms is not None, (from_ms or 0) * 10**6)


WALL_CLOCK = "2026-11-28T11:39:37.000Z"
EPOCH_1970 = "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "header, first_ms",
    [
        ({"reference_time": {"epoch": EPOCH_1970, "wall_clock_time": WALL_CLOCK}}, ORIGIN_MS + 500),
        ({"reference_time": {"epoch": "unknown", "wall_clock_time": WALL_CLOCK}}, 500),
        ({"reference_time": {"clock_type": "monotonic", "epoch": "unknown", "wall_clock_time": WALL_CLOCK}}, 500),
        ({"reference_time": {"epoch": WALL_CLOCK}}, 500),
        ({"reference_time": {"wall_clock_time": WALL_CLOCK}}, 500),
        ({"reference_time": {"clock_type": "system"}}, ORIGIN_MS + 500),
        ({"time_format": "relative_to_epoch"}, ORIGIN_MS + 500),
        ({}, ORIGIN_MS + 500),
    ],
)  # fmt: skip
def test_the_origin_of_times_is_the_one_that_gives_times_of_the_run(header, first_ms):
    assert datetime.fromisoformat(WALL_CLOCK).timestamp() * 1e3 == ORIGIN_MS
    series = series_of(json.dumps(trace(2, 3, first_ms=first_ms, header=header)), ORIGIN_MS * 10**6, 10**8)
    assert (series["aligned"], series["from_ns"]) == (True, 500_000_000)


def test_a_value_that_is_no_longer_known_ends():
    """quic-go writes no ``ssthresh`` in slow start, other stacks null or the largest number that they can represent."""
    for infinite in (None, 2**64 - 1):
        text = "\n".join([event(ssthresh=6000, cwnd=1), event(ssthresh=infinite).replace('"time": 1', '"time": 150')])
        series = series_of(text, 0, 10**8)
        assert series["ssthresh_bytes"] == [None, 6000, None] and series["cwnd_bytes"] == [None, 1, 1]


def test_of_several_connections_the_one_with_the_most_readings_is_read():
    events = [json.loads(event(congestion_window=n)) | {"group_id": "ab"[n % 3 == 0]} for n in range(1, 9)]
    assert series_of("\n".join(map(json.dumps, events)), 0, 10**6)["cwnd_bytes"] == [8, 8]
