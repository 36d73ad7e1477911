"""Capacity over time from a file: read when a study is resolved, so that its runs need no file."""

import hashlib
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

from experiment.timeline import LEAST_PACKET_BYTES, Timeline, directions_of, rate_of_step
from study_files.study_schema import dereferenced, study_schema
from study_files.study_timeline import CHANGES_LIMIT, changing_network_problems
from wording.terminal_text import shown

#: The largest file of a trace: an hour at 20 Mbit/s in Mahimahi's format.
LARGEST_BYTES = 2**26
#: The first line of a CSV file.
HEADER = "time_s,rate_mbps"


class TraceError(ValueError):
    """A trace that can't be used; its text says what is wrong, and what is allowed."""


def completed_trace(trace, source) -> dict:
    """Return a trace with what its file says: SHA-256 and rates; as it is if it has rates.

    Parameters
    ----------
    trace : dict
        `link.trace` of a scenario, with all its keys.
    source : str
        The study's file, beside which the trace's lies.

    Raises
    ------
    TraceError
    """
    if trace["rates_mbps"] is not None:
        return trace
    if trace["file"] is None:
        raise TraceError("has neither file nor rates_mbps; allowed is the path of a file beside the study.")
    content = _content(trace["file"], source)
    try:
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise TraceError(f"can't be read: byte {error.start + 1} is no text; allowed are numbers in lines.") from None
    lines = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if not lines:
        raise TraceError("is empty; allowed is a line for each packet, or for each rate.")
    bytes_of_steps = _OF_FORMAT[trace["format"]](lines, trace["step_ms"])
    most = dereferenced(study_schema()["$defs"]["trace"])["properties"]["rates_mbps"]["maxItems"]
    if len(bytes_of_steps) > most:
        raise TraceError(
            f"is too long: {len(bytes_of_steps):,} steps of {trace['step_ms']:g} ms; allowed are up to {most:,}."
        )
    if not any(bytes_of_steps):
        raise TraceError("lets nothing pass; allowed is a rate above 0 in one step at least.")
    rates = [rate_of_step(passed, trace["step_ms"]) for passed in bytes_of_steps]
    highest = dereferenced(study_schema()["$defs"]["trace"])["properties"]["rates_mbps"]["items"]["maximum"]
    if max(rates) > highest:
        raise TraceError(f"has a step of {max(rates):g} Mbit/s; allowed are up to {highest:,}.")
    return trace | {"sha256": hashlib.sha256(content).hexdigest(), "rates_mbps": rates}


def _content(name, source):
    """Return the bytes of a file that lies beside a study, or below."""
    folder = Path(source).parent.resolve()
    path = folder / name
    if Path(name).is_absolute() or not path.resolve().is_relative_to(folder):
        raise TraceError("lies elsewhere; allowed is a file beside the study, or in a folder there.")
    try:
        if not path.is_file():
            raise TraceError("is no file; allowed is the path of one beside the study, from its folder.")
        if path.stat().st_size > LARGEST_BYTES:
            raise TraceError(f"is too long: {path.stat().st_size:,} bytes; allowed are up to {LARGEST_BYTES:,}.")
        return path.read_bytes()
    except OSError as error:
        raise TraceError(f"can't be read ({error.strerror}).") from None


def _number(text, number, line):
    """Return a finite number from 0 on; TraceError says what else stands there."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TraceError(f"has '{shown(line, 60)}' in line {number}; allowed are numbers.")
    if value < 0:
        raise TraceError(f"has the negative number {text.strip()} in line {number}; allowed are numbers from 0.")
    return value


def _ascending(times, unit):
    """Raise a TraceError unless (line, time) are in order."""
    for (_, before), (number, time) in itertools.pairwise(times):
        if time < before:
            raise TraceError(
                f"is not sorted: {time:g} {unit} in line {number} stands behind {before:g}; allowed are times in order."
            )


def _of_packets(lines, step_ms):
    """Return the bytes that may pass in each step of a trace of Mahimahi's format: a line is when, in ms, one full packet may.

    It ends with its last packet, at the end of a step.
    """
    times = [(number, _number(line, number, line)) for number, line in lines]
    _ascending(times, "ms")
    steps = [0] * max(1, math.ceil(times[-1][1] / step_ms))
    for _, time_ms in times:
        steps[min(int(time_ms / step_ms), len(steps) - 1)] += LEAST_PACKET_BYTES
    return steps


def _of_rates(lines, step_ms):
    """Return the bytes that may pass in each step of a trace of times in s and rates in Mbit/s, each until the next.

    The last one lasts as long as the one before it.
    """
    (_, header), *rows = lines
    if header.replace(" ", "") != HEADER:
        raise TraceError(f"begins with '{shown(header, 60)}'; allowed is {HEADER}.")
    if len(rows) < 2:
        raise TraceError("has fewer than two rates; allowed are two lines of numbers or more.")
    values = []
    for number, line in rows:
        cells = line.split(",")
        if len(cells) != 2:
            raise TraceError(f"has '{shown(line, 60)}' in line {number}; allowed are a time and a rate.")
        values.append((number, *(_number(cell, number, line) for cell in cells)))
    _ascending([(number, time_s) for number, time_s, _ in values], "s")
    if values[0][1] != 0:
        raise TraceError(f"begins at {values[0][1]:g} s; allowed is 0.")
    begins = [time_s * 1e3 for _, time_s, _ in values]
    ends = [*begins[1:], 2 * begins[-1] - begins[-2]]
    if ends[-1] <= 0:
        raise TraceError("lasts 0 s; allowed is longer.")
    steps = [0.0] * math.ceil(ends[-1] / step_ms)
    for (_, _, rate_mbps), begin, end in zip(values, begins, ends, strict=True):
        for step in range(int(begin / step_ms), min(len(steps), math.ceil(end / step_ms))):
            within_ms = min(end, (step + 1) * step_ms) - max(begin, step * step_ms)
            steps[step] += rate_mbps * max(0.0, within_ms) * 1e3 / 8
    return steps


_OF_FORMAT = {"mahimahi": _of_packets, "csv": _of_rates}


def trace_problems(scenario) -> Iterator[str]:
    """Yield what the rest of a resolved scenario contradicts in its trace: sentences that start with the key."""
    link, trace = scenario["link"], scenario["link"]["trace"]
    if not trace:
        return
    problems = list(changing_network_problems(scenario, "link.trace"))
    if link["rate_mbps"] is None:
        problems.append(
            "link.rate_mbps is null; allowed with link.trace is a number, for there is no bottleneck without."
        )
    for number, entry in enumerate(link["timeline"]):
        if entry["rate_mbps"] is not None and set(directions_of(entry)) & set(directions_of(trace)):
            problems.append(
                f"link.timeline[{number}].rate_mbps is {entry['rate_mbps']:g}; allowed with link.trace is null."
            )
    yield from problems
    if not problems and (count := len(Timeline(link, scenario["traffic"]["duration_s"]).changes)) > CHANGES_LIMIT:
        yield f"link.trace makes {count:,} changes; allowed are up to {CHANGES_LIMIT:,}."
