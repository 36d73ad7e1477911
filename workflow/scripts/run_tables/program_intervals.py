"""Reporting intervals of program flows, and the columns of ``tidy/flows.csv`` that are computed from them, as for iperf3's flows.

The sent data are counted in packets. For a program over TCP, congestion window, RTT and retransmits are from the kernel's socket; for other
programs, congestion window and RTT are from the program's log (qlog), if one was read. Of several readings in an interval, the last one
counts.
"""

from collections.abc import Iterator

import numpy as np

from experiment.run_document import specification_of
from run_tables.program_deliveries import end_ns, log_of, logged, span_of_log_ns, summed
from run_tables.program_metrics import flows_of_programs, payload_bytes, sent_bytes
from run_tables.program_sockets import sockets_of_programs
from run_tables.steady_state import USUAL_RULE, intervals_of_flows, steady_flow, steady_windows

#: Columns of an interval at its end.
AT_END = ("rtt_ms", "rttvar_ms", "cwnd_packets")
#: Minimum share of a flow's retransmits on its main connection. If other connections have more, the flow's retransmits over time are unknown.
LEAST_SHARE = 0.9


def program_intervals(document) -> Iterator[dict]:
    """Yield one dict per program flow and reporting interval, with the same keys as `run_metrics.interval_metrics`.

    Intervals begin with the flow; the last one may be up to one half longer or shorter than the others.
    """
    run = specification_of(document)
    step_ns, sockets = round(1e9 * run.traffic.interval_s), sockets_of_programs(document)
    for flow, entry, packets in flows_of_programs(document):
        if packets["last_arrived_ns"] is None:
            continue
        begin_ns, last_ns = entry["start_ns"], end_ns(flow, entry, packets)
        edges_ns = begin_ns + step_ns * np.arange(max(1, round((last_ns - begin_ns) / step_ns)) + 1)
        edges_ns[-1] = last_ns
        sent = summed(packets["sent_bytes_by_step"], packets["step_ns"], edges_ns)
        # The steps in which the flow begins and ends are only partly inside its lifetime.
        sent[[0, -1]] = 0, sent_bytes(packets)
        socket, size = sockets.get(flow.number, {}), payload_bytes(run, flow, packets)
        if "series" in socket:
            columns = _of_socket(socket, packets, edges_ns)
        else:
            columns = _of_log(log_of(flow, entry), packets, edges_ns, size)
        for place, (begin, end) in enumerate(zip(edges_ns, edges_ns[1:], strict=False)):
            known = {name: values[place] for name, values in columns.items()}
            window = known.get("cwnd_packets")
            yield {
                "flow": flow.number, "start_s": float(begin - begin_ns) / 1e9, "end_s": float(end - begin_ns) / 1e9,
                "sent_mbps": float(sent[place + 1] - sent[place]) * 8e3 / float(end - begin), "retransmits": known.get("retransmits"),
                "cwnd_bytes": None if window is None else round(window * size),
                "rtt_ms": known.get("rtt_ms"), "rttvar_ms": known.get("rttvar_ms"),
            }  # fmt: skip


def interval_columns(document, intervals, rule=USUAL_RULE) -> dict[int, dict]:
    """Return the columns of `tidy_tables.FLOWS` that are computed from intervals and sockets, by program flow.

    ``intervals`` are the dicts from `program_intervals`; ``rule`` defines start-up.
    """
    steady = next(iter(steady_windows(document, rule).values()), None)
    of_flows, sockets, columns = intervals_of_flows(intervals), sockets_of_programs(document), {}
    for flow, entry, _ in flows_of_programs(document):
        own, socket = of_flows.get(flow.number, ()), sockets.get(flow.number, {})
        rtts, windows = ([one[name] for one in own if one[name] is not None] for name in ("rtt_ms", "cwnd_bytes"))
        least = (socket.get("series") or log_of(flow, entry) or {}).get("rtt_min_ms", ())
        columns[flow.number] = {
            "rtt_mean_ms": sum(rtts) / len(rtts) if rtts else None, "rtt_max_ms": max(rtts, default=None),
            "rtt_min_ms": min((rtt for rtt in least if rtt is not None), default=None),
            "cwnd_max_bytes": max(windows, default=None), "cca_observed": socket.get("cca"),
            **steady_flow(own, entry["start_ns"] / 1e6, steady),
        }  # fmt: skip
    return columns


def _of_socket(socket, packets, edges_ns):
    """Return the latest reading of each column at the end of each interval, and the retransmits of each interval.

    There is no reading before the connection is established, nor in intervals that begin after it ended. Retransmits are missing if more
    than a small share of them (`LEAST_SHARE`) belongs to other connections of the flow.
    """
    series = socket["series"]
    times_ns, columns = np.rint(1e9 * np.asarray(series["time_s"])), {}
    last = np.searchsorted(times_ns, edges_ns, "right") - 1
    read = [place >= 0 and times_ns[-1] > begin for begin, place in zip(edges_ns, last[1:], strict=False)]
    for name in AT_END:
        columns[name] = [
            series[name][place] if known and name in series else None
            for place, known in zip(last[1:], read, strict=True)
        ]
    again = series["retransmits"]
    if socket["connections"] > 1 and again[-1] < LEAST_SHARE * packets["repeated_packets"]:
        return columns
    return columns | {"retransmits": np.diff([again[place] if place >= 0 else 0 for place in last]).tolist()}


def _of_log(log, packets, edges_ns, packet_bytes):
    """Return the columns of a log at the end of each interval or, if a truncated log ends in the interval, at the log's end.

    Packets declared lost aren't among the columns, because they aren't retransmits.
    """
    if log is None:
        return {}
    last_ns = span_of_log_ns(log, packets)[1]
    times_ns = np.where(edges_ns[:-1] < last_ns, np.minimum(edges_ns[1:], last_ns), edges_ns[1:])
    columns = logged(log, packets, times_ns, packet_bytes)
    return {name: columns[name] for name in AT_END if name in columns}
