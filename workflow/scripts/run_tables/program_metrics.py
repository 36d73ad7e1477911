"""Results of program flows: rows of ``tidy/flows.csv`` and columns of ``tidy/groups.csv``, computed from the packets at both hosts.

A program's goodput is based on the amount of data that the program reports as received. Without such a report, it is based on the data that
TCP delivered, with each byte counted once, or on the payload of the UDP packets that arrived. The UDP payload includes the headers and
retransmissions of the program's own protocol.
"""

import math

from experiment.flow_groups import PROGRAM
from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, TCP_HEADER_BYTES, UDP_HEADER_BYTES
from experiment.run_document import specification_of
from inference.censored_times import ended_quantile
from run_tables.steady_state import USUAL_RULE, steady_windows
from testbed.checks.program_checks import reported_bytes
from testbed.readings.deliveries import windows
from testbed.traffic.program_process import ITSELF


def program_flows(document, rule=USUAL_RULE) -> list[dict]:
    """Return one dict per program flow, with the known columns of `tidy_tables.FLOWS`; ``rule`` defines start-up."""
    run = specification_of(document)
    common, steady = (
        next(iter(of_flows.values()), None) for of_flows in (windows(document), steady_windows(document, rule))
    )
    rows = []
    for flow, entry, packets in flows_of_programs(document):
        life = lifetime_ns(packets)
        window = (common.begin_ns, common.end_ns) if common else life
        goodput = window and goodput_mbps(flow, entry, packets, window)
        steady_mbps = steady and goodput_mbps(flow, entry, packets, (steady.begin_ns, steady.end_ns))
        said = reported_bytes(flow, entry)
        client_s = (entry["client"]["ended_ns"] - entry["client"]["started_ns"]) / 1e9
        rows.append(
            {
                "flow": flow.number, "flow_cca": flow.program.label, "pair": flow.pair.index + 1, "group": flow.group,
                "hops": flow.pair.hops, "first_hop": flow.pair.first_hop, "direction": flow.pair.direction,
                "rtt_path_ms": float(flow.pair.rtt_ms), "rtt_shortest_ms": run.capacity.shortest_rtt_ms(flow.pair),
                "start_offset_ms": entry["start_ns"] / 1e6, "goodput_mbps": goodput, "goodput_steady_mbps": steady_mbps,
                "delivered_bytes": None if goodput is None else round(goodput * (window[1] - window[0]) / 8e3),
                "window_begin_ns": window and window[0], "window_end_ns": window and window[1],
                "application_goodput_mbps": said * 8 / client_s / 1e6 if said is not None and client_s > 0 else None,
                "retransmits": packets["repeated_packets"], "bytes_sent": sent_bytes(packets),
                "bytes_received": delivered_bytes(flow, entry, packets),
                "goodput_lifetime_mbps": life and goodput_mbps(flow, entry, packets, life),
            }
        )  # fmt: skip
    return rows


def program_groups(document) -> dict[str, dict]:
    """Return the columns of `group_tables.GROUPS` for a run's program groups, by group."""
    run, of_groups = specification_of(document), {}
    for flow, entry, packets in flows_of_programs(document):
        of_groups.setdefault(flow.group, []).append((flow, entry, packets))
    return {name: _group(run, members) for name, members in of_groups.items()}


def flows_of_programs(document) -> list[tuple]:
    """Return (flow, entry in ``programs``, entry in ``program_packets``) for each program flow of a run."""
    run = specification_of(document)
    if not run.groups_of(PROGRAM):
        return []
    counted = document["program_packets"]["flows"]
    return list(zip(run.program_flows, document["programs"], counted, strict=True))


def packet_sizes_of_programs(document) -> tuple[int, int] | tuple[None, None]:
    """Return, for the largest packet that a run's programs sent, its payload and its size at the bottleneck, in bytes.

    Both are None if the programs sent no packets.
    """
    run = specification_of(document)
    sizes = [
        (packets["largest_packet_bytes"], payload_bytes(run, flow, packets))
        for flow, _, packets in flows_of_programs(document)
        if packets["packets_sent"]
    ]
    if not sizes:
        return None, None
    largest = max(size for size, _ in sizes)
    return min(payload for size, payload in sizes if size == largest), largest + run.link.frame_overhead_bytes


def payload_bytes(run, flow, packets) -> int:
    """Return the payload of a flow's largest packet; 0 or less if the flow sent no data."""
    of_protocol = UDP_HEADER_BYTES if flow.program.protocol == "udp" else TCP_HEADER_BYTES + run.timestamp_bytes
    return packets["largest_packet_bytes"] - ETHERNET_HEADER_BYTES - IP_HEADER_BYTES[run.ip_version] - of_protocol


def sent_bytes(packets) -> int:
    """Return the total payload of the packets that a flow sent; with TCP, retransmitted data count only once."""
    return sum(packets["sent_bytes_by_step"])


def delivered_bytes(flow, entry, packets) -> int:
    """Return the total number of bytes that a flow delivered; its goodput is based on this number (see the module's docstring)."""
    said = reported_bytes(flow, entry)
    if said is not None:
        return said
    return packets["bytes_arrived"] if packets["distinct_bytes"] is None else packets["distinct_bytes"]


def lifetime_ns(packets) -> tuple[int, int] | None:
    """Return when a flow's first packet was sent and when its last packet arrived, in ns, or None if no packet arrived."""
    if packets["last_arrived_ns"] is None:
        return None
    return packets["first_sent_ns"], packets["last_arrived_ns"]


def goodput_mbps(flow, entry, packets, window) -> float:
    """Return a flow's goodput in Mbit/s in a measurement window, given as (begin, end) in ns since the traffic's origin.

    If a step of the packet counts is only partly inside the window, its data are counted in proportion.
    """
    (begin_ns, end_ns), step_ns, steps = window, packets["step_ns"], packets["arrived_bytes_by_step"]
    inside = sum(
        size * max(0, min((number + 1) * step_ns, end_ns) - max(number * step_ns, begin_ns)) / step_ns
        for number, size in enumerate(steps)
    )
    if window == lifetime_ns(packets):
        inside = sum(steps)
    share = delivered_bytes(flow, entry, packets) / sum(steps) if sum(steps) else 0
    return inside * share * 8e3 / (end_ns - begin_ns)


def completion_ms(flow, entry) -> float | None:
    """Return the time in ms from the client's start to its exit; None if the flow has no fixed size or wasn't completed."""
    client = entry["client"]
    if flow.bytes is None or client["ended_by"] != ITSELF or client["status"]:
        return None
    return (client["ended_ns"] - client["started_ns"]) / 1e6


def _group(run, members):
    sent, arrived = (sum(packets[f"packets_{way}"] for *_, packets in members) for way in ("sent", "arrived"))
    delays_ms = [delay / 1e6 for *_, packets in members if not _mixed_up(packets) for delay in packets["delay_ns"]]
    lives = [lifetime_ns(packets) for *_, packets in members]
    goodputs = [
        life and goodput_mbps(flow, entry, packets, life)
        for life, (flow, entry, packets) in zip(lives, members, strict=True)
    ]
    repeated = [packets["repeated_packets"] for *_, packets in members]
    return {
        "goodput_mbps": None if None in goodputs else sum(goodputs),
        "packets": sent,
        "lost_percent": 100 * max(0, sent - arrived) / sent if sent else None,
        "repeated_percent": 100 * sum(repeated) / sent if sent and None not in repeated else None,
        **_percentiles("delay", delays_ms),
        **_percentiles("queueing", _waits_ms(run, members)),
        **_completions(run, members),
    }


def _mixed_up(packets):
    """Return whether delays may belong to the wrong packets: some packets look alike, and more or fewer packets arrived than were sent."""
    return packets["alike"] > 0 and packets["packets_arrived"] != packets["packets_sent"]


def _waits_ms(run, members):
    """Return the queueing times in ms of a group's packets; empty if jitter or late packets are configured.

    The queueing time of a packet is its one-way delay minus the delay of the path at the time when the packet left the queue.
    """
    direction = members[0][0].pair.direction
    if run.direction(direction).jitter_ms or run.late_percent(direction):
        return []
    capacity = run.capacity_in(direction)
    return [
        capacity.waited_ns(sent_ns, sent_ns + delay_ns, flow.pair) / 1e6
        for flow, _, packets in members
        if not _mixed_up(packets)
        for sent_ns, delay_ns in zip(packets["sent_ns"], packets["delay_ns"], strict=True)
    ]


def _completions(run, members):
    """Return the columns about completion for a group whose flows have a fixed size; empty for other groups.

    For an incomplete flow, the time for which its client ran is a lower bound on the completion time.
    """
    if members[0][0].bytes is None:
        return {}
    times_ms = [completion_ms(flow, entry) for flow, entry, _ in members]
    complete = [time is not None for time in times_ms]
    watched = [
        (entry["client"]["ended_ns"] - entry["client"]["started_ns"]) / 1e6 if time is None else time
        for time, (_, entry, _) in zip(times_ms, members, strict=True)
    ]
    worst = [time if ended else math.inf for time, ended in zip(watched, complete, strict=True)]
    return {
        "complete": sum(complete),
        "watched_ms": max(watched),
        **_percentiles("completion", watched, complete),
        **_percentiles("completion_worst", worst, complete),
    }


def _percentiles(name, values, known=None):
    """Return percentiles of values as columns named as in `group_metrics`.

    ``known`` is a mask of the exact values; the other values are lower bounds.
    """
    known = [True] * len(values) if known is None else known
    return {f"{name}_p{p}_ms": ended_quantile(values, known, p / 100) for p in (50, 95, 99)}
