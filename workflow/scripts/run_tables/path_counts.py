"""What each path of a cable carried: rows of ``tidy/paths.csv``."""

#: Of a cable the sender's interface on path i, and the queueing disciplines that count bytes, the outer one first.
INTERFACE, COUNTING = "h1-eth{}", ("htb", "pfifo", "bfifo")


def path_rows(document) -> list[dict[str, float | str | None]]:
    """Return one dict a path of a cable, with the columns of `tidy_tables.PATHS` behind the run's factors; none for a dumbbell.

    ``packets`` and ``bytes`` left the sender on the path while traffic flowed, as its shaper counted them:
    frames with all headers, without what a real cable adds (``link.frame_overhead_bytes``). Where
    nothing limits the rate, ``bytes`` is None. ``share_percent`` is of all paths' packets. What begins with
    ``subflow`` is MPTCP's on the path at the last look at the sockets (at 3/4 of the duration), all flows
    together: bytes acknowledged, segments sent again, mean of the smoothed RTTs, CCAs.
    """
    scenario = document["specification"]["scenario"]
    if scenario["topology"] != "cable":
        return []
    rows = [path_row(document, path) for path in range(scenario["multipath"]["paths"])]
    whole = sum(row["packets"] for row in rows)
    return [row | {"share_percent": 100 * row["packets"] / whole if whole else None} for row in rows]


def path_row(document, path) -> dict[str, float | str | None]:
    """Return what a path, counted from 0, carried."""
    before, after = (document["links"][when][INTERFACE.format(path)] for when in ("before", "after"))
    outer = next((kind for kind in COUNTING if kind in after["qdiscs"]), None)
    counted = {
        name: after["qdiscs"][outer][name] - before["qdiscs"][outer][name] if outer else missing
        for name, missing in (("bytes", None), ("drops", 0))
    }
    return {
        "path": path + 1,
        "packets": after["tx_packets"] - before["tx_packets"],
        "bytes": counted["bytes"],
        "queue_drops": counted["drops"],
        **subflow_values(document, path),
    }


def subflow_values(document, path) -> dict[str, float | str | None]:
    """Return what MPTCP's subflows on a path had done at the last look; None where there is none."""
    looks = document["sockets"]
    sockets = [socket for socket in looks[-1]["sockets"] if socket.get("subflow") == path] if looks else []
    rtts = [socket["rtt_ms"] for socket in sockets if "rtt_ms" in socket]
    return {
        "subflow_bytes_acked": sum(socket.get("bytes_acked", 0) for socket in sockets) if sockets else None,
        "subflow_retransmits": sum(socket.get("retransmits", 0) for socket in sockets) if sockets else None,
        "subflow_rtt_ms": sum(rtts) / len(rtts) if rtts else None,
        "subflow_cca": "+".join(sorted({socket["cca"] for socket in sockets if socket.get("cca")})) or None,
    }
