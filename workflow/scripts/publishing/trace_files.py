"""Convert a trace from `testbed.readings.kernel_trace` to text, a call graph and tables, with times since the traffic's origin."""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from publishing.result_checks.received_errors import ReceivedError

#: Form of a line of trace_pipe: task name and PID, CPU, flags, time in ns, event, text of the event.
LINE = re.compile(r"\s*(?P<task>.+)-(?P<number>\d+) +\[(?P<processor>\d+)\] (?P<flags>\S+) +(?P<ns>\d+): (?P<event>\w+): ?(?P<text>.*)")  # fmt: skip
#: Form of the text that envs/guest/tracing/trace_functions.c writes for a call or a return.
CALL = re.compile(r"[<>] (?P<function>\w+)")
#: Form of a field in the text of an event: ``name=value``, ``name = value`` or ``name: value``. Names don't begin with a digit, as pointers do.
FIELD = re.compile(r"\b([^\W\d]\w*)(?:=| = |: (?!\w+ ?=))(\S*)")
#: Columns in the table of every event.
COMMON = ("time_s", "task")
#: Field that contains the index of an interface, and column for the name of this interface.
NUMBER_FIELD, NAME_FIELD = "ifindex", "interface"


@dataclass(frozen=True)
class Record:
    """A line of a trace: an event with its text or, if ``event`` is None, the call of a function (``>``) or the return from it (``<``)."""

    time_ns: int
    task: str
    flags: str
    event: str | None
    text: str


def records_of(path: Path) -> Iterator[Record]:
    """Yield the records of trace.txt; raise ReceivedError for any other line, which a custom kernel may have written."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("CPU:") or not line.strip():  # events were lost here; they are counted elsewhere
                continue
            match = LINE.fullmatch(line.rstrip("\n"))
            if not match:
                raise ReceivedError(f"{path.name}, line {number}, is not an event.")
            is_call = CALL.fullmatch(match["text"])
            task = f"{match['task'].strip()}-{match['number']}"
            yield Record(int(match["ns"]), task, match["flags"], None if is_call else match["event"], match["text"])


def seconds(time_ns: int, origin_ns: int) -> str:
    """Return a time in s since the traffic's origin, to the nanosecond."""
    since = time_ns - origin_ns
    return f"{'-' * (since < 0)}{abs(since) // 10**9}.{abs(since) % 10**9:09}"


def fields_of(text: str) -> dict[str, str]:
    """Return the fields in the text of an event by name, without punctuation; a text without fields becomes the field ``text``."""
    fields = {name: value.rstrip(",.") for name, value in FIELD.findall(text)}
    # An entire field may be in brackets, such as [timeout=10]; the brackets of an IPv6 address belong to the value.
    fields = {name: value if "[" in value else value.rstrip("]") for name, value in fields.items()}
    return fields or {"text": text}


def write_text(trace: Path, origin_ns: int, output: Path) -> None:
    """Write the events in ftrace's format, with times in s since the traffic's origin."""
    with output.open("w") as file:
        for one in records_of(trace):
            if one.event:
                file.write(f"{one.task:>24} {one.flags} {seconds(one.time_ns, origin_ns):>16}: {one.event}: {one.text}\n")  # fmt: skip


def write_tables(trace: Path, origin_ns: int, interfaces: dict[str, str], folder: Path) -> Counter:
    """Write one table per event, ``<event>.csv``; return the number of rows in each table by event.

    The columns are ``time_s`` (since the traffic's origin), ``task``, and the event's fields. If the fields include the index of an
    interface, a column with the name of the interface is added.
    """
    columns, rows = defaultdict(dict), Counter()
    for one in records_of(trace):
        if one.event:
            columns[one.event] |= fields_of(one.text)
    with ExitStack() as stack:
        writers = {}
        for event, names in columns.items():
            named = [NAME_FIELD] if NUMBER_FIELD in names else []
            file = stack.enter_context((folder / f"{event}.csv").open("w", newline=""))
            writers[event] = csv.DictWriter(file, [*COMMON, *named, *names], restval="", lineterminator="\n")
            writers[event].writeheader()
        for one in records_of(trace):
            if one.event:
                row = fields_of(one.text)
                if NUMBER_FIELD in row:
                    row[NAME_FIELD] = interfaces.get(row[NUMBER_FIELD], "")
                writers[one.event].writerow({"time_s": seconds(one.time_ns, origin_ns), "task": one.task} | row)
                rows[one.event] += 1
    return rows


@dataclass(frozen=True)
class Call:
    """A function call.

    ``depth`` is the number of enclosing calls; ``caller`` is the function of the innermost enclosing call, or "" if there is none.
    """

    began_ns: int
    ended_ns: int
    task: str
    depth: int
    function: str
    caller: str


def calls_of(trace: Path) -> list[Call]:
    """Return the function calls in a trace, ordered by when they began; calls that don't return within the trace are omitted."""
    open_calls, calls = defaultdict(list), []
    for number, one in enumerate(records_of(trace)):
        if one.event:
            continue
        stack, sign, function = open_calls[one.task], one.text[0], one.text[2:]
        if sign == ">":
            stack.append((number, one.time_ns, function))
        elif stack and stack[-1][2] == function:
            began, began_ns, _ = stack.pop()
            caller = stack[-1][2] if stack else ""
            calls.append((began, Call(began_ns, one.time_ns, one.task, len(stack), function, caller)))
    return [call for _, call in sorted(calls, key=lambda one: one[0])]


def write_calls(calls: list[Call], origin_ns: int, folder: Path) -> None:
    """Write function calls to ``functions.txt`` as a call graph and to ``functions.csv`` as a table."""
    with (folder / "functions.txt").open("w") as graph, (folder / "functions.csv").open("w", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["time_s", "task", "depth", "function", "caller"])
        for call in calls:
            writer.writerow([seconds(call.began_ns, origin_ns), call.task, call.depth, call.function, call.caller])
        for began_s, text in _graph(calls, origin_ns):
            graph.write(f"{began_s:>16} | {text}\n")


def _graph(calls, origin_ns):
    """Yield the time and the text of each line in a call graph; the calls that a function makes are enclosed in braces."""
    around = []
    for call, following in zip(calls, [*calls[1:], None], strict=True):
        while len(around) > call.depth:
            yield around.pop()
        at, indent = seconds(call.began_ns, origin_ns), "  " * call.depth
        if following and following.depth > call.depth and following.task == call.task:
            yield at, f"{call.task:>24} | {indent}{call.function}() {{"
            around.append((seconds(call.ended_ns, origin_ns), f"{call.task:>24} | {indent}}}"))
        else:
            yield at, f"{call.task:>24} | {indent}{call.function}();"
    yield from reversed(around)


def write_counters(before: dict, after: dict, output: Path) -> None:
    """Write the increase of each host's counters (named as in nstat), one row per host; counters that changed on no host are omitted."""
    grown = {host: {name: after[host][name] - before[host].get(name, 0) for name in after[host]} for host in after}
    names = sorted({name for each in grown.values() for name, value in each.items() if value})
    with output.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["host", *names])
        writer.writerows([host, *(each.get(name, 0) for name in names)] for host, each in grown.items())


def readings_of(folder: Path) -> dict:
    """Return the content of a trace's readings.json; raise ReceivedError if the file is missing or, because of a custom kernel, invalid."""
    try:
        return json.loads((folder / "readings.json").read_text())
    except (OSError, ValueError):
        raise ReceivedError("the run left no complete trace.") from None
