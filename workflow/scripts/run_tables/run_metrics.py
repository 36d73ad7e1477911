"""What a run document says in numbers: metrics of the run, its flows and its intervals."""

from collections.abc import Iterator

from run_tables.application_metrics import application_flows, has_own_metrics
from run_tables.simulated_metrics import is_simulated, simulated_bottleneck, simulated_flows, simulated_intervals
from tcp_models.wire_theory import frame_bytes, full_cable_mbps
from testbed.specification import MPTCP_OPTION_BYTES, RunSpecification

#: TCP's data are the forward direction of the path.
FORWARD = "forward"


def jain_index(values) -> float:
    """Return Jain's fairness index (Jain, Chiu and Hawe, 1984): 1 if all are equal, 1/n if one has all.

    Parameters
    ----------
    values : list of float
        Goodputs, at least one; all zero counts as fair.
    """
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def streams(document) -> Iterator[tuple[int, dict, dict]]:
    """Yield (flow, process, stream of the client's end section) in the order of flows."""
    for process in document["traffic"]:
        for flow, stream in zip(process["flows"], process["client"]["end"]["streams"], strict=True):
            yield flow, process, stream


def kernel_rtt_min_ms(document) -> dict[int, float]:
    """Return flow -> smallest RTT the kernel saw (tcpi_min_rtt) in ms, from the last look at the sockets."""
    return {
        socket["flow"]: socket["rtt_min_ms"]
        for look in document["sockets"]
        for socket in look["sockets"]
        if "rtt_min_ms" in socket
    }


def flow_conditions(document, flow) -> dict[str, str | float]:
    """Return what a flow was to have: ``flow_cca``, ``pair`` (of hosts, from 1), ``rtt_path_ms`` of that pair's empty path."""
    run = RunSpecification(document["specification"])
    pair = run.flow_pair(flow)
    return {
        "flow_cca": run.flow_cca(flow),
        "pair": pair.index + 1,
        # The one pair of a cable may have several paths, whose mean counts.
        "rtt_path_ms": run.rtt_path_ms if run.is_cable else float(pair.rtt_ms),
    }


def flow_metrics(document) -> list[dict]:
    """Return one dict a flow.

    Keys: ``flow`` and those of `flow_conditions`; ``start_offset_ms``, ``goodput_mbps`` (bytes
    received over the receiver's time), ``rtt_mean_ms``, ``rtt_max_ms`` (of the smoothed RTT that
    iperf3 reads at each interval's end), ``rtt_min_ms`` (the kernel's smallest
    single RTT), ``retransmits`` (segments), ``bytes_sent``, ``bytes_received``,
    ``cwnd_max_bytes``, ``cca_observed``. Of a simulated run what the simulator counted.
    """
    if is_simulated(document):
        return [flow | flow_conditions(document, flow["flow"]) for flow in simulated_flows(document)]
    if has_own_metrics(document):
        return [flow | flow_conditions(document, flow["flow"]) for flow in application_flows(document)]
    smallest = kernel_rtt_min_ms(document)
    flows = []
    for flow, process, stream in streams(document):
        sender, receiver = stream["sender"], stream["receiver"]
        flows.append(
            {
                "flow": flow,
                **flow_conditions(document, flow),
                "start_offset_ms": process["start_offset_ms"],
                "goodput_mbps": receiver["bits_per_second"] / 1e6,
                "rtt_mean_ms": sender["mean_rtt"] / 1e3,
                "rtt_min_ms": smallest.get(flow),
                "rtt_max_ms": sender["max_rtt"] / 1e3,
                "retransmits": sender["retransmits"],
                "bytes_sent": sender["bytes"],
                "bytes_received": receiver["bytes"],
                "cwnd_max_bytes": sender["max_snd_cwnd"],
                "cca_observed": process["client"]["end"].get("sender_tcp_congestion"),
            }
        )
    return flows


def bottleneck_metrics(document) -> dict[str, float | None]:
    """Return what happened to packets at and behind the bottleneck while traffic flowed.

    Returns
    -------
    dict
        ``packets_sent``: offered to the bottleneck, dropped ones included (a
        super-packet is one where segmentation offload is on);
        ``queue_drops`` and ``link_drops``: by the full queue, by configured loss;
        ``loss_percent``: both over the packets offered. Where one netem is queue and
        loss at once (``both-ends``) it counts them together: ``queue_drops`` and
        ``link_drops`` are then None unless no loss is configured. All are None where nothing is emulated.
    """
    if is_simulated(document):
        return simulated_bottleneck(document)
    placed = document["network"]["set"]
    link = document["specification"]["scenario"]["link"]
    if not placed["bottleneck"][FORWARD] and not placed["netem"][FORWARD]:
        # Nothing is emulated (a ping-pong under a real clock), so nothing counts packets or drops them.
        return dict.fromkeys(("packets_sent", "queue_drops", "link_drops", "loss_percent"))
    passed, lost = counts_of(document, placed["netem"][FORWARD], "netem")
    if link["netem"] == "both-ends":
        offered, dropped = passed + lost, lost
        queue_drops, link_drops = (lost, 0) if link["loss_percent"][FORWARD] == 0 else (None, None)
    elif not placed["bottleneck"][FORWARD]:
        offered, dropped, queue_drops, link_drops = passed + lost, lost, 0, lost
    else:
        passed, queue_drops = counts_of(document, placed["bottleneck"][FORWARD], "htb")
        offered, dropped, link_drops = passed + queue_drops, queue_drops + lost, lost
    return {
        "packets_sent": offered,
        "queue_drops": queue_drops,
        "link_drops": link_drops,
        "loss_percent": 100 * dropped / offered if offered else 0.0,
    }


def counts_of(document, interfaces, kind) -> tuple[int, int]:
    """Return what `qdisc_counts` does, of several interfaces together."""
    counts = [qdisc_counts(document, name, kind) for name in interfaces]
    return sum(passed for passed, _ in counts), sum(dropped for _, dropped in counts)


def qdisc_counts(document, interface, kind) -> tuple[int, int]:
    """Return (packets that left an interface, packets that its qdisc dropped) during the traffic.

    Those that left are the device's count: with segmentation offload a qdisc counts
    the segments of a super-packet that passes, but a dropped one as one.
    """
    before, after = (document["links"][when][interface] for when in ("before", "after"))
    dropped = after["qdiscs"][kind]["drops"] - before["qdiscs"][kind]["drops"]
    return after["tx_packets"] - before["tx_packets"], dropped


def segment_bytes(document) -> int | None:
    """Return the payload of a full segment of the run's connections in bytes, as the sender's TCP had it; None if nobody looked."""
    seen = [socket["mss_bytes"] for look in document["sockets"] for socket in look["sockets"] if "mss_bytes" in socket]
    return max(seen) if seen else document["specification"]["scenario"]["transport"]["segment_bytes"]


def ideal_goodput_mbps(document) -> float | None:
    """Return what the receiver would get of a path that is always full, in Mbit/s, or None.

    The payload's share of the bottleneck's rate, or what the senders are limited to,
    whichever is less; None if neither the link nor a sender has a limit.
    """
    scenario = document["specification"]["scenario"]
    rate, limit = scenario["link"]["rate_mbps"], scenario["traffic"]["bitrate_mbps"]
    payload, frame = payload_and_frame_bytes(document)
    limits = []
    if rate is not None and payload is not None:
        limits.append(full_cable_mbps(rate * scenario["multipath"]["paths"], payload, frame))
    if limit is not None:
        limits.append(limit * scenario["flows"])
    return min(limits) if limits else None


def payload_and_frame_bytes(document) -> tuple[float, float] | tuple[None, None]:
    """Return what a full packet carries for the application, and what the bottleneck counts of it, in bytes; (None, None) if unknown.

    Headers of the tunnel, MPTCP's option and the frame's overhead are counted too.
    """
    asked = document["specification"]
    scenario = asked["scenario"]
    paths, udp = scenario["multipath"], scenario["traffic"]["protocol"] == "udp"
    if scenario["traffic"]["application"] == "round-trip":
        return None, None
    payload = scenario["traffic"]["block_bytes"] if udp else segment_bytes(document)
    if payload is None:
        return None, None
    tunnel = paths["tunnel_ip_version"] if paths["by"] == "gre" else None
    overhead = scenario["link"]["frame_overhead_bytes"]
    frame = frame_bytes(payload, "udp" if udp else "tcp", asked["ip_version"], overhead, tunnel)
    if paths["by"] == "mptcp":
        payload -= MPTCP_OPTION_BYTES  # the kernel's segment size includes it
    return payload, frame


def published_metrics(document, flows) -> dict[str, float | None]:
    """Return the metrics as the script TCP-ExBench computes them (``measure_metrics`` there).

    Returns
    -------
    dict
        ``throughput_per_stream_mbps``: mean over the streams of what the receiver got per
        second; ``rtt_first_stream_ms``: mean RTT of the first stream; ``retransmit_percent``:
        retransmits over (bytes sent / MSS), there called packet loss. None if nothing was sent.
    """
    segment = segment_bytes(document)
    sent, again, goodput = (total(flows, key) for key in ("bytes_sent", "retransmits", "goodput_mbps"))
    packets = sent / segment if segment and sent else 0
    return {
        "throughput_per_stream_mbps": None if goodput is None else goodput / len(flows),
        "rtt_first_stream_ms": flows[0]["rtt_mean_ms"],
        "retransmit_percent": 100 * again / packets if packets and again is not None else None,
    }


def total(flows, key) -> float | None:
    """Return the sum over the flows, or None if one of them has no value."""
    values = [flow[key] for flow in flows]
    return None if None in values else sum(values)


def run_metrics(document, flows) -> dict[str, float | None]:
    """Return the metrics of the run as a whole.

    ``goodput_mbps`` is the sum over flows, ``rtt_mean_ms`` the mean over flows,
    ``rtt_min_ms`` the smallest of all, ``retransmits`` the sum in segments;
    ``mss_bytes``; and those of `ideal_goodput_mbps`, `published_metrics`,
    `bottleneck_metrics` and `jain_index`.
    """
    minima = [flow["rtt_min_ms"] for flow in flows if flow["rtt_min_ms"] is not None]
    goodput, rtts = total(flows, "goodput_mbps"), total(flows, "rtt_mean_ms")
    return {
        "mss_bytes": segment_bytes(document),
        "ideal_goodput_mbps": ideal_goodput_mbps(document),
        **published_metrics(document, flows),
        "goodput_mbps": goodput,
        "rtt_mean_ms": None if rtts is None else rtts / len(flows),
        "rtt_min_ms": min(minima) if minima else None,
        "retransmits": total(flows, "retransmits"),
        "jain_index": None if goodput is None else jain_index([flow["goodput_mbps"] for flow in flows]),
        **bottleneck_metrics(document),
    }


def interval_metrics(document) -> Iterator[dict]:
    """Yield one dict a flow and reporting interval, from the sender's side.

    Keys: ``flow``, ``start_s``, ``end_s``, ``sent_mbps``, ``retransmits``,
    ``cwnd_bytes``, ``rtt_ms``, ``rttvar_ms`` (at the interval's end).
    """
    if is_simulated(document):
        yield from simulated_intervals(document)
        return
    plain = not has_own_metrics(document)  # else iperf3 knows one subflow's, or none
    for process in document["traffic"]:
        for interval in process.get("client", {}).get("intervals", ()):
            for flow, stream in zip(process["flows"], interval["streams"], strict=True):
                yield {
                    "flow": flow,
                    "start_s": stream["start"],
                    "end_s": stream["end"],
                    "sent_mbps": stream["bits_per_second"] / 1e6,
                    "retransmits": stream["retransmits"] if plain else None,
                    "cwnd_bytes": stream["snd_cwnd"] if plain else None,
                    "rtt_ms": stream["rtt"] / 1e3 if plain else None,
                    "rttvar_ms": stream["rttvar"] / 1e3 if plain else None,
                }
