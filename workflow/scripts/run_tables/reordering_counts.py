"""What Linux counted of segments out of order, and of what its TCP made of them."""

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
    if not counted or document["specification"]["scenario"]["traffic"]["protocol"] != "tcp":
        return dict.fromkeys(COUNTERS)
    hosts = {side: {process[side] for process in document["traffic"]} for side in ("sender", "receiver")}
    return {
        column: sum(counted[host].get(name, 0) for host in hosts[side] for name in names)
        for column, (side, names) in COUNTERS.items()
    }


def cwnd_packets(document) -> float | None:
    """Return the senders' mean congestion window in packets over the looks at their sockets; None if nobody looked.

    Each subflow of MPTCP has one of its own.
    """
    looks = document.get("sockets") or []
    seen = [socket["cwnd_packets"] for look in looks for socket in look["sockets"] if "cwnd_packets" in socket]
    return sum(seen) / len(seen) if seen else None
