"""Deliveries of program flows, derived from the packets at both hosts, and their time series.

The results have the form of the socket data in a run document, so the same code evaluates all flows. The time series of a program over
TCP come from the kernel's sockets. For other programs, they are derived from the packets; values from the program's congestion control log
(qlog) are in the columns that contain the kernel's values for other flows.
"""

import math

import numpy as np

from experiment.flow_groups import PROGRAM
from experiment.run_document import specification_of
from run_tables.flows_under_test import programs_under_test
from run_tables.program_metrics import delivered_bytes, flows_of_programs, payload_bytes
from testbed.readings.deliveries import EARLY, PARTS


def with_program_deliveries(document) -> dict:
    """Return a run document with program flows added to ``delivered`` and ``series``.

    Only programs under test are added to ``delivered``. So, as in runs of the kernel's CCAs, other programs don't affect the period in which
    all flows are active. If no program is under test, only flows with a congestion control log or a TCP socket are added to ``series``.

    The delivered bytes (`program_metrics.delivered_bytes`) are distributed over time in proportion to the bytes that arrived. The sent
    bytes are the payload of all packets.
    """
    run = specification_of(document)
    if "failure" in document:
        return document
    flows = flows_of_programs(document)
    if series := document.get("series"):
        of_kernel = {one["flow"]: one.get("series") for one in document.get("program_sockets", ())}
        sockets = [
            {"flow": flow.number, **of_kernel[flow.number]}
            if of_kernel.get(flow.number)
            else _series(run, flow, entry, packets, series["queue"]["time_s"])
            for flow, entry, packets in flows
            if programs_under_test(run) or log_of(flow, entry) or of_kernel.get(flow.number)
        ]
        if sockets:
            document = document | {"series": series | {"sockets": [*series.get("sockets", []), *sockets]}}
    under_test = {group.name for group in programs_under_test(run)}
    if not under_test:
        return document
    flows = [one for one in flows if one[0].group in under_test]
    times_ns = document.get("delivered", {}).get("time_ns") or _reading_times_ns(run, flows)
    known = document.get("delivered", {}).get("flows", [])
    delivered = [
        {"flow": flow.number, "bytes": _delivered(flow, entry, packets, times_ns)} for flow, entry, packets in flows
    ]
    return document | {"delivered": {"time_ns": times_ns, "flows": [*known, *delivered]}}


def end_ns(flow, entry, packets) -> int:
    """Return when a program's flow ended, in ns since the traffic's origin.

    This is the scheduled or the actual end, whichever is earlier, but not earlier than the arrival of the flow's last packet.
    """
    ended_ns = entry["client"]["ended_ns"]
    if flow.seconds is not None:
        ended_ns = min(ended_ns, round(1e9 * (flow.start_s + flow.seconds)))
    return max(ended_ns, packets["last_arrived_ns"] or 0)


def _reading_times_ns(run, flows):
    """Return the times in ns at which deliveries are evaluated in a run without socket readings.

    The times span the common lifetime of all flows, and the common lifetime of each set of flows with the same schedule.
    """
    step_ns, lives, same_times = 5e5 * run.rtt_longest_ms, [], {}
    for flow, entry, packets in flows:
        if packets["last_arrived_ns"] is None:
            continue
        begin_ns = packets["first_sent_ns"] + run.rtt_longest_ms * 5e5
        lives.append((begin_ns, end_ns(flow, entry, packets)))
        group = next(one for one in run.groups_of(PROGRAM) if one.name == flow.group)
        same_times.setdefault((group.start_s, group.stop_s), []).append(lives[-1])
    times_ns = set()
    for of_flows in [lives, *same_times.values()] if lives else []:
        begin_ns, last_ns = max(begin for begin, _ in of_flows), min(end for _, end in of_flows)
        early = [begin_ns + number * step_ns for number in range(EARLY)]
        regular = [begin_ns + (last_ns - begin_ns) * number / PARTS for number in range(PARTS + 1)]
        times_ns |= {round(at) for at in (*early, *regular) if at <= last_ns}
    return sorted(times_ns)


def _delivered(flow, entry, packets, times_ns):
    """Return the number of bytes that a flow had delivered by each of the given times; None before the flow's start and after its end."""
    if packets["last_arrived_ns"] is None:
        return [None] * len(times_ns)
    begin_ns, last_ns = packets["first_sent_ns"], end_ns(flow, entry, packets)
    counts = np.rint(_arrived(flow, entry, packets, times_ns))
    return [int(count) if begin_ns <= at <= last_ns else None for at, count in zip(times_ns, counts, strict=True)]


def _arrived(flow, entry, packets, times_ns):
    """Return how many bytes had arrived by each of the given times, interpolated linearly within each step of the packet counts."""
    total = sum(packets["arrived_bytes_by_step"])
    share = delivered_bytes(flow, entry, packets) / total if total else 0.0
    return share * summed(packets["arrived_bytes_by_step"], packets["step_ns"], times_ns)


def summed(steps, step_ns, times_ns) -> np.ndarray:
    """Return the totals of bytes up to each of the given times in ns, interpolated linearly within each step.

    ``steps`` are the bytes of each step, and ``step_ns`` is the length of a step.
    """
    edges_ns = step_ns * np.arange(len(steps) + 1)
    return np.interp(times_ns, edges_ns, np.concatenate([[0], np.cumsum(steps)]))


def _series(run, flow, entry, packets, times_s):
    """Return a flow's time series, at those sampling times of the queue that lie within the flow's lifetime."""
    last_s = end_ns(flow, entry, packets) / 1e9
    times_s = [at for at in times_s if flow.start_s <= at <= last_s]
    times_ns = 1e9 * np.asarray(times_s)
    sent = np.rint(summed(packets["sent_bytes_by_step"], packets["step_ns"], times_ns))
    return {
        "flow": flow.number, "time_s": times_s, "bytes_sent": sent.astype(int).tolist(),
        "bytes_acked": np.rint(_arrived(flow, entry, packets, times_ns)).astype(int).tolist(),
        **logged(log_of(flow, entry), packets, times_ns, payload_bytes(run, flow, packets)),
    }  # fmt: skip


def log_of(flow, entry) -> dict | None:
    """Return the log of a flow's program (`testbed.readings.qlog`), or None if no log was read."""
    log = entry[flow.program.data_from].get("qlog")
    return None if log is None or "problem" in log else log


def span_of_log_ns(log, packets) -> tuple[float, float]:
    """Return the times at which a log's values begin and end, in ns since the traffic's origin.

    A complete log has no end (infinity), because its last values stay valid.
    """
    # A log without a start time is assumed to have begun with the flow.
    begin_ns = log["from_ns"] if log["aligned"] else log["from_ns"] + (packets["first_sent_ns"] or 0)
    steps = max(len(values) for values in log.values() if isinstance(values, list)) - 1
    return begin_ns, math.inf if log["complete"] else begin_ns + steps * log["step_ns"]


def logged(log, packets, times_ns, packet_bytes) -> dict[str, list]:
    """Return the columns of a log at the given times in ns; the dict is empty without a log.

    Bytes are converted to packets with a payload of ``packet_bytes``. Values before the log's beginning, and after the end of a truncated log,
    are None.
    """
    if log is None or packet_bytes <= 0:
        return {}
    begin_ns, last_ns = span_of_log_ns(log, packets)
    places = ((np.asarray(times_ns) - begin_ns) // log["step_ns"]).astype(int)
    places[np.asarray(times_ns) > last_ns] = -1
    columns = {}
    for name, (key, unit) in LOGGED.items():
        if (values := log.get(key)) is None:
            continue
        found = [values[min(place, len(values) - 1)] if place >= 0 else None for place in places]
        columns[name] = [value / packet_bytes if unit == "packets" and value is not None else value for value in found]
    # The phase is derived from the logged state or, as for the kernel, from ssthresh.
    return columns if {"state", "ssthresh_packets"} & {*columns} else columns | {"state": ["unknown"] * len(places)}


#: Column of ``tidy/sockets.parquet`` -> column of a log, and "packets" if the logged bytes are converted to packets.
LOGGED = {
    "cwnd_packets": ("cwnd_bytes", "packets"), "ssthresh_packets": ("ssthresh_bytes", "packets"),
    "unacked_packets": ("flight_bytes", "packets"), "rtt_ms": ("rtt_ms", ""), "rttvar_ms": ("rttvar_ms", ""),
    "rtt_min_ms": ("rtt_min_ms", ""), "retransmits": ("lost_packets", ""), "state": ("state", ""),
}  # fmt: skip
