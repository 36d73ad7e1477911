"""What a simulator counted of a run, in the terms of `run_metrics`. What it can't know is None."""

from collections.abc import Iterator


def is_simulated(document) -> bool:
    """Tell whether a run document is a simulator's."""
    return "simulated" in document["traffic"][0]


def counted_flows(document) -> Iterator[tuple[dict, dict]]:
    """Yield (process, the simulator's counters of one of its flows) in the order of flows."""
    for process in document["traffic"]:
        for counted in process["simulated"]["flows"]:
            yield process, counted


def simulated_flows(document) -> list[dict]:
    """Return one dict a flow, with the keys of `run_metrics.flow_metrics` less those of `flow_conditions`."""
    observed = {socket["flow"]: socket["cca"] for look in document["sockets"] for socket in look["sockets"]}
    return [
        {
            "flow": counted["flow"],
            "start_offset_ms": process["start_offset_ms"],
            "goodput_mbps": counted["bytes_received"] * 8 / counted["seconds"] / 1e6 if counted["seconds"] else 0.0,
            "rtt_mean_ms": counted.get("rtt_mean_ms"),
            "rtt_min_ms": counted.get("rtt_min_ms"),
            "rtt_max_ms": counted.get("rtt_max_ms"),
            "retransmits": counted["retransmits"],
            "bytes_sent": counted["bytes_sent"],
            "bytes_received": counted["bytes_received"],
            "cwnd_max_bytes": counted.get("cwnd_max_bytes"),
            "cca_observed": observed.get(counted["flow"]),
        }
        for process, counted in counted_flows(document)
    ]


def simulated_intervals(document) -> Iterator[dict]:
    """Yield one dict a flow and reporting interval, with the keys of `run_metrics.interval_metrics`."""
    for _, counted in counted_flows(document):
        for interval in counted["intervals"]:
            length_s = interval["end_s"] - interval["start_s"]
            yield {
                "flow": counted["flow"],
                "start_s": interval["start_s"],
                "end_s": interval["end_s"],
                "sent_mbps": interval["bytes_sent"] * 8 / length_s / 1e6,
                "retransmits": interval.get("retransmits"),
                "cwnd_bytes": interval.get("cwnd_bytes"),
                "rtt_ms": interval.get("rtt_ms"),
                "rttvar_ms": interval.get("rttvar_ms"),
            }


def simulated_bottleneck(document) -> dict[str, float]:
    """Return what happened to packets at and behind the bottleneck, with the keys of `run_metrics.bottleneck_metrics`."""
    bottleneck, lossy = (
        document["network"]["set"]["bottleneck"]["forward"][0],
        document["network"]["set"]["loss"]["forward"],
    )
    after, before = document["links"]["after"], document["links"]["before"]

    def counted(interface, kind):
        return tuple(links[interface]["qdiscs"].get(kind, {"drops": 0})["drops"] for links in (before, after))

    queue_before, queue_after = counted(bottleneck, "DropTailQueue")
    loss_before, loss_after = counted(lossy, "RateErrorModel")
    queue_drops, link_drops = queue_after - queue_before, loss_after - loss_before
    offered = after[bottleneck]["tx_packets"] - before[bottleneck]["tx_packets"] + queue_drops
    return {
        "packets_sent": offered,
        "queue_drops": queue_drops,
        "link_drops": link_drops,
        "loss_percent": 100 * (queue_drops + link_drops) / offered if offered else 0.0,
    }
