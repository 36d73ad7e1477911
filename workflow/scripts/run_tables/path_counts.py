"""Traffic on each path of a cable: rows of ``tidy/paths.csv``."""

from experiment.run_document import specification_of

#: The sender's interface on cable i, and the queueing disciplines that count bytes, outermost first.
INTERFACE, COUNTING = "h1-eth{}", ("htb", "pfifo", "bfifo")


def path_rows(document) -> list[dict[str, float | str | None]]:
    """Return one dict per cable path, with the columns of `tidy_tables.PATHS` that follow the run's factors; empty without cables.

    ``bytes`` excludes the overhead that a real cable adds to each frame (``link.frame_overhead_bytes``).
    """
    run = specification_of(document)
    if not run.is_cable:
        return []
    rows = [_path_row(document, path) for path in range(run.paths)]
    whole = sum(row["packets"] for row in rows)
    return [row | {"share_percent": 100 * row["packets"] / whole if whole else None} for row in rows]


def _path_row(document, path):
    """Return the traffic on a path (numbered from 0), and the last readings of the path's MPTCP subflows."""
    before, after = (document["links"][when][INTERFACE.format(path)] for when in ("before", "after"))
    outer = next((kind for kind in COUNTING if kind in after["qdiscs"]), None)
    counted = {
        name: after["qdiscs"][outer][name] - before["qdiscs"][outer][name] if outer else missing
        for name, missing in (("bytes", None), ("drops", 0))
    }
    looks = document["sockets"]
    sockets = [socket for socket in looks[-1]["sockets"] if socket.get("subflow") == path] if looks else []
    rtts = [socket["rtt_ms"] for socket in sockets if "rtt_ms" in socket]
    return {
        "path": path + 1,
        "packets": after["tx_packets"] - before["tx_packets"],
        "bytes": counted["bytes"],
        "queue_drops": counted["drops"],
        **{
            f"subflow_{name}": sum(socket.get(name, 0) for socket in sockets) if sockets else None
            for name in ("bytes_acked", "retransmits")
        },
        "subflow_rtt_ms": sum(rtts) / len(rtts) if rtts else None,
        "subflow_cca": "+".join(sorted({socket["cca"] for socket in sockets if socket.get("cca")})) or None,
    }
