"""Reader of the congestion control events in a QUIC stack's qlog.

A qlog is one JSON text (0.3) or a sequence of JSON texts. Since an untrusted program writes the qlog, it may contain anything: unreadable
content is reported, and a record may not exceed `MOST_RECORD`. The following parts of draft-ietf-quic-qlog-main-schema and -quic-events are
read, under their older and newer names: ``reference_time``, ``time_format``, ``time_units``, and the events ``metrics_updated``,
``congestion_state_updated`` and ``packet_lost``. In versions before 0.3, an event may be a list, whose items ``event_fields`` names.
"""

import fnmatch
import json
import os
import re
import stat
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

#: Maximum number of files to read for a flow, and maximum number of bytes to read from a file, which programs can't exceed
#: (`confined.WRITTEN_MIB`).
MOST_FILES, MOST_BYTES = 16, 2**26
#: Maximum number of events to keep from a file, and of characters in the message about unreadable files (``run.schema.json``).
MOST_EVENTS, MOST_WORDS = 200_000, 1_000
#: Maximum number of characters of an event, and length of the part of the text that is parsed first to find the next event.
MOST_RECORD, WINDOW = 2**16, 2**12
#: Field of ``metrics_updated`` -> column: RTTs in ms, the rest in bytes; ``cwnd`` is aioquic's name for the congestion window.
METRICS = {
    "congestion_window": "cwnd_bytes", "cwnd": "cwnd_bytes", "ssthresh": "ssthresh_bytes", "bytes_in_flight": "flight_bytes",
    "smoothed_rtt": "rtt_ms", "latest_rtt": "rtt_latest_ms", "min_rtt": "rtt_min_ms", "rtt_variance": "rttvar_ms",
}  # fmt: skip
#: States of ``congestion_state_updated`` that are reported; any other state is stored as None.
STATES = ("slow_start", "congestion_avoidance", "recovery", "application_limited")
#: An event is read only if this pattern occurs in its name.
NAMES = re.compile(r"metrics_updated|congestion_state_updated|packet_lost")
#: Beginning of the events in a JSON text, and separators between them.
EVENTS, BETWEEN = re.compile(r'"events"\s*:\s*\['), re.compile(r"[\s,]*")
SEPARATOR, BYTE_ORDER_MARK = "\x1e", b"\xef\xbb\xbf"
#: Fields that apply to all events of a trace. Possible names of the fields for an event's time and name if events are lists.
HEADER = ("reference_time", "time_format", "time_units", "event_fields")
TIMES, KINDS = ("time", "relative_time", "delta_time"), ("event", "event_type", "name")
#: Unit of times (``time_units``) -> its length in ms.
UNITS_MS = {"ms": 1.0, "us": 1e-3}
#: Upper bound on the numbers in a log, and maximum number of steps in a grid of times.
LARGEST, MOST_STEPS = 2**53, 200_000
#: If a log gives neither a format nor a reference for its times, times above this value in ms (the year 1980) count from 1970.
ABSOLUTE_MS = 315_532_800_000
#: Maximum difference in ms between the time of a log's first event and the traffic's origin. If the difference is larger, the log's
#: reference time isn't a time of the run's clock (ngtcp2's, for example, is always 0).
MOST_AWAY_MS = 3_600_000


class QlogError(ValueError):
    """A log can't be read; the text gives the reason."""


def read_logs(folder, pattern, origin_ns, step_ns) -> dict:
    """Return the readings of a flow from the logs in a folder.

    If several logs can be read, the one with the most readings is used.

    Parameters
    ----------
    folder : int
        File descriptor of the folder.
    pattern : str
        Pattern of the file names, such as ``*.sqlog``.
    origin_ns : int
        Origin of the traffic in ns of the real-time clock.
    step_ns : int
        Interval between stored values in ns.

    Returns
    -------
    dict
        Result of `series_of`, or only ``problem``: the reason why no log can be read.
    """
    best, problems = None, []
    try:
        names = log_names(folder, pattern)
    except OSError as error:
        return {"problem": f"the folder can't be read ({error.strerror})"}
    for name in names:
        try:
            series = series_of(_text(log_content(folder, name)), origin_ns, step_ns)
        except (QlogError, OSError) as error:
            problems.append(f"{name[:60]}: {getattr(error, 'strerror', None) or error}")
            continue
        if best is None or series["readings"] > best["readings"]:
            best = series
    if best is not None:
        return best
    return {"problem": ascii("; ".join(problems[:3]) or f"no file matches {pattern}")[1:-1][:MOST_WORDS]}


def log_names(folder, pattern) -> list[str]:
    """Return the names of the first `MOST_FILES` files in a folder (a file descriptor) that match a pattern, sorted."""
    return sorted(name for name in os.listdir(folder) if fnmatch.fnmatchcase(name, pattern))[:MOST_FILES]


def log_content(folder, name) -> bytes:
    """Return the content of a file in a folder (a file descriptor); raise `QlogError` if it is too large or not a regular file."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise QlogError("is not a regular file")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise QlogError(f"is larger than {MOST_BYTES} bytes")
    return content


def _text(content):
    """Return a file's text with one character per byte; only ASCII parts are used."""
    return content.removeprefix(BYTE_ORDER_MARK).decode("latin-1")


def series_of(text, origin_ns, step_ns) -> dict:
    """Return the readings of a log on a grid of times.

    Parameters
    ----------
    text : str
        Content of the log.
    origin_ns, step_ns : int
        As for `read_logs`.

    Returns
    -------
    dict
        ``from_ns`` and ``step_ns``, the beginning and the step of the grid; ``aligned``, whether the grid counts from the traffic's origin
        (if the log gives no time of the run's clock, the grid counts from the first event); ``readings``, the number of readings;
        ``complete``, False for a truncated log; and the columns, which are those of `METRICS`, ``lost_packets`` (so far) and ``state``. A
        column contains the latest value at each time, and None before the first value.

    Raises
    ------
    QlogError
        If the log can't be read or contains no readings.
    """
    best, problem = None, None
    for header, records, ending in _traces(text):
        try:
            series = _series(_Clock(header), records, ending, origin_ns, step_ns)
        except QlogError as error:
            problem = problem or error
            continue
        if best is None or series["readings"] > best["readings"]:
            best = series
    if best is None:
        raise problem
    return best


def _series(clock, records, ending, origin_ns, step_ns):
    """Return the readings of one trace, in the form of `series_of`."""
    events = _events(clock, records)
    readings = sum("metrics_updated" in one["name"] for _, one in events)
    if not readings:
        raise QlogError(ending.words or "has no metrics_updated event")
    if ending.damaged:
        raise QlogError(ending.words)
    shift_ms = None if clock.epoch_ms is None else origin_ns / 1e6 - clock.epoch_ms
    known = shift_ms is not None and abs(events[0][0] - shift_ms) <= MOST_AWAY_MS
    if not known:
        shift_ms = events[0][0]
    times_ns = [round(1e6 * (at - shift_ms)) for at, _ in events]
    if any(later < earlier - step_ns for earlier, later in pairwise(times_ns)):
        raise QlogError("has times that go backwards")
    first, last = times_ns[0] // step_ns, times_ns[-1] // step_ns
    if last - first > MOST_STEPS:
        raise QlogError(f"covers {(times_ns[-1] - times_ns[0]) / 1e9:.0f} s, which is too long")
    return {
        "from_ns": first * step_ns, "step_ns": step_ns, "aligned": known, "readings": readings, "complete": not ending.words,
        **_on_grid([one for _, one in events], times_ns, first, last, step_ns, clock.unit_ms),
    }  # fmt: skip


def _events(clock, records):
    """Return the congestion control and loss events of a trace, with their times in ms since the trace's origin."""
    events = []
    for record in records:
        event = clock.named(record)
        # Other events matter only if each time counts from the previous event.
        if not (is_read := _is_read(event)) and not (clock.is_delta and isinstance(event, dict) and "time" in event):
            continue
        at_ms = clock.time_ms(event.get("time"))
        if is_read:
            if len(events) == MOST_EVENTS:
                raise QlogError(f"has more than {MOST_EVENTS:,} congestion control and loss events")
            events.append((at_ms, event))
    return events


def _on_grid(events, times_ns, first, last, step_ns, unit_ms):
    columns = {name: [None] * (last - first + 2) for name in (*METRICS.values(), "lost_packets", "state")}
    now = dict.fromkeys(columns) | {"lost_packets": 0}
    at = 0
    for place in range(last - first + 2):
        while at < len(events) and times_ns[at] <= (first + place) * step_ns:
            _take(now, events[at], unit_ms)
            at += 1
        if at:
            for name, values in columns.items():
                values[place] = now[name]
    return {name: values for name, values in columns.items() if any(value is not None for value in values)}


def _take(now, event, unit_ms):
    """Update the current values with the values of an event; ``unit_ms`` is the unit of the event's times in ms."""
    name, data = event["name"], event.get("data")
    data = data if isinstance(data, dict) else {}
    if "metrics_updated" in name:
        for field, column in METRICS.items():
            if (value := _number(data.get(field))) is not None:
                now[column] = value * unit_ms if column.endswith("_ms") and unit_ms != 1 else value
    elif "packet_lost" in name:
        now["lost_packets"] += 1
    else:
        now["state"] = data.get("new") if data.get("new") in STATES else None


def _number(value):
    """Return a value from a log if it is a valid number, otherwise None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < LARGEST:
        return None
    return value


class _Ending:
    """The unreadable end of a log.

    ``words`` describes the unreadable part, or is empty if the entire log can be read. ``damaged`` states whether more content follows.
    """

    def __init__(self):
        self.words, self.damaged = "", False


def _traces(text) -> Iterator[tuple[dict, Iterator, _Ending]]:
    """Yield the header, the records and the `_Ending` of each trace of a log.

    A JSON text may contain several traces. A sequence of JSON texts is one trace.
    """
    start = text.lstrip(" \t\r\n")[:1]
    if start not in (SEPARATOR, "{"):
        raise QlogError("is not a qlog in JSON" if start else "is empty")
    begins = [match.end() for match in EVENTS.finditer(text)] if start == "{" else []
    if not begins:
        header, ending = _header(text), _Ending()
        yield header, _of_sequence(text, start, ending, _is_delta(header)), ending
    last = 0
    for number, begin in enumerate(begins, 1):
        # The fields may precede or follow the events.
        until = begins[number] if number < len(begins) else len(text)
        header, ending = _header(text[begin:until]) | _header(text[last:begin]), _Ending()
        yield header, _of_document(text, number, begin, ending), ending
        last = begin


def _is_read(event):
    return isinstance(event, dict) and isinstance(event.get("name"), str) and NAMES.search(event["name"]) is not None


def _of_sequence(text, start, ending, is_every) -> Iterator:
    """Yield the relevant records of a sequence of JSON texts (RFC 7464), or of one JSON text per line; every record if ``is_every``."""
    last = None
    for number, record in enumerate(_records(text, SEPARATOR if start == SEPARATOR else "\n"), 1):
        last = (number, record) if record.strip() else last
        if ending.words:
            ending.damaged |= bool(record.strip())
        elif NAMES.search(record) or is_every and record.strip():
            try:
                yield _decoded(record)
            except QlogError as error:
                ending.words = f"record {number} {error}"
    # A log may be cut in a record that isn't read; otherwise its last values would hold until the flow's end.
    if last and not ending.words and (problem := _cut(last[1])):
        ending.words = f"record {last[0]} {problem}"


def _cut(record):
    """Return a problem if a log's last record isn't a JSON value, otherwise None; only the end of a very long record is examined."""
    if len(record) > MOST_RECORD:
        return None if record.rstrip().endswith("}") else "is cut"
    try:
        _decoded(record)
    except QlogError as error:
        return str(error)


def _records(text, separator) -> Iterator[str]:
    """Yield the records between separators one at a time, because a list of them could need many times as much memory as the text."""
    begin = 0
    while begin <= len(text):
        end = text.find(separator, begin)
        end = len(text) if end < 0 else end
        yield text[begin:end]
        begin = end + 1


def _of_document(text, number, begin, ending) -> Iterator:
    """Yield the events of a trace one at a time, because parsing the entire text would need many times as much memory as the text.

    The events of trace ``number`` begin at position ``begin`` of the text.
    """
    decoder = json.JSONDecoder()
    at = BETWEEN.match(text, begin).end()
    while text[at : at + 1] != "]":
        try:
            event, length = _first(decoder, text, at)
        except QlogError as error:
            ending.words = f"trace {number} {error}"
            ending.damaged = len(text) - at > MOST_RECORD
            return
        yield event
        at = BETWEEN.match(text, at + length).end()


def _first(decoder, text, at):
    """Return the JSON value that begins at a position in a text, and its length."""
    for length in (WINDOW, MOST_RECORD):
        try:
            return decoder.raw_decode(text[at : at + length])
        except (ValueError, RecursionError):
            continue
    raise QlogError(f"has content that is not valid JSON, or an event of more than {MOST_RECORD} characters")


def _decoded(record):
    if len(record) > MOST_RECORD:
        raise QlogError(f"has more than {MOST_RECORD} characters")
    try:
        return json.loads(record)
    except (ValueError, RecursionError):
        raise QlogError("is not valid JSON") from None


def _header(text):
    """Return the fields in `HEADER` that occur in a part of a log, by name."""
    header = {}
    for name in HEADER:
        for match in re.finditer(rf'"{name}"\s*:\s*', text):
            try:
                header[name], _ = json.JSONDecoder().raw_decode(text[match.end() : match.end() + 1000])
            except (ValueError, RecursionError):
                continue
            break
    return header


def _is_delta(header):
    """Return whether each time counts from the previous event."""
    fields = header.get("event_fields")
    return header.get("time_format") in ("delta", "relative_to_previous_event") or (
        isinstance(fields, list) and "delta_time" in fields
    )


class _Clock:
    """The clock of a trace, and the names of its events' fields.

    ``epoch_ms`` is the origin of the times in ms since 1970, or None if the trace doesn't give it. ``unit_ms`` is the unit of times. If a
    trace gives neither a format nor a reference, times above `ABSOLUTE_MS` are assumed to count from 1970.
    """

    def __init__(self, header):
        reference, self._format = header.get("reference_time"), header.get("time_format")
        self.unit_ms = UNITS_MS.get(str(header.get("time_units", "ms")))
        if self.unit_ms is None:
            raise QlogError(f"has times in the unit {str(header['time_units'])[:20]}; allowed: {', '.join(UNITS_MS)}")
        self._fields = header.get("event_fields")
        if isinstance(self._format, str) and self._format.startswith("absolute"):
            self.epoch_ms = 0.0
        elif isinstance(reference, dict):
            self.epoch_ms = _wall_clock_ms(reference.get("wall_clock_time"), reference.get("epoch"))
        else:
            number = _number(
                int(reference) if isinstance(reference, str) and re.fullmatch("[0-9]{1,16}", reference) else reference
            )
            self.epoch_ms = None if number is None else self.unit_ms * number
        self._last_ms, self.is_delta = 0.0, _is_delta(header)
        self._may_be_absolute = reference is None and self._format is None

    def named(self, record):
        """Convert a record that is a list to a dict with ``time``, ``name`` and ``data``; return any other record unchanged."""
        if not isinstance(record, list) or not isinstance(self._fields, list):
            return record
        by_name = {str(name).lower(): value for name, value in zip(self._fields, record, strict=False)}
        at, name = (next((by_name[one] for one in names if one in by_name), None) for names in (TIMES, KINDS))
        return {"time": at, "name": name, "data": by_name.get("data")}

    def time_ms(self, value):
        """Return the time of an event in ms since the trace's origin; ``value`` is the event's time field."""
        value = _number(value)
        if value is None:
            raise QlogError("has an event without a valid time")
        value *= self.unit_ms
        if self._may_be_absolute and value > ABSOLUTE_MS:
            self.epoch_ms = 0.0
        if self.is_delta:
            value += self._last_ms
        self._last_ms = value
        return value


def _wall_clock_ms(*texts):
    """Return the first valid RFC 3339 time among ``texts``, in ms since 1970, including all its fractional digits."""
    for text in texts:
        match = re.fullmatch(
            r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,12})?(Z|[+-]\d\d:\d\d)", text if isinstance(text, str) else ""
        )
        if match:
            try:
                whole = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00")).timestamp()
            except (ValueError, OverflowError):
                continue
            return 1e3 * whole + 1e3 * float(match[2] or 0)
    return None
