"""Metrics of a run, of its flows and of its reporting intervals, computed from the run document."""

from collections.abc import Iterator

from experiment.packet_sizes import MPTCP_OPTION_BYTES
from experiment.run_document import specification_of
from run_tables.application_metrics import application_flows, has_own_metrics, retransmitted_segments
from run_tables.flows_under_test import programs_under_test
from run_tables.program_metrics import packet_sizes_of_programs
from run_tables.retransmit_share import retransmit_percent
from run_tables.simulated_metrics import is_simulated, simulated_bottleneck, simulated_flows, simulated_intervals
from run_tables.steady_state import USUAL_RULE, intervals_of_flows, steady_flow, steady_run, steady_windows
from run_tables.stream_metrics import has_streams, steady_columns, stream_flows
from tcp_models.fairness_index import jain_index
from tcp_models.wire_theory import frame_bytes
from testbed.checks.flow_checks import delivered_spans
from testbed.checks.loss_checks import outage_drops
from testbed.network.policer import drops
from testbed.readings.deliveries import lifetime_windows, windows

#: Direction in which TCP data are sent on the path.
FORWARD = "forward"


def _flow_conditions(run, flow) -> dict[str, str | float]:
    """Return a flow's configured conditions as columns of `tidy_tables.FLOWS`."""
    pair = run.flow_pair(flow)
    return {
        "flow_cca": run.flow_cca(flow),
        "pair": pair.index + 1,
        "group": run.long_flows[flow].group,
        "hops": pair.hops,
        "first_hop": pair.first_hop,
        # A cable connects only one pair of hosts, which may use several paths, so the paths' mean base RTT is used.
        "rtt_path_ms": run.rtt_path_ms if run.is_cable else float(pair.rtt_ms),
        "direction": pair.direction,
        "rtt_shortest_ms": run.capacity.shortest_rtt_ms(pair),
    }


def flow_metrics(document, rule=USUAL_RULE) -> list[dict]:
    """Return one dict per flow, with the columns of `tidy_tables.FLOWS` that follow the run's factors, except ``valid``.

    For a simulated run, the values come from the simulator. ``rule`` defines start-up.
    """
    flows = _flows_of_kind(document)(document)
    run = specification_of(document)
    window_of, steady_of = windows(document), steady_windows(document, rule)
    of_streams = steady_columns(document, steady_of)
    intervals, alone = intervals_of_flows(interval_metrics(document)), lifetime_windows(document)
    return [
        flow
        | _delivered(
            flow, window_of.get(flow["flow"]), steady_of.get(flow["flow"]), "transfer" in document["traffic"][0]
        )
        | steady_flow(intervals.get(flow["flow"], ()), flow["start_offset_ms"], steady_of.get(flow["flow"]))
        | of_streams.get(flow["flow"], {})
        | _flow_conditions(run, flow["flow"])
        | {"goodput_lifetime_mbps": alone[flow["flow"]].goodput_mbps(flow["flow"]) if flow["flow"] in alone else None}
        for flow in flows
    ]


def _flows_of_kind(document):
    """Return the function that reads a document's flows; the choice depends on the program that carried the flows."""
    if is_simulated(document):
        return simulated_flows
    if has_streams(document):
        return stream_flows
    return application_flows if has_own_metrics(document) else _iperf3_flows


def _delivered(flow, window, steady, is_file):
    """Return a flow's delivered data, goodput and measurement window; without a window, a file's goodput covers the entire transfer."""
    number = flow["flow"]
    return {
        "goodput_mbps": window.goodput_mbps(number)
        if window
        else flow["application_goodput_mbps"]
        if is_file
        else None,
        "goodput_steady_mbps": steady and steady.goodput_mbps(number),
        "delivered_bytes": window and window.delivered_bytes[number],
        "window_begin_ns": window and window.begin_ns,
        "window_end_ns": window and window.end_ns,
    }


def _iperf3_flows(document):
    """Yield the flows of plain iperf3 TCP connections, without their conditions."""
    # The kernel's minimum RTT (tcpi_min_rtt), from the last socket reading that contains it.
    looks = (socket for look in document["sockets"] for socket in look["sockets"])
    smallest = {socket["flow"]: socket["rtt_min_ms"] for socket in looks if "rtt_min_ms" in socket}
    for process in document["traffic"]:
        end = process["client"]["end"]
        for flow, stream in zip(process["flows"], end["streams"], strict=True):
            sender, receiver = stream["sender"], stream["receiver"]
            yield {
                "flow": flow,
                "start_offset_ms": process["start_offset_ms"],
                "application_goodput_mbps": receiver["bits_per_second"] / 1e6,
                "rtt_mean_ms": sender["mean_rtt"] / 1e3,
                "rtt_min_ms": smallest.get(flow),
                "rtt_max_ms": sender["max_rtt"] / 1e3,
                "retransmits": sender["retransmits"],
                "bytes_sent": sender["bytes"],
                "bytes_received": receiver["bytes"],
                "cwnd_max_bytes": sender["max_snd_cwnd"],
                "cca_observed": end.get("sender_tcp_congestion"),
            }


def bottleneck_metrics(document) -> dict[str, float | None]:
    """Return the columns packets_sent, queue_drops, link_drops, policer_drops and loss_percent of `tidy_tables.RUNS`.

    If one netem is both the queue and the cause of random loss (``both-ends``, ``sending-host``), its counter includes both kinds of drops;
    ``queue_drops`` and ``link_drops`` are then None if loss is configured.
    """
    if is_simulated(document):
        return simulated_bottleneck(document)
    placed = document["network"]["set"]
    run = specification_of(document)
    link = run.link
    if not placed["bottleneck"][FORWARD] and not placed["netem"][FORWARD]:
        # Without emulation (ping-pong messages on a real clock), packets are neither counted nor dropped.
        return dict.fromkeys(("packets_sent", "queue_drops", "link_drops", "policer_drops", "loss_percent"))
    passed, lost = _counts_of(document, placed["netem"][FORWARD], "netem")
    lost -= outage_drops(document, FORWARD)
    if link.netem_is_queue:
        offered, dropped = passed + lost, lost
        queue_drops, link_drops = (lost, 0) if link.loss_percent[FORWARD] == 0 else (None, None)
    elif not placed["bottleneck"][FORWARD]:
        offered, dropped, queue_drops, link_drops = passed + lost, lost, 0, lost
    else:
        passed, queue_drops = _counts_of(document, placed["bottleneck"][FORWARD], run.shaper)
        offered, dropped, link_drops = passed + queue_drops, queue_drops + lost, lost
    policed = drops(document, FORWARD)
    lost, of = dropped + (policed or 0), offered + (policed or 0)
    return {
        "packets_sent": offered,
        "queue_drops": queue_drops,
        "link_drops": link_drops,
        "policer_drops": policed,
        "loss_percent": 100 * lost / of if of else 0.0,
    }


def _counts_of(document, interfaces, kind):
    """Return the number of packets that the interfaces sent, and the number that their qdiscs dropped, during the traffic.

    Sent packets are counted by the devices. With segmentation offload, qdiscs would count inconsistently: they count each segment of a
    super-packet that they send, but count a dropped super-packet as one packet.
    """
    passed = dropped = 0
    for name in interfaces:
        before, after = (document["links"][when][name] for when in ("before", "after"))
        passed += after["tx_packets"] - before["tx_packets"]
        dropped += after["qdiscs"][kind]["drops"] - before["qdiscs"][kind]["drops"]
    return passed, dropped


def segment_bytes(document) -> int | None:
    """Return the payload of a full segment in bytes, as reported by TCP at the sender.

    If sockets were not read, return the payload of the programs' largest packet if a program is under test, otherwise the study's
    `segment_bytes`, which is None by default.
    """
    seen = [socket["mss_bytes"] for look in document["sockets"] for socket in look["sockets"] if "mss_bytes" in socket]
    if not seen and programs_under_test(specification_of(document)):
        return packet_sizes_of_programs(document)[0]
    return max(seen) if seen else specification_of(document).transport.segment_bytes


def span_ns(document) -> tuple[int, int]:
    """Return the beginning and the end of the period in which deliveries are known, in ns since the traffic's origin.

    The period comprises the flows' measurement windows or, if there are none, the flows' lifetimes or transfers. If these are unknown too,
    it comprises all traffic.
    """
    spans = [span for _, span in delivered_spans(document)]
    if not spans:
        return 0, round(1e9 * specification_of(document).expected_s)
    return min(begin for begin, _, _ in spans), max(end for _, end, _ in spans)


def ideal_shares(document, goodput) -> dict[str, float | None]:
    """Return the columns capacity_mbps, ideal_goodput_mbps and ideal_percent of `tidy_tables.RUNS`.

    ``goodput`` is the run's goodput in Mbit/s, or None.
    """
    run, (begin_ns, end_ns) = specification_of(document), span_ns(document)
    to_mbps, limits, capacity = 8e3 / (end_ns - begin_ns), [], None
    if run.traffic.application != "round-trip" and not run.capacity.is_unlimited():
        most, known = (of(begin_ns, end_ns) * to_mbps for of in (run.capacity.most_bytes, run.capacity.known_bytes))
        capacity = round(known * run.packet_bytes / run.payload_bytes, 9)
        limits += [] if run.is_chain else [(known, most - known)]
    for limit in filter(None, (run.traffic.bitrate_mbps, run.max_pacing_rate_mbps)):
        # iperf3 sends only complete blocks.
        limits.append((limit * run.flows, run.traffic.block_bytes * run.flows * to_mbps))
    ideal, late = min(limits, default=(None, None))
    share = None
    if ideal and goodput is not None:
        share = 100.0 if ideal < goodput <= ideal + late else 100 * goodput / ideal
    return {"capacity_mbps": capacity, "ideal_goodput_mbps": ideal, "ideal_percent": share}


def payload_and_frame_bytes(document) -> tuple[float, float] | tuple[None, None]:
    """Return the application payload of a full packet and its size at the bottleneck, in bytes; (None, None) if they are unknown.

    The size at the bottleneck includes tunnel headers, the MPTCP option and frame overhead.
    """
    run = specification_of(document)
    if run.traffic.application == "round-trip":
        return None, None
    payload = run.traffic.block_bytes if run.udp else segment_bytes(document)
    if payload is None:
        return None, None
    if programs_under_test(run) and not run.flows:
        return packet_sizes_of_programs(document)
    tunnel = run.multipath.tunnel_ip_version if run.multipath.by == "gre" else None
    frame = frame_bytes(payload, run.traffic.protocol, run.ip_version, run.link.frame_overhead_bytes, tunnel)
    if run.multipath.by == "mptcp":
        payload -= MPTCP_OPTION_BYTES  # the kernel's segment size includes the option
    return payload, frame


def _published_metrics(document, flows) -> dict[str, float | None]:
    """Return the metrics that the script TCP-ExBench computes in its function ``measure_metrics``."""
    segment = segment_bytes(document)
    sent, goodput = (total(flows, key) for key in ("bytes_sent", "application_goodput_mbps"))
    again = retransmits_of_run(document, flows)
    packets = sent / segment if segment and sent else 0
    return {
        "throughput_per_stream_mbps": None if goodput is None else goodput / len(flows),
        "rtt_first_stream_ms": flows[0]["rtt_mean_ms"] if flows else None,
        "published_loss_percent": 100 * again / packets if packets and again is not None else None,
    }


def _retransmit_share(document, flows) -> float | None:
    """Return the column retransmit_percent of `tidy_tables.RUNS` for the given flows, or None if it is unknown."""
    segment, received, again = (
        segment_bytes(document),
        total(flows, "bytes_received"),
        retransmits_of_run(document, flows),
    )
    known = segment and received is not None and again is not None and received + again > 0
    return retransmit_percent(again, received, segment) if known else None


def total(flows, key) -> float | None:
    """Return the sum of a column over the flows, or None if there are no flows or a value is missing."""
    values = [flow[key] for flow in flows]
    return None if None in values or not values else sum(values)


def retransmits_of_run(document, flows) -> int | None:
    """Return the number of retransmits in a run, or None if it is unknown.

    For MPTCP, the counters of the sending hosts are used, because only these include all subflows.
    """
    if specification_of(document).multipath.by != "mptcp" or not flows:
        return total(flows, "retransmits")
    return sum(
        retransmitted_segments(document, host) for host in {process["sender"] for process in document["traffic"]}
    )


def _of_one_time(document, flows):
    """Return whether all flows were scheduled to send during the same period, so that their individual rates can be added up."""
    run = specification_of(document)
    groups = {group.name: (group.start_s, group.stop_s) for group in run.groups}
    own = [(flow.start_s, flow.stop_s) for flow in run.long_flows] + [groups[flow.group] for flow in run.program_flows]
    return len({own[flow["flow"]] for flow in flows}) < 2


def _shared(flows, key):
    """Return the value that all flows share, or None if their values differ."""
    values = {flow[key] for flow in flows}
    return values.pop() if len(values) == 1 else None


def _has_several_rtts(document):
    """Return whether the paths have different RTTs, so that a flow's mean RTT isn't the RTT of any path."""
    return len(set(specification_of(document).multipath.path_delay_ms)) > 1


def run_metrics(document, flows, rule=USUAL_RULE) -> dict[str, float | None]:
    """Return the metrics of an entire run, as columns of `tidy_tables.RUNS`: goodput, RTT, loss, retransmits, fairness and so on.

    ``flows`` are the flows under test, from `flow_metrics` with the same rule for start-up.
    """
    minima = (flow["rtt_min_ms"] for flow in flows if flow["rtt_min_ms"] is not None)
    goodput, rtts = total(flows, "goodput_mbps"), total(flows, "rtt_mean_ms")
    return {
        "mss_bytes": segment_bytes(document),
        **ideal_shares(document, goodput),
        **_published_metrics(document, flows),
        "retransmit_percent": _retransmit_share(document, flows),
        "goodput_mbps": goodput,
        **{name: total(flows, name) for name in ("goodput_steady_mbps", "delivered_bytes")},
        "application_goodput_mbps": total(flows, "application_goodput_mbps") if _of_one_time(document, flows) else None,
        **{name: _shared(flows, name) for name in ("window_begin_ns", "window_end_ns")},
        "rtt_mean_ms": None if rtts is None else rtts / len(flows),
        "rtt_above_ms": None
        if rtts is None or _has_several_rtts(document)
        else (rtts - total(flows, "rtt_shortest_ms")) / len(flows),
        "rtt_min_ms": min(minima, default=None),
        "retransmits": retransmits_of_run(document, flows),
        "jain_index": None if goodput is None else jain_index([flow["goodput_mbps"] for flow in flows]),
        **bottleneck_metrics(document),
        **steady_run(document, flows, steady_windows(document, rule), segment_bytes(document)),
    }


def interval_metrics(document) -> Iterator[dict]:
    """Yield one dict per flow and reporting interval, with the columns of `tidy_tables.INTERVALS` that follow the run's factors."""
    if is_simulated(document):
        yield from simulated_intervals(document)
        return
    plain = not has_own_metrics(document)  # otherwise iperf3 reports the values of only one subflow, or none
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
