"""Metrics of flows that no plain TCP connection of iperf3 carries: UDP, a ping-pong of messages, files, MPTCP."""

from collections.abc import Iterator

#: Columns of a flow that not every application has.
MISSING = dict.fromkeys(
    (
        "goodput_mbps",
        "rtt_mean_ms",
        "rtt_min_ms",
        "rtt_max_ms",
        "retransmits",
        "bytes_sent",
        "bytes_received",
        "cwnd_max_bytes",
        "cca_observed",
    )
)


def has_own_metrics(document) -> bool:
    """Tell whether a document's flows are of these kinds."""
    scenario = document["specification"]["scenario"]
    traffic = scenario["traffic"]
    plain = (
        traffic["application"] == "iperf3" and traffic["protocol"] == "tcp" and scenario["multipath"]["by"] != "mptcp"
    )
    return not plain


def application_flows(document) -> list[dict]:
    """Return one dict a flow, with the keys of `run_metrics.flow_metrics` but the flow's conditions.

    What an application doesn't know is None: UDP has neither RTT nor retransmissions, a ping-pong of
    messages no goodput; its round-trip time is ``rtt_mean_ms``.
    """
    return [
        {"start_offset_ms": process["start_offset_ms"], **MISSING, **flow}
        for process in document["traffic"]
        for flow in flows_of(document, process)
    ]


def flows_of(document, process) -> Iterator[dict]:
    """Yield what is known of each flow of a client."""
    if "round_trip" in process:
        yield {"flow": process["flows"][0], "rtt_mean_ms": process["round_trip"]["rtt_us"] / 1e3}
    elif "transfer" in process:
        transfer, flow = process["transfer"], process["flows"][0]
        yield {
            "flow": flow,
            "goodput_mbps": transfer["bytes"] * 8 / transfer["seconds"] / 1e6,
            "bytes_sent": transfer["bytes"],
            "bytes_received": transfer["bytes"],
            "retransmits": retransmitted_segments(document, process["sender"]),
            **kernel_values(document, flow),
        }
    elif document["specification"]["scenario"]["traffic"]["protocol"] == "udp":
        sent, received = process["client"]["end"]["sum"], process["server"]["end"]["sum_received"]
        yield {
            "flow": process["flows"][0],
            "goodput_mbps": received["bits_per_second"] / 1e6,
            "bytes_sent": sent["bytes"],
            "bytes_received": received["bytes"],
        }
    else:
        yield from mptcp_flows(document, process)


def mptcp_flows(document, process) -> Iterator[dict]:
    """Yield the flows of a client of MPTCP: sums of iperf3, all else from the kernel's subflows."""
    ends = process["client"]["end"]["streams"]
    of_host = retransmitted_segments(document, process["sender"])
    alone = len(document["traffic"]) == 1 and len(ends) == 1
    for flow, stream in zip(process["flows"], ends, strict=True):
        yield {
            "flow": flow,
            "goodput_mbps": stream["receiver"]["bits_per_second"] / 1e6,
            "bytes_sent": stream["sender"]["bytes"],
            "bytes_received": stream["receiver"]["bytes"],
            # iperf3 knows one subflow's. The kernel's counter is of the host; with several flows only the last look is of each.
            "retransmits": of_host if alone else last_retransmits(document, flow),
            **kernel_values(document, flow),
        }


def retransmitted_segments(document, host) -> int:
    """Return the segments that a host has sent again, all its connections together (TcpRetransSegs)."""
    return document["stack"]["tcp"][host]["TcpRetransSegs"]


def sockets_of(document, flow) -> list[dict]:
    """Return the readings of a flow's sockets at all looks, all subflows."""
    return [s for look in document["sockets"] for s in look["sockets"] if s["flow"] == flow]


def last_retransmits(document, flow) -> int:
    """Return the segments that a flow's subflows had sent again at the last look."""
    return sum(s.get("retransmits", 0) for s in document["sockets"][-1]["sockets"] if s["flow"] == flow)


def kernel_values(document, flow) -> dict[str, float | str | None]:
    """Return RTTs (the mean over the looks and subflows) and the CCA, as the kernel gave them."""
    seen = sockets_of(document, flow)
    rtts, least = ([s[key] for s in seen if key in s] for key in ("rtt_ms", "rtt_min_ms"))
    ccas = sorted({s["cca"] for s in seen if s.get("cca")})
    return {
        "rtt_mean_ms": sum(rtts) / len(rtts) if rtts else None,
        "rtt_max_ms": max(rtts, default=None),
        "rtt_min_ms": min(least, default=None),
        "cca_observed": "+".join(ccas) or None,
    }
