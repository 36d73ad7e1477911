"""Metrics of flows carried by two programs of the testbed (`processes: per-side`).

Unlike iperf3, these programs have no reporting intervals.
"""

from experiment.run_document import specification_of
from run_tables.application_metrics import MISSING


def has_streams(document) -> bool:
    """Return whether two programs of the testbed carried a document's flows."""
    return specification_of(document).per_side


def stream_flows(document) -> list[dict]:
    """Return one dict per flow, with all columns of `FLOWS` except the flow's conditions; RTTs are from all readings of deliveries."""
    rtts_ms = {number: [rtt for _, rtt in pairs] for number, pairs in _rtts(document).items()}
    least, ccas = {}, {}
    for look in document["sockets"]:
        for socket in look["sockets"]:
            ccas.setdefault(socket["flow"], set()).add(socket["cca"])
            if "rtt_min_ms" in socket:
                least[socket["flow"]] = socket["rtt_min_ms"]
    return [
        {
            "start_offset_ms": entry["start_offset_ms"],
            **MISSING,
            "flow": (number := entry["flows"][0]),
            "application_goodput_mbps": _goodput_mbps(stream := entry["stream"]),
            "rtt_mean_ms": _mean(rtts_ms.get(number)),
            "rtt_max_ms": max(rtts_ms.get(number, ()), default=None),
            "rtt_min_ms": least.get(number),
            "retransmits": stream["retransmits"],
            "bytes_sent": stream["written_bytes"],
            "bytes_received": stream["received_bytes"],
            "cca_observed": "+".join(sorted(ccas.get(number, ()))) or None,
        }
        for entry in document["traffic"]
    ]


def steady_columns(document, steady) -> dict[int, dict]:
    """Return ``rtt_steady_ms``, the mean RTT in the flow's steady part, by flow; empty unless `has_streams`.

    ``steady`` maps a flow to its `deliveries.Window`.
    """
    if not has_streams(document):
        return {}
    return {
        number: {"rtt_steady_ms": _mean([rtt for at_ns, rtt in pairs if at_ns >= steady[number].begin_ns])}
        for number, pairs in _rtts(document).items()
        if number in steady
    }


def _rtts(document):
    """Return, by flow, (time in ns, smoothed RTT in ms) for each reading that contains an RTT."""
    delivered = document.get("delivered", {"time_ns": [], "flows": []})
    return {
        one["flow"]: [
            (at_ns, rtt / 1e3)
            for at_ns, rtt in zip(delivered["time_ns"], one["rtt_us"], strict=True)
            if rtt is not None
        ]
        for one in delivered["flows"]
    }


def _goodput_mbps(stream):
    """Return a flow's mean receive rate in Mbit/s, from its connection to its end, or None if the rate is unknown."""
    if stream["ended_ns"] is None or stream["received_bytes"] is None:
        return None
    return stream["received_bytes"] * 8e3 / (stream["ended_ns"] - stream["connected_ns"])


def _mean(values):
    return sum(values) / len(values) if values else None
