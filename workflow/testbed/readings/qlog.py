"""Reader of the congestion control events in a QUIC stack's qlog.

A qlog is one JSON text (0.3) or a sequence of JSON texts. Since an untrusted program writes the qlog, it may contain anything: unreadable
content is reported, and a record may not exceed `MOST_RECORD`. The following parts of draft-ietf-quic-qlog-main-schema and -quic-events are
read, under their older and newer names: ``reference_time``, ``time_format``, ``time_units``, and the events ``metrics_updated``,
``congestion_state_updated`` and ``packet_lost``. In versions before 0.3, an event may be a list, whose items ``event_fields`` names.
"""

from collections import Counter
from itertools import pairwise

from testbed.readings.qlog_clock import Clock, number
from testbed.readings.qlog_files import QlogError, log_content, log_names
from testbed.readings.qlog_traces import is_read, traces

#: Maximum number of events to keep from a file, and of characters in the message about unreadable files (``run.schema.json``).
MOST_EVENTS, MOST_WORDS = 200_000, 1_000
#: Mark at the beginning of a file that isn't part of the text.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Field of ``metrics_updated`` -> column: RTTs in ms, the rest in bytes; ``cwnd`` is aioquic's name for the congestion window.
METRICS = {
    "congestion_window": "cwnd_bytes", "cwnd": "cwnd_bytes", "ssthresh": "ssthresh_bytes", "bytes_in_flight": "flight_bytes",
    "smoothed_rtt": "rtt_ms", "latest_rtt": "rtt_latest_ms", "min_rtt": "rtt_min_ms", "rtt_variance": "rttvar_ms",
}  # fmt: skip
#: States of ``congestion_state_updated`` that are reported; any other state is stored as None.
STATES = ("slow_start", "congestion_avoidance", "recovery", "application_limited")
#: Maximum number of steps in a grid of times.
MOST_STEPS = 200_000
#: Maximum difference in ms between the time of a log's first event and the traffic's origin. If the difference is larger, the log's
#: reference time isn't a time of the run's clock (ngtcp2's, for example, is always 0).
MOST_AWAY_MS = 3_600_000


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
    for header, records, ending in traces(text):
        try:
            series = _series(Clock(header), records, ending, origin_ns, step_ns)
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
    events = _of_one_connection(_events(clock, records, ending))
    readings = sum(_has_reading(one) for _, one in events)
    if not readings:
        raise QlogError(ending.words or "has no metrics_updated event with a value in its data")
    if ending.damaged:
        raise QlogError(ending.words)
    shifts_ms = [origin_ns / 1e6 - origin_ms for origin_ms in clock.origins_ms]
    shift_ms = next((one for one in shifts_ms if abs(events[0][0] - one) <= MOST_AWAY_MS), None)
    known = shift_ms is not None
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


def _events(clock, records, ending):
    """Return the first `MOST_EVENTS` congestion control and loss events of a trace, with their times in ms since the trace's origin.

    If there are more, the log counts as truncated.
    """
    events = []
    for record in records:
        event = clock.named(record)
        # Other events matter only if each time counts from the previous event.
        if not (is_kept := is_read(event)) and not (clock.is_delta and isinstance(event, dict) and "time" in event):
            continue
        at_ms = clock.time_ms(event.get("time"))
        if is_kept:
            if len(events) == MOST_EVENTS:
                ending.words = f"has more than {MOST_EVENTS:,} congestion control and loss events"
                return events
            events.append((at_ms, event))
    return events


def _has_reading(event):
    """Return whether an event has a value for a column of `METRICS`."""
    data = event.get("data")
    is_read = "metrics_updated" in event["name"] and isinstance(data, dict)
    return is_read and any(number(data.get(field)) is not None for field in METRICS)


def _of_one_connection(events):
    """Return the events of the connection (``group_id``) with the most readings, if a trace has events of several connections."""
    ids = [str(event.get("group_id")) for _, event in events]
    readings = Counter(one for one, (_, event) in zip(ids, events, strict=True) if _has_reading(event))
    if len(readings) < 2:
        return events
    best, _ = readings.most_common(1)[0]
    return [each for one, each in zip(ids, events, strict=True) if one == best]


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
            if field in data:
                # An infinite ``ssthresh``, for example, is null or a very large number.
                value = number(data[field])
                now[column] = (
                    value * unit_ms if value is not None and column.endswith("_ms") and unit_ms != 1 else value
                )
    elif "packet_lost" in name:
        now["lost_packets"] += 1
    else:
        now["state"] = data.get("new") if data.get("new") in STATES else None
