"""Metrics of all flows that aren't plain iperf3 TCP connections: UDP, ping-pong messages, file transfers and MPTCP."""

from collections.abc import Iterator

from experiment.run_document import specification_of
from run_tables.tidy_tables import FLOWS

#: Columns of a flow that some applications leave empty, each mapped to None: all columns from ``goodput_mbps`` on, except ``valid``.
MISSING = dict.fromkeys(FLOWS.names[FLOWS.names.index("goodput_mbps") : -1])


def has_own_metrics(document) -> bool:
    """Return whether a document's flows are something other than plain iperf3 TCP connections."""
    run = specification_of(document)
    return run.traffic.application != "iperf3" or run.udp or run.multipath.by == "mptcp"


def application_flows(document) -> list[dict]:
    """Return one dict per flow, with all columns of `tidy_tables.FLOWS` except the flow's conditions.

    Values that don't exist for an application are None: UDP reports neither RTT nor retransmissions, and ping-pong messages have no goodput.
    The round-trip time of ping-pong messages is in ``rtt_mean_ms``.
    """
    run, seen = specification_of(document), {}
    for look in document["sockets"]:
        for socket in look["sockets"]:
            seen.setdefault(socket["flow"], []).append(socket)
    return [
        {"start_offset_ms": process["start_offset_ms"], **MISSING, **flow}
        for process in document["traffic"]
        for flow in _flows_of(run, document, process, seen)
    ]


def _flows_of(run, document, process, seen) -> Iterator[dict]:
    """Yield the known values of each flow of a client; ``seen`` maps a flow to all its socket readings in the run."""
    if "round_trip" in process:
        yield {"flow": process["flows"][0], "rtt_mean_ms": process["round_trip"]["rtt_us"] / 1e3}
    elif "transfer" in process:
        transfer, flow = process["transfer"], process["flows"][0]
        yield {
            "flow": flow,
            "application_goodput_mbps": transfer["bytes"] * 8 / transfer["seconds"] / 1e6,
            "bytes_sent": transfer["bytes"],
            "bytes_received": transfer["bytes"],
            "retransmits": retransmitted_segments(document, process["sender"]),
            **_kernel_values(seen, flow),
        }
    elif run.udp:
        sent, received = process["client"]["end"]["sum"], process["server"]["end"]["sum_received"]
        yield {
            "flow": process["flows"][0],
            "application_goodput_mbps": received["bits_per_second"] / 1e6,
            "bytes_sent": sent["bytes"],
            "bytes_received": received["bytes"],
        }
    else:
        yield from _mptcp_flows(document, process, seen)


def _mptcp_flows(document, process, seen) -> Iterator[dict]:
    """Yield the flows of an MPTCP client, with totals from iperf3 and all other values from the kernel's subflows."""
    ends = process["client"]["end"]["streams"]
    of_host = retransmitted_segments(document, process["sender"])
    alone = sum(len(other["flows"]) for other in document["traffic"] if other["sender"] == process["sender"]) == 1
    for flow, stream in zip(process["flows"], ends, strict=True):
        last = [socket for socket in document["sockets"][-1]["sockets"] if socket["flow"] == flow]
        yield {
            "flow": flow,
            "application_goodput_mbps": stream["receiver"]["bits_per_second"] / 1e6,
            "bytes_sent": stream["sender"]["bytes"],
            "bytes_received": stream["receiver"]["bytes"],
            # iperf3 reports only one subflow's count. The kernel counts per host, so with several flows, the sockets' last readings are
            # used.
            "retransmits": of_host if alone else sum(socket.get("retransmits", 0) for socket in last),
            **_kernel_values(seen, flow),
        }


def retransmitted_segments(document, host) -> int:
    """Return the number of segments that a host retransmitted on all its connections (TcpRetransSegs)."""
    return document["stack"]["tcp"][host]["TcpRetransSegs"]


def _kernel_values(seen_of, flow) -> dict[str, float | str | None]:
    """Return a flow's CCA, and the mean, maximum and minimum of its RTT over all readings and subflows, as reported by the kernel.

    ``seen_of`` maps a flow to all its socket readings in the run.
    """
    seen = seen_of.get(flow, ())
    rtts, least = ([socket[key] for socket in seen if key in socket] for key in ("rtt_ms", "rtt_min_ms"))
    ccas = sorted({socket["cca"] for socket in seen if socket.get("cca")})
    return {
        "rtt_mean_ms": sum(rtts) / len(rtts) if rtts else None,
        "rtt_max_ms": max(rtts, default=None),
        "rtt_min_ms": min(least, default=None),
        "cca_observed": "+".join(ccas) or None,
    }
