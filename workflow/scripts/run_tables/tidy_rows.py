"""Rows of the tidy tables: a run, its flows, its intervals, its checks, a scenario."""

from run_tables.background_metrics import background_metrics
from run_tables.cpu_times import cpu_metrics
from run_tables.path_counts import path_rows
from run_tables.reordering_counts import cwnd_packets, reordering_counts
from run_tables.run_metrics import flow_metrics, interval_metrics, run_metrics, total
from run_tables.simulated_metrics import is_simulated
from testbed.specification import RunSpecification


def factors(document) -> dict[str, str | int]:
    """Return the run's four factors, the first columns of every table."""
    asked = document["specification"]
    return {
        "scenario": asked["scenario"]["id"],
        "cca": asked["cca"],
        "ip_version": asked["ip_version"],
        "replication": asked["replication"],
    }


def queue_limit_packets(document) -> int | None:
    """Return the limit in packets that was set at the data's bottleneck, or None."""
    placed = document["network"]["set"]
    if is_simulated(document):
        return placed["qdiscs"][placed["bottleneck"]["forward"][0]]["DropTailQueue"].get("limit_packets")
    places = [*placed["bottleneck"]["forward"], *placed["netem"]["forward"]]
    kinds = placed["qdiscs"][places[0]] if places else {}
    if "pfifo" in kinds:
        return kinds["pfifo"]["limit"]
    both_ends = document["specification"]["scenario"]["link"]["netem"] == "both-ends"
    return kinds["netem"]["limit"] if both_ends else None


def application_columns(scenario) -> dict[str, str | int | None]:
    """Return what is sent over which topology: columns of runs and scenarios."""
    traffic, paths = scenario["traffic"], scenario["multipath"]
    return {
        "topology": scenario["topology"],
        "background": scenario["background"],
        "application": traffic["application"],
        "protocol": traffic["protocol"],
        "message_bytes": traffic["block_bytes"],
        "multipath": paths["by"],
        "paths": paths["paths"],
        "tunnel_ip_version": paths["tunnel_ip_version"] if paths["by"] == "gre" else None,
    }


def transfer_s(document) -> float | None:
    """Return how long the longest file transfer of a run took in s; None where no file was transferred."""
    return max(
        (process["transfer"]["seconds"] for process in document["traffic"] if "transfer" in process), default=None
    )


def rows_of_run(document, label, document_sha256) -> tuple[dict, list[dict], list[dict], list[dict]]:
    """Return the rows that a run document gives.

    Parameters
    ----------
    document : dict
    label : str
        The scenario's label in figures.
    document_sha256 : str
        Of the document's file, as sha256sum prints it.

    Returns
    -------
    run : dict
        One row of `tidy_tables.RUNS`.
    flows, intervals, checks : list of dict
    """
    asked, verdict = document["specification"], document["verdict"]
    scenario, link = asked["scenario"], asked["scenario"]["link"]
    keys = factors(document)
    flows = [{**keys, **flow, "valid": verdict["valid"]} for flow in flow_metrics(document)]
    failed = [check for check in verdict["checks"] if not check["ok"]]
    run = {
        **keys,
        "scenario_label": label,
        "seed": asked["seed"],
        "valid": verdict["valid"],
        "invalid_because": "; ".join(
            f"{check['name']}: {check['observed']}, expected {check['expected']}" for check in failed
        ),
        "rate_mbps": link["rate_mbps"],
        "delay_ms": link["delay_ms"]["forward"],
        "rtt_path_ms": RunSpecification(asked).rtt_path_ms,
        "loss_configured_percent": link["loss_percent"]["forward"],
        "flows": scenario["flows"],
        "queue_packets": queue_limit_packets(document),
        "duration_s": scenario["traffic"]["duration_s"],
        **run_metrics(document, flows),
        **background_metrics(document),
        **application_columns(scenario),
        "transfer_s": transfer_s(document),
        **reordering_counts(document),
        "cwnd_packets": cwnd_packets(document),
        **cpu_metrics(document, total(flows, "bytes_received")),
        "platform": scenario["platform"],
        "pairs": scenario["hosts"]["pairs"],
        "testbed_digest": document["environment"]["testbed_digest"],
        "image_digest": document["environment"]["image_digest"],
        "document_sha256": document_sha256,
    }
    intervals = [{**keys, **interval} for interval in interval_metrics(document)]
    checks = [
        {**keys, "check": c["name"], "ok": c["ok"], "expected": c["expected"], "observed": c["observed"]}
        for c in verdict["checks"]
    ]
    return run, flows, intervals, checks


def rows_of_paths(document) -> list[dict]:
    """Return the rows of `tidy_tables.PATHS` that a run document gives: one a path of a cable."""
    keys, valid = factors(document), document["verdict"]["valid"]
    return [{**keys, **row, "valid": valid} for row in path_rows(document)]


def scenario_row(scenario, queue_packets) -> dict:
    """Return the row of a scenario of the resolved study; ``queue_packets`` as it was set in its runs."""
    link = scenario["link"]
    (unit, amount), *_ = scenario["queue"].items()
    return {
        "scenario": scenario["id"],
        "label": scenario["label"],
        "rate_mbps": link["rate_mbps"],
        "delay_forward_ms": link["delay_ms"]["forward"],
        "delay_reverse_ms": link["delay_ms"]["reverse"],
        "jitter_forward_ms": link["jitter_ms"]["forward"],
        "jitter_reverse_ms": link["jitter_ms"]["reverse"],
        "loss_forward_percent": link["loss_percent"]["forward"],
        "loss_reverse_percent": link["loss_percent"]["reverse"],
        "queue": f"{amount:g} {'BDP' if unit == 'bdp' else unit}",
        "queue_packets": queue_packets,
        "flows": scenario["flows"],
        "bitrate_mbps": scenario["traffic"]["bitrate_mbps"],
        "duration_s": scenario["traffic"]["duration_s"],
        "platform": scenario["platform"],
        "segmentation_offload": scenario["transport"]["segmentation_offload"],
        "netem": link["netem"],
        "processes": scenario["traffic"]["processes"],
        **application_columns(scenario),
        "distribution": scenario["multipath"]["distribution"],
        "path_delay_ms": " ".join(f"{delay:g}" for delay in scenario["multipath"]["path_delay_ms"]),
        "messages": scenario["traffic"]["messages"],
        "file_bytes": scenario["traffic"]["file_bytes"] if scenario["traffic"]["application"] == "ftp" else None,
        "frame_overhead_bytes": link["frame_overhead_bytes"],
        "serialisation": link["serialisation"],
        "pairs": scenario["hosts"]["pairs"],
        "access_delay_ms": " ".join(f"{delay:g}" for delay in dict.fromkeys(scenario["hosts"]["access_delay_ms"])),
        "start_within_ms": scenario["traffic"]["start_within_ms"],
        "sample_interval_ms": scenario["traffic"]["sample_interval_ms"],
        **{key: scenario["transport"][key] for key in ("segment_bytes", "delayed_acks", "min_rto_ms", "recovery")},
    }
