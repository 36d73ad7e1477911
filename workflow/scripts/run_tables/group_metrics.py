"""Properties and results of flow groups: rows of ``tidy/groups.csv`` and ``tidy/short_flows.parquet``."""

import math

import pyarrow

from experiment.flow_groups import LONG, PROGRAM, REAL_TIME, WEB
from experiment.programs import Program
from experiment.run_document import specification_of
from experiment.web_objects import NOT_COMPLETE, PATIENCE_S
from inference.censored_times import ended_quantile
from run_tables.group_tables import SHORT_FLOWS
from run_tables.parquet import schema_of
from run_tables.program_metrics import program_groups
from tcp_models.completion_time import INITIAL_WINDOW, ideal_completion_s
from testbed.readings.deliveries import lifetime_windows

SHORT_FLOWS_SCHEMA = schema_of(SHORT_FLOWS)
PERCENTILES = (50, 95, 99)
#: Gain of the smoothed jitter: the weight of a new value of |D| (RFC 3550, section 6.4.1).
JITTER_GAIN = 1 / 16


def groups_of_run(document, keys) -> tuple[list[dict], pyarrow.Table]:
    """Return the rows of `tidy_tables.GROUPS` and the table of `SHORT_FLOWS` for an executed run; both may be empty.

    ``keys`` are the run's factors.
    """
    run, valid = specification_of(document), document["verdict"]["valid"]
    rows, objects = [], []
    measured = {
        LONG: _long_flows(document),
        WEB: {},
        REAL_TIME: _streams(document, run),
        PROGRAM: program_groups(document),
    }
    for group, web_objects in zip(run.groups_of(WEB), document.get("web", ()), strict=True):
        of_group = list(_objects(run, group, web_objects))
        objects += [{**keys, **_who(run, group), **row, "valid": valid} for row in of_group]
        measured[WEB][group.name] = _completions(of_group)
    for group in run.groups:
        rows.append(
            {
                **keys,
                **_who(run, group),
                "application": group.application,
                "direction": group.direction,
                **{name: getattr(group, name) for name in ("start_s", "stop_s")},
                "members": group.count,
                **measured[group.application].get(group.name, {}),
                "valid": valid,
            }
        )
    return rows, pyarrow.Table.from_pylist(objects, schema=SHORT_FLOWS_SCHEMA)


def _who(run, group):
    """Return the name and CCA of a group, and the CCAs of the long flows and programs that compete with it."""
    if group.application == REAL_TIME:
        cca = ""
    elif group.application == PROGRAM:
        cca = Program(**group.program).label
    elif group.application == WEB:
        cca = run.server_cca(group)
    else:
        cca = "+".join(dict.fromkeys(flow.cca for flow in run.long_flows if flow.group == group.name))
    others = [flow.cca for flow in run.long_flows if flow.group != group.name]
    others += [Program(**one.program).label for one in run.groups_of(PROGRAM) if one.name != group.name]
    return {"group": group.name, "group_cca": cca, "beside": "+".join(dict.fromkeys(others)) or "none"}


def _long_flows(document):
    """Return ``goodput_mbps`` by group of long flows; None if the goodput of any flow in the group is unknown.

    A group's goodput is the sum of its flows' goodputs, divided by the number of on periods. Each flow's goodput is averaged over the flow's
    lifetime.
    """
    alone, run = lifetime_windows(document), specification_of(document)
    goodputs = {}
    for flow in run.long_flows:
        window = alone.get(flow.number)
        goodputs.setdefault(flow.group, []).append(window and window.goodput_mbps(flow.number))
    times = {group.name: len(group.on_times_s) for group in run.groups_of(LONG)}
    return {
        group: {"goodput_mbps": None if None in values else sum(values) / times[group]}
        for group, values in goodputs.items()
    }


def _objects(run, group, objects):
    """Yield the results for each object in a group of web objects, as columns of `SHORT_FLOWS`."""
    pair = run.group_pair(group)
    rtt_s, capacity = pair.rtt_ms / 1e3, run.capacity_in(pair.direction)
    for number, size in enumerate(objects["bytes"]):
        completion_ns, start_ns = objects["completion_ns"][number], objects["start_ns"][number]
        ideal_s = None
        if completion_ns is not None and not run.timeline and capacity.is_links:
            answer_bytes, empty_bytes = size + objects["header_bytes"][number], run.packet_bytes - run.segment_bytes
            ideal_s = ideal_completion_s(
                answer_bytes,
                run.segment_bytes,
                run.packet_bytes,
                empty_bytes,
                run.rate_in(pair.direction),
                rtt_s,
                run.scenario["transport"].get("initial_window_packets") or INITIAL_WINDOW,
            )
        yield {
            "object": number,
            "start_s": None if start_ns is None else start_ns / 1e9,
            "bytes": size,
            "completion_ms": None if completion_ns is None else completion_ns / 1e6,
            "watched_ms": _watched_ms(run, completion_ns, start_ns, objects["failures"].get(str(number))),
            "ideal_ms": None if ideal_s is None else 1e3 * ideal_s,
            "slowdown": None if ideal_s is None else completion_ns / 1e9 / ideal_s,
            "failure": objects["failures"].get(str(number), ""),
        }


def _watched_ms(run, completion_ns, start_ns, failure):
    """Return how long the run waited for an object, in ms; None if the object failed or was never requested."""
    if completion_ns is not None:
        return completion_ns / 1e6
    if failure == NOT_COMPLETE and start_ns is not None:
        return 1e3 * (run.traffic.duration_s + PATIENCE_S) - start_ns / 1e6
    return None


def _completions(objects):
    """Return the columns of `GROUPS` about web objects.

    For an incomplete object, the waiting time is a lower bound on the completion time, and the slowdown is infinite.
    """
    complete = [row["completion_ms"] is not None for row in objects]
    watched = [math.inf if row["watched_ms"] is None else row["watched_ms"] for row in objects]
    worst = [time if ended else math.inf for time, ended in zip(watched, complete, strict=True)]
    slowdowns = [row["slowdown"] if ended else math.inf for row, ended in zip(objects, complete, strict=True)]
    known = None not in slowdowns and any(complete)
    return {
        "members": len(objects),
        "complete": sum(complete),
        "watched_ms": max((time for time in watched if time < math.inf), default=None),
        **_percentiles("completion", "ms", watched, complete),
        **_percentiles("completion_worst", "ms", worst, complete),
        **_percentiles("slowdown", "", slowdowns if known else [], complete if known else []),
    }


def _streams(document, run):
    """Return the columns of `GROUPS` about real-time streams, by group."""
    of_groups = {}
    for group, streams in zip(run.groups_of(REAL_TIME), document.get("real_time", ()), strict=True):
        sent = sum(map(len, streams["delay_ns"]))
        delays_ms = [delay / 1e6 for of_stream in streams["delay_ns"] for delay in of_stream if delay is not None]
        jitters = [jitter_ms(of_stream) for of_stream in streams["delay_ns"]]
        known = [jitter for jitter in jitters if jitter is not None]
        of_groups[group.name] = {
            "complete": None,
            "packets": sent,
            "lost_percent": 100 * (sent - len(delays_ms)) / sent if sent else None,
            **_percentiles("delay", "ms", delays_ms),
            **_percentiles("queueing", "ms", waits_ms(run, run.group_pair(group), streams)),
            "jitter_ms": sum(known) / len(known) if known else None,
        }
    return of_groups


def waits_ms(run, pair, streams) -> list[float]:
    """Return the queueing times in ms of the stream packets that arrived.

    The queueing time of a packet is its one-way delay minus the delay of the path at the time when the packet left the queue. The result is
    empty if jitter or late packets are configured, because their additional delay can't be distinguished from queueing.
    """
    if run.direction(pair.direction).jitter_ms or run.late_percent(pair.direction):
        return []
    times = (
        (sent_ns, delay_ns)
        for stream in zip(streams["sent_ns"], streams["delay_ns"], strict=True)
        for sent_ns, delay_ns in zip(*stream, strict=False)
        if delay_ns is not None
    )
    return [
        run.capacity_in(pair.direction).waited_ns(sent_ns, sent_ns + delay_ns, pair) / 1e6
        for sent_ns, delay_ns in times
    ]


def jitter_ms(delays_ns) -> float | None:
    """Return a stream's mean interarrival jitter in ms (RFC 3550, sections 6.4.1 and A.8), or None if fewer than two packets arrived.

    The jitter J is the smoothed difference D between the transit times of consecutive packets: J = J + (|D| - J) / 16. Transit times are
    exact here, because both hosts share a clock. RFC 3550 reports only the last value of J; the mean is taken over all values.

    ``delays_ns`` lists the one-way delay of each packet, in the order of packet numbers, with None for a lost packet.
    """
    known = [delay for delay in delays_ns if delay is not None]
    smoothed, values = 0.0, []
    for before, after in zip(known, known[1:], strict=False):
        smoothed += JITTER_GAIN * (abs(after - before) - smoothed)
        values.append(smoothed)
    return sum(values) / len(values) / 1e6 if values else None


def _percentiles(name, unit, values, known=None):
    """Return percentiles of values as columns `<name>_p50_<unit>` and so on; None for percentiles that the exact values don't determine.

    ``known`` is a mask of the exact values; the other values are lower bounds. By default all values are exact.
    """
    ending, known = f"_{unit}" if unit else "", [True] * len(values) if known is None else known
    return {f"{name}_p{p}{ending}": ended_quantile(values, known, p / 100) for p in PERCENTILES}
