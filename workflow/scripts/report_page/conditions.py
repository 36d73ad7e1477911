"""Describe the scenarios and the environments of the runs in rows of text for the page; numbers are rounded."""

import json

from experiment.disciplines import DISCIPLINES
from experiment.qdisc import DROP_TAIL
from run_tables.link_option_columns import OPTIONS
from run_tables.reading import link_packets
from study_files.study_design import is_simulator
from wording.link_option_words import COUNT_WORDS
from wording.number_format import NONE, count, is_missing, number, plain
from wording.scenario_words import amount_words, both_ways, capacity_words, ip_words, path_rtts_ms
from wording.sentence_words import cca_name, listed

#: Column of `tidy/scenarios.csv` that is empty for the default value -> description of any other value.
DETAILS = {
    "start_within_ms": "flows start within {:.10g} ms",
    "sample_interval_ms": "sampled every {:.10g} ms",
    "segment_bytes": "segments of {:.10g} bytes",
    "min_rto_ms": "minimum retransmission timeout {:.10g} ms",
}
#: Column -> the non-default value, and its description.
UNUSUAL = {
    "delayed_acks": (False, "every segment acknowledged immediately"),
    "receive_buffer_autotuning": (False, "full-size receive buffers from the start"),
    "recovery": ("classic", "classic loss recovery"),
}
#: Keys under which a row contains the configured values, and the headings of their columns.
CONDITIONS = (
    ("rate", "Capacity"),
    ("delay", "One-way delay"),
    ("jitter", "Jitter"),
    ("loss", "Loss"),
    ("queue", "Queue"),
    ("flows", "Flows"),
    ("duration", "Duration"),
    ("platform", "Platform"),
)


def scenario_rows(scenarios, runs) -> list[dict]:
    """Return one row of texts per scenario: the scenario's configuration, and the values observed in its valid runs.

    ``rtt_seen`` is the minimum RTT over the valid runs. ``loss_seen`` is the link's drops as a percentage of the
    packets that reached the link.
    """
    rows = []
    for row in scenarios.to_dict("records"):
        of_scenario = runs[runs["scenario"] == row["scenario"]]
        valid = of_scenario[of_scenario["valid"]]
        lowest_ms = valid["rtt_min_ms"].min()
        known = valid.assign(reached=link_packets(valid)).dropna(subset=["reached", "link_drops"])
        packets = known["reached"].sum()
        queue, rtts = row["queue"], path_rtts_ms(row)
        if row["queue_packets"]:
            *others, last = map(int, row["queue_packets"].split())
            packets_held = " or ".join([*(f"{held:,}" for held in others), count(last, "packet")])
            queue = packets_held if queue.endswith(" packets") else f"{queue} ({packets_held})"
        rows.append(
            {
                "name": row["scenario"],
                "label": row["label"],
                "rate": capacity_words(row),
                "delay": both_ways(row["delay_forward_ms"], row["delay_reverse_ms"], "ms"),
                "jitter": both_ways(row["jitter_forward_ms"], row["jitter_reverse_ms"], "ms"),
                "loss": both_ways(row["loss_forward_percent"], row["loss_reverse_percent"], "%"),
                "queue": f"{queue}, {_discipline_words(row)}" if row["discipline"] != DROP_TAIL else queue,
                "flows": plain(row["flows"]),
                "duration": amount_words(row),
                "platform": row["platform"],
                "details": "; ".join(besides := scenario_details(row)),
                "besides": besides,
                "rtt_path": f"{' to '.join(plain(rtt) for rtt in dict.fromkeys((rtts[0], rtts[-1])))} ms",
                "rtt_seen": NONE if is_missing(lowest_ms) else f"{number(lowest_ms)} ms",
                "loss_set": f"{plain(row['loss_forward_percent'])} %{_bursts_words(valid['loss_burst_configured_packets'])}",
                "loss_seen": f"{number(100 * known['link_drops'].sum() / packets)} %{_seen_bursts(valid)}"
                if packets > 0
                else NONE,
                "late_seen": _shares_seen(valid),
                "packets": NONE if known.empty else number(packets, 0),
                "valid": f"{len(valid)} of {len(of_scenario)}",
            }
        )
    return rows


def folded_conditions(rows: list[dict]) -> dict:
    """Return the table of conditions; values that all scenarios share aren't in the table but are listed once above it.

    The argument is the result of `scenario_rows`. In the returned dict, ``columns`` lists a pair (key of the rows, heading) for each key
    whose values differ. ``shared`` lists the common values as texts, and ``rows`` contains the rows of the table. In each row, ``details``
    is one text, which omits the details common to all scenarios.
    """
    if len(rows) < 2:
        return {"columns": CONDITIONS, "shared": [], "rows": rows}
    columns = [(key, heading) for key, heading in CONDITIONS if len({row[key] for row in rows}) > 1]
    shared = [f"{heading.lower()} {rows[0][key]}" for key, heading in CONDITIONS if (key, heading) not in columns]
    common = [words for words in rows[0]["besides"] if all(words in row["besides"] for row in rows)]
    own = [row | {"details": "; ".join(words for words in row["besides"] if words not in common)} for row in rows]
    return {"columns": columns, "shared": shared + common, "rows": own}


def _bursts_words(lengths):
    """Return the length of loss bursts in words, or "" if no length is known; all known ``lengths`` are equal."""
    known = lengths.dropna()
    return "" if known.empty else f" in bursts of {known.iloc[0]:.4g} packets"


def _seen_bursts(valid):
    """Return the mean length of the loss bursts in all valid runs, in words."""
    known = valid.dropna(subset=["loss_burst_packets"])
    lost = known["loss_burst_packets"] * known["loss_bursts"]
    return "" if known.empty else _bursts_words(lost.sum() / known[["loss_bursts"]].sum())


def _shares_seen(valid):
    """State the share of packets that each link option affected behind the bottleneck; "" if no option is set."""
    passed, words = link_packets(valid), []
    for option in OPTIONS:
        known = valid[option.column].notna() & passed.notna()
        if known.any():
            *_, what = COUNT_WORDS[option.name]
            words.append(f"{number(100 * valid.loc[known, option.column].sum() / passed[known].sum())} % {what}")
    waiting = valid["waiting_per_late_packet"].dropna()
    return ", ".join(words + ([] if waiting.empty else [f"{waiting.mean():.3g} segments waiting for each late packet"]))


def _discipline_words(row):
    """Return a scenario's queueing discipline with all parameters that differ from the defaults: "codel (ecn true)"."""
    defaults = {
        f"{parameter.name} {value}"
        for parameter in DISCIPLINES[row["discipline"]].parameters
        for value in (parameter.default, str(parameter.default).lower(), "null" if parameter.default is None else "")
    }
    own = [words for words in row["queue_parameters"].split(", ") if words not in defaults]
    return f"{row['discipline']} ({', '.join(own)})" if own else row["discipline"]


def scenario_details(row) -> list[str]:
    """Return short texts about a scenario's settings that aren't in `CONDITIONS`.

    Segmentation offload and netem come first, then traffic, then non-default settings. ``row`` is a row of ``tidy/scenarios.csv``.
    """
    details = []
    if not is_simulator(row["platform"]):
        offload = "on" if row["segmentation_offload"] else "off"
        details += [f"segmentation offload {offload}", f"netem {row['netem']}"]
    details += [*_traffic_details(row), *_cable_details(row)]
    if row["groups"]:
        details.append(f"groups of flows: {row['groups']}")
    if row["ecn"] != "off":
        details.append(f"ECN {row['ecn']}")
    if row["reverse_queue"]:
        details.append(f"reverse queue {row['reverse_queue']}")
    if row["pairs"] > 1:
        details.append(f"{row['pairs']:.0f} pairs of hosts")
    if row["access_delay_ms"] != "0":
        details.append(f"delay of the hosts' own links {' or '.join(row['access_delay_ms'].split())} ms")
    if row["kernel"]:
        details.append(f"guest kernel: {row['kernel']}")
    details += [row[column] for column in ("host_options", "link_options", "more") if row[column]]
    for column, words in DETAILS.items():
        if not is_missing(row[column]):
            details.append(words.format(row[column]))
    details += [words for column, (value, words) in UNUSUAL.items() if row[column] == value]
    return details + ([f"drawn for each replication: {row['variation']}"] if row["variation"] else [])


#: Values of `processes` that don't refer to iperf3, in words.
PROCESSES = {"per-side": "two programs carry all flows"}


def _traffic_details(row) -> list[str]:
    """Return phrases that describe a scenario's traffic, including the size of packets, writes or messages."""
    application, protocol, size = row["application"], row["protocol"].upper(), plain(row["message_bytes"])
    if application == "ftp":
        return ["a file by FTP"]
    if application == "round-trip":
        return [f"{protocol} round trips of {size} bytes"]
    details = (
        []
        if is_simulator(row["platform"])
        else [PROCESSES.get(row["processes"], f"iperf3 processes: {row['processes']}")]
    )
    if not is_missing(row["bitrate_mbps"]):
        most = "" if protocol == "UDP" else "at most "
        details.append(f"{most}{plain(row['bitrate_mbps'])} Mbit/s per flow")
    elif protocol == "UDP":
        details.append("each flow at the combined rate of all paths")
    return [
        *details,
        f"UDP, {size} bytes of data per packet" if protocol == "UDP" else f"{size} bytes written at a time",
    ]


def _cable_details(row) -> list[str]:
    """Return phrases that describe a scenario's non-default settings for topology, cable, background traffic and multipath."""
    paths, delays = count(int(row["paths"]), "path"), row["path_delay_ms"].split()
    joined = f"MPTCP over {paths}"
    if row["multipath"] == "gre":
        joined = f"GRE-in-UDP over {ip_words(row['tunnel_ip_version'])} on {paths}, {row['distribution']}"
    details = (
        (row["topology"] == "cable", "cable between the hosts"),
        (row["topology"] == "chain", _chain_words(row)),
        (row["serialisation"] != "never", f"serialisation {row['serialisation']}"),
        (row["frame_overhead_bytes"] > 0, f"{row['frame_overhead_bytes']:.0f} more bytes per frame than Linux counts"),
        (row["background"] != "none", f"background {row['background']}"),
        (row["multipath"] != "none", joined),
        (not is_missing(row["outage_path"]), _outage_words(row)),
        (set(delays) != {"0"}, f"additional one-way delay of the paths: {listed(delays)} ms"),
    )
    return [words for unusual, words in details if unusual]


def _outage_words(row):
    """State which path goes down and when; "" if no path goes down."""
    if is_missing(row["outage_path"]):
        return ""
    end_s = plain(row["outage_at_s"] + row["outage_for_s"])
    return f"path {row['outage_path']:.0f} down from {plain(row['outage_at_s'])} to {end_s} s"


def _chain_words(row):
    """Describe a chain's bottlenecks in series, and the cross flows at each bottleneck; "" for other topologies."""
    if row["topology"] != "chain":
        return ""
    crossing = f"{row['cross_flows']:.0f} of the flows at each bottleneck as cross traffic"
    own = "" if is_missing(row["cross_cca"]) or not row["cross_cca"] else f" ({cca_name(row['cross_cca'])})"
    return f"{row['bottlenecks']:.0f} bottlenecks in series, the slowest with the rate shown, {crossing}{own}"


def environment_rows(environments: list[dict]) -> list[dict]:
    """Return one row per property in ``tidy/provenance.json``: the property's name in words, and its value in each environment."""
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
    "process_mode": "How the guest controls its processes",
    "image_digest": "Container image",
    "testbed_digest": "Testbed program",
    "runs": "Runs in this environment",
}


def _property_name(key):
    # Program names keep their spelling; the name of any other property begins with a capital letter.
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
