"""Traces of a qlog: their headers and events, from one JSON text (0.3) or from a sequence of JSON texts."""

import json
import re
from collections.abc import Iterator

from testbed.readings.qlog_files import QlogError

#: Maximum number of characters of an event, and length of the part of the text that is parsed first to find the next event.
MOST_RECORD, WINDOW = 2**16, 2**12
#: An event is read only if this pattern occurs in its name.
NAMES = re.compile(r"metrics_updated|congestion_state_updated|packet_lost")
#: Beginning of the events in a JSON text, and separators between them.
EVENTS, BETWEEN = re.compile(r'"events"\s*:\s*\['), re.compile(r"[\s,]*")
SEPARATOR = "\x1e"
#: Fields that apply to all events of a trace.
HEADER = ("reference_time", "time_format", "time_units", "event_fields")


class Ending:
    """The unreadable end of a log.

    ``words`` describes the unreadable part, or is empty if the entire log can be read. ``damaged`` states whether more content follows.
    """

    def __init__(self):
        self.words, self.damaged = "", False


def traces(text) -> Iterator[tuple[dict, Iterator, Ending]]:
    """Yield the header, the records and the `Ending` of each trace of a log.

    A JSON text may contain several traces. A sequence of JSON texts is one trace.
    """
    start = text.lstrip(" \t\r\n")[:1]
    if start not in (SEPARATOR, "{"):
        raise QlogError("is not a qlog in JSON" if start else "is empty")
    begins = [match.end() for match in EVENTS.finditer(text)] if start == "{" else []
    if not begins:
        header, ending = _header(text), Ending()
        yield header, _of_sequence(text, start, ending, is_delta(header)), ending
    objects = [0, *(_begin_of_object(text, begin) for begin in begins[1:]), len(text)]
    for number, begin in enumerate(begins, 1):
        # The fields may precede or follow the events.
        header, ending = _header(text[begin : objects[number]]) | _header(text[objects[number - 1] : begin]), Ending()
        yield header, _of_document(text, number, begin, ending), ending


def _begin_of_object(text, at):
    """Return where the object that contains a position of a text begins.

    Only the last `MOST_RECORD` characters before the position are searched. Braces in strings are counted, too.
    """
    begin, depth = max(0, at - MOST_RECORD), 0
    for brace in reversed(list(re.finditer("[{}]", text[begin:at]))):
        depth += 1 if brace[0] == "}" else -1
        if depth < 0:
            return begin + brace.start()
    return begin


def is_read(event) -> bool:
    """Return whether an event is one of `NAMES`."""
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


def is_delta(header) -> bool:
    """Return whether each time counts from the previous event."""
    fields = header.get("event_fields")
    return header.get("time_format") in ("delta", "relative_to_previous_event") or (
        isinstance(fields, list) and "delta_time" in fields
    )
