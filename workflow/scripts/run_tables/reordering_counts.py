"""Linux counters of out-of-order segments and of TCP's reactions to them."""

from experiment.run_document import specification_of
from run_tables.flows_under_test import numbers_under_test, programs_under_test, tcp_programs_under_test
from run_tables.program_sockets import last_readings, sockets_of_programs
from testbed.network.behind_bottleneck import counts

#: Column of ``tidy/runs.csv`` -> the side whose hosts' counters are added up, and the names of these counters in nstat. The two DSACK
#: counters (RFC 2883) count duplicates below and above the cumulative acknowledgement.
COUNTERS = {
    "out_of_order_segments": ("receiver", ("TcpExtTCPOFOQueue",)),
    "out_of_order_mptcp": ("receiver", ("MPTcpExtOFOQueue",)),
    "reordering_events": ("sender", ("TcpExtTCPSACKReorder", "TcpExtTCPRenoReorder", "TcpExtTCPTSReorder")),
    "recoveries": ("sender", ("TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery")),
    # TCPLossUndo isn't included, because it undoes the effect of a timeout, and timeouts aren't counted as recoveries.
    "recoveries_undone": ("sender", ("TcpExtTCPFullUndo", "TcpExtTCPPartialUndo", "TcpExtTCPDSACKUndo")),
    "duplicate_segments": ("receiver", ("TcpExtTCPDSACKOldSent", "TcpExtTCPDSACKOfoSent")),
}


def reordering_counts(document) -> dict[str, int | None]:
    """Return the columns in `COUNTERS` and spurious_retransmits for a run; None for values that the hosts don't count.

    The counters are read on the hosts of iperf3's flows and of programs under test. The values are None if the programs under test send
    over UDP.

    A segment that arrives twice was retransmitted unnecessarily. If the path duplicates packets, spurious_retransmits is None, because
    retransmissions and duplicates can't be distinguished.
    """
    run, counted = specification_of(document), (document.get("stack") or {}).get("tcp")
    hosts = {side: {process[side] for process in document["traffic"]} for side in ("sender", "receiver")}
    if programs_under_test(run):
        pairs = [flow.pair for flow in tcp_programs_under_test(run)]
        # Without programs, the hosts of all flows of iperf3 count; programs under test replace some of these flows.
        hosts = {side: hosts[side] | {getattr(pair, side) for pair in pairs} if pairs else set() for side in hosts}
    if not counted or run.udp or not hosts["sender"]:
        return dict.fromkeys((*COUNTERS, "spurious_retransmits"))
    counts_of_run = {
        column: sum(counted[host].get(name, 0) for host in hosts[side] for name in names)
        for column, (side, names) in COUNTERS.items()
    }
    twice = run.option("duplicate_percent", "forward")
    return counts_of_run | {"spurious_retransmits": None if twice else counts_of_run["duplicate_segments"]}


def waiting_per_late_packet(document) -> float | None:
    """Return the column waiting_per_late_packet of `tidy_tables.RUNS`, for the data's direction.

    The value isn't the reordering extent of RFC 4737: if a retransmission arrives before the late packet, it ends the wait, and a segment
    that waits for two late packets is counted once. None unless `reordering` is set and packets were late, or if a queue dropped a packet:
    segments behind a lost segment wait too.
    """
    if not specification_of(document).option("reordering", "forward"):
        return None
    _, _, late = counts(document, "forward") or (None, None, None)
    waited = reordering_counts(document)["out_of_order_segments"]
    # Segments also wait in the out-of-order queue if a segment before them was lost.
    return waited / late if late and waited is not None and not any_drops(document) else None


def any_drops(document) -> bool:
    """Return whether any queueing discipline in the network dropped a packet."""
    return any(qdisc["drops"] for device in document["links"]["after"].values() for qdisc in device["qdiscs"].values())


def cwnd_packets(document) -> float | None:
    """Return the mean congestion window in packets over all readings of the senders' sockets.

    If programs are under test, their sockets count. Returns None without readings. Each MPTCP subflow is a separate socket.
    """
    run = specification_of(document)
    if programs_under_test(run):
        own = {flow.number for flow in tcp_programs_under_test(run)}
        read = (one.get("series", {}) for flow, one in sockets_of_programs(document).items() if flow in own)
        seen = [window for series in read for window in series.get("cwnd_packets", ())]
    else:
        looks = document.get("sockets") or []
        seen = [socket["cwnd_packets"] for look in looks for socket in look["sockets"] if "cwnd_packets" in socket]
    return sum(seen) / len(seen) if seen else None


def window_limited_percent(document) -> float | None:
    """Return the column window_limited_percent of `RUNS`: the mean over the flows under test, from the last reading of each socket.

    None if no socket of these flows was read while it was busy.
    """
    under_test, last = numbers_under_test(specification_of(document)), {}
    for look in document.get("sockets") or ():
        last |= {socket["flow"]: socket for socket in look["sockets"] if socket.get("busy_ms", 0) > 0}
    last |= {flow: read for flow, read in last_readings(document).items() if read.get("busy_ms", 0) > 0}
    shares = [
        100 * (socket["rwnd_limited_ms"] + socket["sndbuf_limited_ms"]) / socket["busy_ms"]
        for flow, socket in last.items()
        if flow in under_test
    ]
    return sum(shares) / len(shares) if shares else None
