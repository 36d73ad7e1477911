"""Rows of ``tidy/bottlenecks.csv`` for the bottlenecks of a chain, and columns of other tables that describe the entire chain."""

from experiment.run_document import specification_of
from experiment.specification import RunSpecification
from run_tables.marks import grown
from tcp_models.fairness_index import jain_index
from testbed.readings.deliveries import windows


def whole_delay_ms(scenario, way) -> float:
    """Return the one-way delay of a resolved scenario's link in ms; for a chain, return the sum over all links between routers.

    ``way`` is "forward" or "reverse".
    """
    if scenario["topology"] != "chain":
        return scenario["link"]["delay_ms"][way]
    return sum(one["delay_ms"][way] for one in scenario["chain"]["bottlenecks"])


def chain_columns(scenario) -> dict[str, int | str | None]:
    """Return the columns of `tidy_tables.SCENARIOS` that describe a chain; all are None for other topologies."""
    if scenario["topology"] != "chain":
        return dict.fromkeys(("cross_flows", "cross_cca", "chain_rtts_ms"))
    rtts_ms = (pair.rtt_ms for pair in RunSpecification({"scenario": scenario}).pairs)
    own = {key: scenario["chain"][key] for key in ("cross_flows", "cross_cca")}
    return own | {"chain_rtts_ms": " ".join(f"{rtt:g}" for rtt in rtts_ms)}


def bottleneck_rows(document) -> list[dict[str, float | str | None]]:
    """Return one dict per bottleneck of a chain, with the columns of `tidy_tables.BOTTLENECKS` that follow the run's factors."""
    run = specification_of(document)
    if not run.is_chain:
        return []
    windows_of_flows = windows(document)
    return [_row(document, run, windows_of_flows, placed) for placed in document["network"]["set"]["chain"]]


def _row(document, run, windows, placed):
    """Return the row of a bottleneck; ``placed`` is its entry in the document, and ``windows`` are the flows' measurement windows."""
    bottleneck = run.bottlenecks[placed["bottleneck"] - 1]
    before, after = (document["links"][when] for when in ("before", "after"))
    name, behind = placed["forward"], placed["netem"]["forward"]
    queue_drops = after[name]["qdiscs"]["htb"]["drops"] - before[name]["qdiscs"]["htb"]["drops"]
    link_drops = after[behind]["qdiscs"]["netem"]["drops"] - before[behind]["qdiscs"]["netem"]["drops"] if behind else 0
    offered = after[name]["tx_packets"] - before[name]["tx_packets"] + queue_drops
    goodputs = [windows[flow].goodput_mbps(flow) for flow in placed["flows"] if flow in windows]
    queues = [list(links[name]["qdiscs"].values()) for links in (before, after)]
    return {
        "bottleneck": placed["bottleneck"],
        "rate_mbps": bottleneck.rate_mbps,
        "delay_ms": bottleneck.link.delay_ms["forward"],
        "rtt_path_ms": bottleneck.rtt_path_ms,
        "discipline": bottleneck.discipline.name,
        "queue_packets": bottleneck.queue_packets,
        "queue_bytes": bottleneck.queue_bytes,
        "flows": len(placed["flows"]),
        "ideal_goodput_mbps": bottleneck.goodput_limit_mbps,
        "goodput_mbps": sum(goodputs) if goodputs else None,
        "jain_index": jain_index(goodputs) if goodputs else None,
        "packets_sent": offered,
        "queue_drops": queue_drops,
        "queue_marks": None if bottleneck.discipline.limited_only else grown(*queues, "marks"),
        "link_drops": link_drops,
        "loss_percent": 100 * (queue_drops + link_drops) / offered if offered else None,
        "queue_mean_packets": _mean_queue(document, placed["bottleneck"], windows),
    }


def _mean_queue(document, number, windows):
    """Return a bottleneck's mean queue length in packets, over the samples in the flows' common measurement window, or None."""
    of_each = {one["bottleneck"]: one for one in document.get("series", {}).get("queues", ())}
    if number not in of_each or not windows:
        return None
    window, series = next(iter(windows.values())), of_each[number]
    begin_s, end_s = window.begin_ns / 1e9, window.end_ns / 1e9
    samples = zip(series["time_s"], series["packets"], strict=True)
    inside = [packets for time_s, packets in samples if begin_s <= time_s <= end_s]
    return sum(inside) / len(inside) if inside else None
