"""What Linux counted of segments out of order, and of what its TCP made of them."""

from experiment.run_document import specification_of
from testbed.network.behind_bottleneck import counts

#: Column of ``tidy/runs.csv`` -> whose counters are added up, and which (nstat's names; RFC 2883 for DSACK).
COUNTERS = {
    "out_of_order_segments": ("receiver", ("TcpExtTCPOFOQueue",)),
    "out_of_order_mptcp": ("receiver", ("MPTcpExtOFOQueue",)),
    "reordering_events": ("sender", ("TcpExtTCPSACKReorder", "TcpExtTCPRenoReorder", "TcpExtTCPTSReorder")),
    "recoveries": ("sender", ("TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery")),
    # TCPLossUndo isn't among them: it takes back what a timeout did, which is no recovery.
    "recoveries_undone": ("sender", ("TcpExtTCPFullUndo", "TcpExtTCPPartialUndo", "TcpExtTCPDSACKUndo")),
    "spurious_retransmits": ("sender", ("TcpExtTCPDSACKRecv",)),
}


def reordering_counts(document) -> dict[str, int | None]:
    """Return the columns of `COUNTERS` as the run's hosts counted them, None where the platform has no counters."""
    counted = (document.get("stack") or {}).get("tcp")
    if not counted or specification_of(document).udp:
        return dict.fromkeys(COUNTERS)
    hosts = {side: {process[side] for process in document["traffic"]} for side in ("sender", "receiver")}
    return {
        column: sum(counted[host].get(name, 0) for host in hosts[side] for name in names)
        for column, (side, names) in COUNTERS.items()
    }


def reordering_extent(document) -> float | None:
    """Return reordering_extent_packets of `tidy_tables.RUNS`: of the data's direction."""
    if not specification_of(document).option("reordering", "forward"):
        return None
    _, _, late = counts(document, "forward") or (None, None, None)
    waited = reordering_counts(document)["out_of_order_segments"]
    # Segments wait behind one that was lost, too.
    return waited / late if late and waited is not None and not any_drops(document) else None


def any_drops(document) -> bool:
    """Tell whether any queueing discipline of the network dropped a packet."""
    return any(qdisc["drops"] for device in document["links"]["after"].values() for qdisc in device["qdiscs"].values())


def cwnd_packets(document) -> float | None:
    """Return the senders' mean congestion window in packets over the looks at their sockets; None if nobody looked.

    Each subflow of MPTCP has one of its own.
    """
    looks = document.get("sockets") or []
    seen = [socket["cwnd_packets"] for look in looks for socket in look["sockets"] if "cwnd_packets" in socket]
    return sum(seen) / len(seen) if seen else None
