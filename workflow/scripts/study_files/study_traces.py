"""Read the capacity of a link over time from a trace file when a study is resolved, so that runs don't need the file."""

import codecs
import hashlib
import io
import itertools
import math
import operator
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from experiment.packet_sizes import PACKET_BYTES
from experiment.timeline import TRACES, Timeline, directions_of
from experiment.traces import period_ns
from study_files.study_schema import dereferenced, study_schema
from study_files.study_timeline import CHANGES_LIMIT, changing_network_problems
from testbed.machine.given_file import given_bytes
from wording.terminal_text import shown

#: Maximum size of a trace file in bytes, and maximum number of lines by format: enough for an hour at 20 Mbit/s, or for an hour with a rate
#: every 10 ms.
LARGEST_BYTES = 2**26
MOST_LINES = {"mahimahi": 6_000_000, "csv": 500_000}
#: The first line of a CSV file.
HEADER = "time_s,rate_mbps"
#: Minimum length of the last step, as a fraction of a full step.
LEAST_STEP = 0.1
#: Minimum mean rate of a trace: one full packet in 12 s.
LEAST_MBPS = 0.001


class TraceError(ValueError):
    """A trace can't be used; the message states the problem and the allowed values."""


def completed_trace(trace, source) -> dict:
    """Return a trace completed with its period, the rate in each step, and the SHA-256 of its file.

    If a trace already contains rates, it is returned unchanged, and the file isn't read.

    Parameters
    ----------
    trace : dict
        `link.trace` of a scenario, with all keys.
    source : str
        Path of the study file; the path of the trace file is relative to the study file's folder.

    Raises
    ------
    TraceError
        If the file can't be read or isn't a valid trace.
    """
    if has_content(trace, "rates_mbps"):
        return trace
    if trace["period_ms"] is not None:
        raise TraceError(f"has period_ms {trace['period_ms']:g}; allowed with a file: null, because the file sets it.")
    content, sha256 = file_of(trace, source)
    if byte := re.search(rb"[^\x00-\x7f]", content):
        raise TraceError(f"can't be read: byte {byte.end()} is not text; allowed: numbers in lines.")
    count, most = max(content.count(b"\n"), content.count(b"\r")), MOST_LINES[trace["format"]]
    if count > most:
        raise TraceError(f"has {count:,} lines; allowed: up to {most:,}.")
    if not content.strip():
        raise TraceError("is empty; allowed: one line per packet or per rate.")
    lasts_ms, offered = _OF_FORMAT[trace["format"]](content)
    keys = dereferenced(study_schema()["$defs"]["trace"])["properties"]
    begins_ms = _steps(lasts_ms, trace["step_ms"], keys["rates_mbps"]["maxItems"])
    ends_ms = [*begins_ms[1:], lasts_ms]
    rates = [
        round(offered_bytes * 8 / (end - begin) / 1e3, 9)
        for begin, end, offered_bytes in zip(begins_ms, ends_ms, _differences(offered, ends_ms), strict=True)
    ]
    if not any(rates):
        raise TraceError("lets nothing pass; allowed: a rate above 0 in at least one step.")
    highest = keys["rates_mbps"]["items"]["maximum"]
    if max(rates) > highest:
        raise TraceError(f"has a step of {max(rates):g} Mbit/s; allowed: up to {highest:,}.")
    read = {"sha256": sha256, "period_ms": round(lasts_ms, 6), "rates_mbps": rates}
    return trace | read


def has_content(given, key) -> bool:
    """Return whether a trace or table already has the content of its file under the given key.

    Raises
    ------
    TraceError
        If it has neither a file nor this content, or both but no SHA-256, which a resolved study has.
    """
    if given["file"] is None and given[key] is None:
        raise TraceError(f"has neither file nor {key}; allowed: the path of a file next to the study's file.")
    if None not in (given["file"], given[key]) and given["sha256"] is None:
        raise TraceError(f"has both file and {key}; allowed without a sha256: one of them.")
    return given[key] is not None


def file_of(given, source) -> tuple[bytes, str]:
    """Return the content of a trace's or table's file without a byte order mark, and the file's SHA-256.

    Raises
    ------
    TraceError
        If the file can't be read, or if its SHA-256 isn't the given one.
    """
    content = file_beside(given["file"], source)
    sha256 = hashlib.sha256(content).hexdigest()
    if given["sha256"] not in (None, sha256):
        raise TraceError(f"has the SHA-256 {sha256}; allowed: the given sha256, {given['sha256']}.")
    return content.removeprefix(codecs.BOM_UTF8), sha256


def _steps(lasts_ms, step_ms, most):
    """Return the times in ms at which the steps of a trace begin.

    The last step may be shorter than the others. If it would be shorter than `LEAST_STEP` of a full step, it is merged into the previous
    step.
    """
    count = max(1, math.ceil(lasts_ms / step_ms - LEAST_STEP))
    if count > most:
        steps = f"{count:,}" if count < 1e12 else f"{count:.3g}"
        raise TraceError(f"is too long: {steps} steps of {step_ms:g} ms; allowed: up to {most:,}.")
    return [number * step_ms for number in range(count)]


def _differences(offered, ends_ms):
    """Return the number of bytes offered in each step; the function ``offered`` returns the number of bytes offered up to a time in ms."""
    return [until - before for before, until in itertools.pairwise([0, *map(offered, ends_ms)])]


def file_beside(name, source) -> bytes:
    """Return the content of a file in or below the study file's folder; raise `TraceError` if the file is elsewhere or unreadable."""
    folder = Path(source).parent.resolve()
    path = folder / name
    try:
        if not Path(name).is_absolute() and path.resolve().is_relative_to(folder):
            return given_bytes(path, LARGEST_BYTES)
    except OSError as error:
        raise TraceError(f"can't be read ({error.strerror}).") from None
    except RuntimeError:  # raised by Python up to 3.12 on a loop of symbolic links
        raise TraceError("can't be read (a loop of symbolic links).") from None
    except ValueError:  # a null byte
        raise TraceError("can't be read (no file has such a name).") from None
    raise TraceError("lies elsewhere; allowed: a file next to the study's file, or in a subfolder.")


def _texts(content):
    """Iterate over the non-blank lines of a trace; no list of possibly millions of lines is built."""
    return filter(str.strip, _all_lines(content))


def _lines(content):
    """Iterate over the non-blank lines of a trace as (line number, stripped text)."""
    return ((number, text) for number, line in enumerate(_all_lines(content), 1) if (text := line.strip()))


def _all_lines(content):
    return io.TextIOWrapper(io.BytesIO(content), "ascii")


def _number(text, number, line):
    """Convert a text to a finite, non-negative number; raise TraceError if this isn't possible."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TraceError(f"has '{shown(line, 60)}' in line {number}; allowed: numbers.")
    if value < 0:
        raise TraceError(f"has the negative number {text.strip()} in line {number}; allowed: numbers of at least 0.")
    return value


def _first(truths):
    """Return the index of the first true value, or None."""
    return next(itertools.compress(itertools.count(), truths), None)


def _ascending(times, unit, line_of):
    """Raise a TraceError unless times are in ascending order; the function ``line_of`` returns the line number for an index."""
    late = _first(map(operator.gt, times, itertools.islice(times, 1, None)))
    if late is not None:
        before, time = times[late : late + 2]
        raise TraceError(
            f"is not sorted: {time:g} {unit} in line {line_of(late + 1)} follows {before:g}; allowed: times in ascending order."
        )


def _of_packets(content):
    """Return the duration in ms of a trace in Mahimahi's format, and a function that returns the bytes offered up to a time in ms.

    Each line is a time in ms at which one full packet may pass. The last time is the period. If a packet may pass exactly at the end of a
    step, it belongs to that step. In Mahimahi (`link_queue.cc`), a line stands for 1,504 bytes on a TUN interface, that is, for an IP packet
    of 1,500 bytes.
    """
    at_ms, suspects = array("d"), []

    def line(index):
        return next(itertools.islice(_lines(content), index, None))

    try:
        at_ms.extend(map(float, _texts(content)))
    except ValueError:
        suspects.append(len(at_ms))
    suspects += [_first(map(operator.not_, map(math.isfinite, at_ms))), _first(map((0.0).__gt__, at_ms))]
    if suspects := [index for index in suspects if index is not None]:
        number, text = line(min(suspects))
        _number(text, number, text)
    _ascending(at_ms, "ms", lambda index: line(index)[0])
    if not at_ms[-1]:
        raise TraceError("lasts 0 ms; allowed: a last line above 0, after which it repeats.")
    return at_ms[-1], lambda until_ms: bisect_right(at_ms, until_ms) * PACKET_BYTES


def _of_rates(content):
    """Return the same values as `_of_packets`, but for a trace of times in s and rates in Mbit/s.

    Each rate lasts until the next time. The last rate lasts as long as the previous rate.
    """
    rows = _lines(content)
    _, header = next(rows)
    if header.replace(" ", "") != HEADER:
        raise TraceError(f"begins with '{shown(header, 60)}'; allowed: {HEADER}.")
    values = []
    for number, line in rows:
        cells = line.split(",")
        if len(cells) != 2:
            raise TraceError(f"has '{shown(line, 60)}' in line {number}; allowed: a time and a rate.")
        values.append((number, *(_number(cell, number, line) for cell in cells)))
    if len(values) < 2:
        raise TraceError("has fewer than two rates; allowed: at least two lines of numbers.")
    _ascending([time_s for _, time_s, _ in values], "s", lambda index: values[index][0])
    if values[0][1] != 0:
        raise TraceError(f"begins at {values[0][1]:g} s; allowed: 0.")
    begins = [time_s * 1e3 for _, time_s, _ in values]
    ends = [*begins[1:], 2 * begins[-1] - begins[-2]]
    if ends[-1] <= 0:
        raise TraceError("lasts 0 s; allowed: a longer trace.")
    bytes_a_ms = [rate_mbps * 1e3 / 8 for _, _, rate_mbps in values]
    of_rows = (rate * (end - begin) for rate, begin, end in zip(bytes_a_ms, begins, ends, strict=True))
    passed = list(itertools.accumulate(of_rows, initial=0.0))

    def offered(until_ms):
        row = bisect_right(begins, until_ms) - 1
        return passed[row] + bytes_a_ms[row] * (until_ms - begins[row])

    return ends[-1], offered


_OF_FORMAT = {"mahimahi": _of_packets, "csv": _of_rates}


def trace_problems(scenario) -> Iterator[str]:
    """Yield problems with the traces of a resolved scenario, and with settings that can't be combined with traces."""
    link = scenario["link"]
    traces = {f"link.{key}": link[key] for key in TRACES if link[key]}
    if not traces:
        return
    problems = list(changing_network_problems(scenario, next(iter(traces))))
    if link["rate_mbps"] is None:
        problems.append(
            f"link.rate_mbps is null; allowed with {next(iter(traces))}: a number, because there is no bottleneck without a rate."
        )
    for name, trace in traces.items():
        for number, entry in enumerate(link["timeline"]):
            if entry["rate_mbps"] is not None and set(directions_of(entry)) & set(directions_of(trace)):
                problems.append(
                    f"link.timeline[{number}].rate_mbps is {entry['rate_mbps']:g}; allowed with {name}: null."
                )
    if link["reverse_trace"] and link["reverse_trace"]["direction"] != "reverse":
        problems.append(f"link.reverse_trace.direction is {link['reverse_trace']['direction']}; allowed: reverse.")
    if link["reverse_trace"] and link["trace"] and link["trace"]["direction"] != "forward":
        problems.append(
            f"link.trace.direction is {link['trace']['direction']}; allowed with link.reverse_trace: forward."
        )
    of_period = [problem for name, trace in traces.items() for problem in _of_period(trace, name)]
    yield from problems or of_period
    if (
        not problems
        and not of_period
        and (count := len(Timeline(link, scenario["traffic"]["duration_s"]).changes)) > CHANGES_LIMIT
    ):
        yield f"{next(iter(traces))} makes {count:,} changes; allowed: up to {CHANGES_LIMIT:,}."


def _of_period(trace, name):
    """Yield problems with the period and the mean rate of a trace."""
    rates, step_ms, lasts_ms = trace["rates_mbps"], trace["step_ms"], period_ns(trace) / 1e6
    last_ms = lasts_ms - (len(rates) - 1) * step_ms
    if last_ms <= 0 or (len(rates) > 1 and last_ms > (1 + LEAST_STEP) * step_ms + 1e-6):
        yield (
            f"{name}.period_ms is {trace['period_ms']:g}; allowed with {len(rates)} rates_mbps: a time within the last "
            f"step, where each step lasts {step_ms:g} ms."
        )
        return
    mean_mbps = (sum(rates[:-1]) * step_ms + rates[-1] * last_ms) / lasts_ms
    if mean_mbps < LEAST_MBPS:
        yield f"{name} offers {mean_mbps:g} Mbit/s on average; allowed: {LEAST_MBPS:g} (Mbit/s) or more."
