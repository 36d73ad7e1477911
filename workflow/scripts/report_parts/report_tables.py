"""Prepare tables for the page: rows of text, already rounded for readers."""

import json

from number_format import NONE, count, decimals_for, interval, is_missing, number, p_value, plain  # fmt: skip
from report_parts.sentence_words import listed
from run_tables.tidy_columns import link_packets
from scenario_words import amount_words, both_ways, conditions, heading, ip_words, path_rtts_ms, rate_words
from study_files.study_design import cca_word, is_simulator

# So many columns of numbers fit a page of paper.
MAX_VALUE_COLUMNS = 12
# Columns of tidy/scenarios.csv that are empty where a scenario has the usual value, and those with an unusual one.
DETAILS = {
    "start_within_ms": "flows start within {} ms",
    "sample_interval_ms": "sampled every {} ms",
    "segment_bytes": "segments of {} bytes",
    "min_rto_ms": "smallest retransmission timeout {} ms",
}
UNUSUAL = {
    "delayed_acks": ("False", "every segment acknowledged at once"),
    "recovery": ("classic", "classic loss recovery"),
}


def mean_tables(descriptive, scenarios, metric):
    """Return compact tables of one metric's means, split so that each fits a page.

    The factor with more levels, scenario or CCA, makes the rows; under each level of the other
    stand the IP versions.

    Returns
    -------
    list of dict
        groups (column headings), ip_versions, row_name, rows (heading, detail, cells).
    """
    table = descriptive[descriptive["metric"] == metric.column]
    mean = {
        (row["scenario"], row["cca"], row["ip_version"]): row["mean"]
        for row in table.to_dict("records")
    }
    records = scenarios.to_dict("records")
    as_scenarios = [(row["scenario"], heading(row), conditions(row)) for row in records]
    as_ccas = [(cca, cca, "") for cca in table["cca"].unique()]
    ip_versions = list(table["ip_version"].unique())
    scenarios_down = len(as_scenarios) >= len(as_ccas)
    down, across = (as_scenarios, as_ccas) if scenarios_down else (as_ccas, as_scenarios)
    step = max(1, MAX_VALUE_COLUMNS // len(ip_versions))
    tables = []
    for start in range(0, len(across), step):
        part = across[start : start + step]
        rows = []
        for row_key, name, detail in down:
            keys = [(row_key, key) if scenarios_down else (key, row_key) for key, *_ in part]
            cells = [number(mean.get((*key, ip))) for key in keys for ip in ip_versions]
            rows.append({"heading": name, "detail": detail, "cells": cells})
        tables.append(
            {
                "row_name": "Scenario" if scenarios_down else "Mix" if cca_word(table["cca"].unique()) == "mix" else "CCA",
                "groups": [name for _, name, _ in part],
                "ip_versions": [ip_words(ip) for ip in ip_versions],
                "rows": rows,
            }
        )
    return tables


def descriptive_groups(descriptive, scenarios, metric):
    """Return all statistics of one metric, grouped by scenario.

    Returns
    -------
    groups : list of dict
        heading, conditions, rows (cca, ip, n, mean, interval, median, sd, range, w, p, mark).
    notes : list of str
        What the marks stand for: 1 for the first.
    """
    table = descriptive[descriptive["metric"] == metric.column]
    notes = [note for note in dict.fromkeys(table["note"]) if note]
    groups = []
    for scenario in scenarios.to_dict("records"):
        rows = [
            _statistics(row, metric, notes)
            for row in table[table["scenario"] == scenario["scenario"]].to_dict("records")
        ]
        groups.append(
            {"heading": heading(scenario), "conditions": conditions(scenario), "rows": rows}
        )
    return groups, notes


def _statistics(row, metric, notes):
    decimals = 0 if metric.count else decimals_for(row["mean"])
    low, high = number(row["min"], decimals), number(row["max"], decimals)
    return {
        "cca": row["cca"],
        "ip": ip_words(row["ip_version"]),
        "n": number(row["n"], 0),
        "mean": number(row["mean"]),
        "interval": interval(row["ci_low"], row["ci_high"], row["mean"]),
        "median": number(row["median"]),
        "sd": number(row["sd"]),
        "range": NONE if is_missing(row["min"]) else f"{low} to {high}",
        "w": number(row["shapiro_w"], 3),
        "p": p_value(row["shapiro_p"]),
        "mark": notes.index(row["note"]) + 1 if row["note"] else None,
    }


def scenario_rows(scenarios, runs):
    """Return what was configured in each scenario, and what the valid runs show of it.

    Returns
    -------
    list of dict
        name, label, rate, delay, jitter, loss, queue, flows, duration, platform, details; then rtt_path, rtt_seen
        (lowest of the valid runs), loss_seen (link drops over the packets that
        reached the link), valid.
    """
    rows = []
    for row in scenarios.to_dict("records"):
        mine = runs[runs["scenario"] == row["scenario"]]
        valid = mine[mine["valid"]]
        lowest_ms = valid["rtt_min_ms"].min()
        known = valid.assign(reached=link_packets(valid)).dropna(subset=["reached", "link_drops"])
        packets = known["reached"].sum()
        queue, rtts = row["queue"], path_rtts_ms(row)
        if not is_missing(row["queue_packets"]):
            packets_held = count(int(row["queue_packets"]), "packet")
            queue = packets_held if packets_held == queue else f"{queue} ({packets_held})"
        rows.append(
            {
                "name": row["scenario"],
                "label": row["label"],
                "rate": rate_words(row["rate_mbps"]),
                "delay": both_ways(row["delay_forward_ms"], row["delay_reverse_ms"], "ms"),
                "jitter": both_ways(row["jitter_forward_ms"], row["jitter_reverse_ms"], "ms"),
                "loss": both_ways(row["loss_forward_percent"], row["loss_reverse_percent"], "%"),
                "queue": queue,
                "flows": plain(row["flows"]),
                "duration": amount_words(row),
                "platform": row["platform"],
                "details": "; ".join(scenario_details(row)),
                "rtt_path": f"{' to '.join(plain(rtt) for rtt in dict.fromkeys((rtts[0], rtts[-1])))} ms",
                "rtt_seen": NONE if is_missing(lowest_ms) else f"{number(lowest_ms)} ms",
                "loss_set": f"{plain(row['loss_forward_percent'])} %",
                "loss_seen": f"{number(100 * known['link_drops'].sum() / packets)} %"
                if packets > 0
                else NONE,
                "packets": NONE if known.empty else number(packets, 0),
                "valid": f"{len(valid)} of {len(mine)}",
            }
        )
    return rows


def scenario_details(row):
    """Return what else a scenario sets, a few words each: that of the platform, the traffic, then what isn't as usual.

    Parameters
    ----------
    row : mapping
        A row of ``tidy/scenarios.csv``, of which the columns from `topology` on are texts and may be missing.
    """
    details = []
    if not is_simulator(row["platform"]):
        offload = "on" if row["segmentation_offload"] else "off"
        details += [f"segmentation offload {offload}", f"netem {row['netem']}"]
    details += [*traffic_details(row), *cable_details(row)]
    if row.get("pairs", "1") not in ("", "1"):
        details.append(f"{row['pairs']} pairs of hosts")
    if row.get("access_delay_ms", "0") not in ("", "0"):
        details.append(f"delay of the hosts' own links {' or '.join(row['access_delay_ms'].split())} ms")
    for column, words in DETAILS.items():
        if row.get(column):
            details.append(words.format(row[column]))
    details += [words for column, (value, words) in UNUSUAL.items() if row.get(column) == value]
    return details


def traffic_details(row):
    """Return what a scenario sends, and in pieces of what size: a list of texts."""
    application, protocol = row.get("application") or "iperf3", (row.get("protocol") or "tcp").upper()
    size = plain(float(row["message_bytes"])) if row.get("message_bytes") else None
    if application == "ftp":
        return ["a file by FTP"]
    if application == "round-trip":
        return [f"{protocol} round trips of {size} bytes"]
    details = [] if is_simulator(row["platform"]) else [f"iperf3 processes: {row['processes']}"]
    if not is_missing(row.get("bitrate_mbps")):
        details.append(f"at most {plain(row['bitrate_mbps'])} Mbit/s a flow")
    if protocol == "UDP":
        details.append(f"UDP, {size} bytes of data a packet")
    elif size:
        details.append(f"{size} bytes written at a time")
    return details


def cable_details(row):
    """Return what a scenario has that only a cable has, and what joins its paths: a list of texts."""
    details = ["cable between the hosts"] if row.get("topology") == "cable" else []
    if row.get("serialisation", "never") not in ("", "never"):
        details.append(f"serialisation {row['serialisation']}")
    if row.get("frame_overhead_bytes", "0") not in ("", "0"):
        details.append(f"{row['frame_overhead_bytes']} bytes more a frame than Linux counts")
    if row.get("background", "none") not in ("", "none"):
        details.append(f"background {row['background']}")
    joined, paths = row.get("multipath"), count(int(float(row.get("paths") or 1)), "path")
    if joined == "mptcp":
        details.append(f"MPTCP over {paths}")
    elif joined == "gre":
        details.append(f"GRE-in-UDP over {ip_words(row['tunnel_ip_version'])} on {paths}, {row['distribution']}")
    delays = (row.get("path_delay_ms") or "0").split()
    if set(delays) != {"0"}:
        details.append(f"the paths' own delay {listed(delays)} ms each way")
    return details


def environment_rows(environments):
    """Return one row a property of the environments: name and a value for each environment.

    Parameters
    ----------
    environments : list of dict
        As in ``tidy/provenance.json``. Names of the properties are shown as words.
    """
    names = list(dict.fromkeys(key for environment in environments for key in environment))
    return [
        {
            "name": _property_name(name),
            "values": [_text(environment.get(name)) for environment in environments],
            "code": any(part in name for part in ("digest", "sha256")),
        }
        for name in names
    ]


PROPERTY_NAMES = {
    "kernel": "Kernel",
    "cpu_model": "Processor",
    "cpu_cores": "Cores of the machine",
    "kernel_config_sha256": "Kernel configuration (SHA-256)",
    "tick_hz": "Kernel tick (Hz)",
    "image_digest": "Container image",
    "testbed_digest": "Testbed program",
    "runs": "Runs made in it",
}


def _property_name(key):
    # A program keeps its own spelling; anything else begins as a sentence does.
    if key.endswith("_version"):
        return key.removesuffix("_version")
    words = key.replace("_", " ")
    return PROPERTY_NAMES.get(key, words[:1].upper() + words[1:])


def _text(value):
    if value is None:
        return "not recorded"
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True)
    return plain(value) if isinstance(value, (int, float)) else str(value)
