"""Metrics computed from a simulator's counters, with the same keys as in `run_metrics`; unavailable values are None."""

from collections.abc import Iterator


def is_simulated(document) -> bool:
    """Return whether a run document was made by a simulator."""
    return any("simulated" in process for process in document["traffic"])


def counted_flows(document) -> Iterator[tuple[dict, dict]]:
    """Yield each flow's process and the simulator's counters for the flow, in the order of flows."""
    for process in document["traffic"]:
        for counted in process["simulated"]["flows"]:
            yield process, counted


def simulated_flows(document) -> list[dict]:
    """Return one dict per flow, with the same keys as `run_metrics._iperf3_flows`."""
    observed = {socket["flow"]: socket["cca"] for look in document["sockets"] for socket in look["sockets"]}
    return [
        {
            "flow": counted["flow"],
            "start_offset_ms": process["start_offset_ms"],
            "application_goodput_mbps": counted["bytes_received"] * 8 / counted["seconds"] / 1e6
            if counted["seconds"]
            else 0.0,
            **{name: counted[name] for name in ("retransmits", "bytes_sent", "bytes_received")},
            **{name: counted.get(name) for name in ("rtt_mean_ms", "rtt_min_ms", "rtt_max_ms", "cwnd_max_bytes")},
            "cca_observed": observed.get(counted["flow"]),
        }
        for process, counted in counted_flows(document)
    ]


def simulated_intervals(document) -> Iterator[dict]:
    """Yield one dict per flow and reporting interval, with the same keys as `run_metrics.interval_metrics`."""
    for _, counted in counted_flows(document):
        for interval in counted["intervals"]:
            length_s = interval["end_s"] - interval["start_s"]
            yield {
                "flow": counted["flow"],
                **{name: interval[name] for name in ("start_s", "end_s")},
                "sent_mbps": interval["bytes_sent"] * 8 / length_s / 1e6,
                **{name: interval.get(name) for name in ("retransmits", "cwnd_bytes", "rtt_ms", "rttvar_ms")},
            }


def simulated_limit_packets(document) -> int | None:
    """Return the limit of the bottleneck's queue in the data's direction, in packets, or None.

    The queue belongs to a queueing discipline or, if there is none, to the device itself.
    """
    placed = document["network"]["set"]
    kinds = placed["qdiscs"][placed["bottleneck"]["forward"][0]]
    discipline = next(iter(kinds.keys() - {"link", "DropTailQueue", "RateErrorModel"}), "DropTailQueue")
    return kinds[discipline].get("limit_packets")


def simulated_bottleneck(document) -> dict[str, float]:
    """Return the packet counts at and behind the bottleneck, with the same keys as `run_metrics.bottleneck_metrics`."""
    placed, before, after = document["network"]["set"], document["links"]["before"], document["links"]["after"]
    bottleneck = placed["bottleneck"]["forward"][0]

    def drops(interface, kinds):
        earlier, later = (
            sum(links[interface]["qdiscs"].get(kind, {"drops": 0})["drops"] for kind in kinds)
            for links in (before, after)
        )
        return later - earlier

    # Drops of the device's own queue and of a queueing discipline above it are added up.
    queues = after[bottleneck]["qdiscs"].keys() - {"RateErrorModel"}
    queue_drops, link_drops = drops(bottleneck, queues), drops(placed["loss"]["forward"], ["RateErrorModel"])
    offered = after[bottleneck]["tx_packets"] - before[bottleneck]["tx_packets"] + queue_drops
    return {
        "packets_sent": offered,
        "queue_drops": queue_drops,
        "link_drops": link_drops,
        "policer_drops": None,
        "loss_percent": 100 * (queue_drops + link_drops) / offered if offered else 0.0,
    }
