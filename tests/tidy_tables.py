"""Synthetic tidy tables with known truth, in the form of a real study's tables.

Each metric of a run is the cell's true mean times a normal factor of known spread, so that
statistics can be compared with the true values.
"""

import copy
import itertools
import json
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from run_tables.retransmit_share import retransmit_percent
from run_tables.run_keys import RUN
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import CHECKS, FLOWS, RUNS
from study_files.study import resolve
from study_files.study_schema import study_schema
from wording.number_format import count
from wording.scenario_words import both_ways, loss_words, rate_words

CCAS = ["reno", "cubic", "bbr", "veno", "vegas", "westwood"]
ALL_CCAS = study_schema()["properties"]["ccas"]["items"]["joined"]
IP_VERSIONS = ["ipv4", "ipv6"]
# Goodput under loss in units of the square-root law, and share of the queue that is kept full.
LOSS_FACTOR = {"bbr": None, "westwood": 1.9, "veno": 1.5, "vegas": 0.8, "reno": 1.0, "cubic": 0.95}
QUEUE_SHARE = {"vegas": 0.01, "bbr": 0.35, "reno": 0.6, "cubic": 0.8, "veno": 0.5, "westwood": 0.4}
SYNTHETIC_CHECKS = [
    ("qdisc", "htb rate 1000Mbit, pfifo limit {queue}", "htb rate 1000Mbit, pfifo limit {queue}"),
    ("segmentation-offload", "off on every interface", "off on every interface"),
    ("cca", "{cca} on every connection", "{cca} on every connection"),
    ("idle-rtt", "at least {path} ms", "{path}.1 ms"),
    ("loss-realised", "{loss} % within binomial bounds", "{loss} %"),
    ("memory-pressure", "0 events", "0 events"),
    ("goodput-possible", "at most {rate} Mbit/s", "below it"),
]
MSS_BITS = 1448 * 8
DIGESTS = {"image_digest": "sha256:" + "2" * 64, "testbed_digest": "sha256:" + "1" * 64}


@cache
def least_study():
    """Return the smallest study, resolved: every key has its default."""
    return resolve(
        {"study": "least", "ccas": ["reno"], "scenarios": [{"id": "a", "link": {"rate_mbps": 10}}]}, "least.yaml"
    )


#: Values of every study that doesn't set others.
ANALYSIS = least_study()["analysis"]
#: Columns that synthetic tables may omit, with their values in the smallest study.
USUAL = {
    "topology": "dumbbell", "bottlenecks": 1, "cross_cca": "", "reverse_queue": "", "chain_rtts_ms": "", "background": "none",
    "application": "iperf3", "protocol": "tcp", "message_bytes": 131072,
    "multipath": "none", "paths": 1, "distribution": "round-robin", "path_delay_ms": "0", "frame_overhead_bytes": 0,
    "serialisation": "never", "pairs": 1, "access_delay_ms": "0", "delayed_acks": True, "receive_buffer_autotuning": True,
    "recovery": "prr", "platform": "uml", "pair": 1, "direction": "forward", "start_offset_ms": 0.0, "valid": True, "packet_bytes": 1514, "variation": "",
    "discipline": "drop-tail", "ecn": "off", "queue_parameters": "", "groups": "", "kernel": "", "host_options": "", "link_options": "", "more": "", "under_test": True,
}  # fmt: skip


def conditions_words(row):
    """Return the label that `scenario_labels` would give a scenario, as far as synthetic scenarios differ."""
    rtt_ms = row["delay_forward_ms"] + row["delay_reverse_ms"] + 4 * float(row.get("access_delay_ms", "0").split()[0])
    loss = loss_words(row, "both ways", both_ways)
    return f"{rate_words(row['rate_mbps'])}, RTT {rtt_ms:g} ms, {loss}, {count(int(row['flows']), 'flow')}"


def completed(frame, table):
    """Return a table with all declared columns: a missing column gets the usual value, or no values."""
    frame = frame.assign(**{name: USUAL[name] for name in table.names if name in USUAL and name not in frame})
    if "queue_bytes" in table.names and "queue_bytes" not in frame and "queue_packets" in frame:
        frame = frame.assign(queue_bytes=1514 * pd.to_numeric(frame["queue_packets"]))
    if "flows_under_test" in table.names and "flows_under_test" not in frame and "flows" in frame:
        frame = frame.assign(flows_under_test=frame["flows"])
    if (
        "queue_bdp" in table.names
        and "queue_bdp" not in frame
        and {"queue_bytes", "rate_mbps", "rtt_path_ms"} <= set(frame)
    ):
        bdp_bytes = pd.to_numeric(frame["rate_mbps"]) * frame["rtt_path_ms"] * 125
        frame = frame.assign(queue_bdp=pd.to_numeric(frame["queue_bytes"]) / bdp_bytes.where(bdp_bytes > 0))
    derived = {
        "capacity_mbps": (["rate_mbps"], lambda frame: pd.to_numeric(frame["rate_mbps"]) * frame.get("paths", 1)),
        "ideal_percent": (
            ["goodput_mbps", "ideal_goodput_mbps"],
            lambda frame: 100 * frame["goodput_mbps"] / pd.to_numeric(frame["ideal_goodput_mbps"]),
        ),
        "rtt_above_ms": (["rtt_mean_ms", "rtt_path_ms"], lambda frame: frame["rtt_mean_ms"] - frame["rtt_path_ms"]),
        "rtt_shortest_ms": (["rtt_path_ms"], lambda frame: frame["rtt_path_ms"]),
    }
    for name, (needed, value) in derived.items():
        if name in table.names and name not in frame and set(needed) <= set(frame):
            frame = frame.assign(**{name: value})
    if "conditions" in table.names and "delay_forward_ms" in frame and "conditions" not in frame:
        frame = frame.assign(conditions=[conditions_words(row) for row in frame.to_dict("records")])
    if "capacity_least_mbps" in table.names and "rate_mbps" in frame:
        rate = pd.to_numeric(frame["rate_mbps"]) * frame.get("paths", 1)
        frame = frame.assign(capacity_least_mbps=rate, capacity_most_mbps=rate)
    filled = {
        name: frame[name].fillna(USUAL[name])
        for name in ("pairs", "delayed_acks", "receive_buffer_autotuning")
        if name in table.names
    }
    extra = [name for name in frame.columns if name not in table.names]
    frame = frame.assign(**filled).reindex(columns=[*table.names, *extra])
    # As `read_table` returns them: a text may be empty, but is never missing.
    texts = [column.name for column in table if column.kind == "text"]
    return frame.assign(**frame[texts].astype(object).fillna(""))


def grid(delays_ms=(10, 50, 100), losses_percent=(1, 0), flows=(1, 12), rate_mbps=1000):
    """Return scenarios: one row for each loss within each number of flows, delays side by side."""
    rows = []
    for streams, loss, delay in itertools.product(flows, losses_percent, delays_ms):
        bdp_packets = max(10, round(rate_mbps * 1e6 * 2 * delay / 1000 / 12000)) if rate_mbps else None
        name = f"{rate_mbps or 'unlimited'}mbit-{delay}ms-{loss}pct-{streams}flow"
        row = {"scenario": name, "label": str(len(rows) + 1), "flows": streams, "queue_packets": bdp_packets}
        path = {"delay_forward_ms": delay, "delay_reverse_ms": delay, "loss_forward_percent": loss}
        rows.append(row | path)
    usual = {"rate_mbps": rate_mbps, "queue": "1 BDP", "duration_s": 10, "segmentation_offload": False}
    usual |= {"jitter_forward_ms": 0, "jitter_reverse_ms": 0, "loss_reverse_percent": 0, "bitrate_mbps": None}
    usual |= {"netem": "receiving-side", "processes": "per-flow"}
    return completed(pd.DataFrame(rows).assign(**usual), SCENARIOS)


def cell_truth(scenario, cca, ip_version, ipv6_ratio=1428 / 1448):
    """Return the true means of a cell, one per metric."""
    path_ms = scenario["delay_forward_ms"] + scenario["delay_reverse_ms"]
    rate, loss = scenario["rate_mbps"] or 4000, scenario["loss_forward_percent"]
    factor = LOSS_FACTOR.get(cca, 0.6 + 0.1 * (len(cca) % 7))
    share = QUEUE_SHARE.get(cca, 0.1 * (1 + len(cca) % 8))
    ratio = ipv6_ratio if ip_version == "ipv6" else 1.0
    seconds = max(path_ms, 0.2) / 1000
    if loss and factor is not None:
        law = MSS_BITS * 1.22 / seconds / np.sqrt(loss / 100) / 1e6
        goodput = min(law * factor * scenario["flows"], 0.93 * rate) * ratio
        rtt, drops = path_ms + 0.3, 0.0
    else:
        keep = 0.93 - 0.0004 * path_ms - (0.12 if loss else 0) - 0.03 * (cca == "vegas")
        goodput = rate * keep * ratio
        rtt = path_ms * (1 + share * (0.15 if loss else 1)) + 0.2
        drops = 0.0 if cca == "vegas" else 0.002 * scenario["flows"] * share
    packets = goodput * 1e6 * scenario["duration_s"] / MSS_BITS
    loss_percent = loss + drops
    again = packets * loss_percent / 100
    return {"goodput_mbps": goodput, "rtt_mean_ms": rtt, "loss_percent": loss_percent, "retransmits": again}


def synthetic_study(
    scenarios=None, ccas=CCAS, ip_versions=IP_VERSIONS, replications=5, seed=1, spread=0.03,
    ipv6_ratio=1428 / 1448, invalid_share=0.0, study="synthetic", title="A synthetic study",
):  # fmt: skip
    """Draw the tidy tables of a study.

    Parameters
    ----------
    scenarios : pandas.DataFrame, optional
        In the form that `grid` returns; by default its 12 scenarios.
    spread : float
        Standard deviation of a run's factor around the cell's true mean.
    ipv6_ratio : float
        True goodput of IPv6 over that of IPv4.
    invalid_share : float
        Probability that a run fails one of its checks.

    Returns
    -------
    dict
        runs, flows, checks, scenarios, truth (one row per cell and metric): DataFrames; provenance: dict.
    """
    rng = np.random.default_rng(seed)
    scenarios = grid() if scenarios is None else scenarios
    runs, checks, truth = [], [], []
    for scenario in scenarios.to_dict("records"):
        scenario = {key: None if pd.isna(value) else value for key, value in scenario.items()}
        for cca, ip_version in itertools.product(ccas, ip_versions):
            cell = {"scenario": scenario["scenario"], "cca": cca, "ip_version": ip_version}
            means = cell_truth(scenario, cca, ip_version, ipv6_ratio)
            truth += [{**cell, "metric": name, "mean": mean} for name, mean in means.items()]
            for replication in range(1, replications + 1):
                run = {**cell, "replication": replication}
                failed = int(rng.integers(len(SYNTHETIC_CHECKS))) if rng.random() < invalid_share else -1
                checks += run_checks(run, scenario, failed)
                runs.append(run_row(run, scenario, means, spread, failed, rng))
    scenarios = completed(scenarios.astype({"label": str}), SCENARIOS)
    more = scenarios[["scenario", *(name for name in scenarios if name in RUNS.names and name not in runs[0])]]
    runs = completed(pd.DataFrame(runs).merge(more, on="scenario"), RUNS)
    return {
        "runs": runs,
        "flows": completed(flow_rows(runs), FLOWS),
        "checks": pd.DataFrame(checks),
        "scenarios": scenarios,
        "truth": pd.DataFrame(truth),
        "provenance": provenance(study, title, seed, replications, ccas, ip_versions, len(runs), scenarios),
    }


def run_checks(run, scenario, failed):
    """Return the checks of one run, of which number `failed` (-1: none) fails."""
    path_ms = scenario["delay_forward_ms"] + scenario["delay_reverse_ms"]
    words = {"queue": scenario["queue_packets"], "cca": run["cca"], "path": path_ms}
    words |= {"loss": scenario["loss_forward_percent"], "rate": scenario["rate_mbps"]}
    return [
        {
            **run,
            "check": name,
            "ok": number != failed,
            "expected": expected.format(**words),
            "observed": "something else" if number == failed else observed.format(**words),
        }
        for number, (name, expected, observed) in enumerate(SYNTHETIC_CHECKS)
    ]


def run_row(run, scenario, means, spread, failed, rng):
    """Return one row of runs.csv."""
    path_ms = scenario["delay_forward_ms"] + scenario["delay_reverse_ms"]
    factors = 1 + spread * rng.standard_normal(4)
    goodput = means["goodput_mbps"] * factors[0]
    loss = max(0.0, means["loss_percent"] * factors[2])
    packets = int(goodput * 1e6 * scenario["duration_s"] / MSS_BITS)
    link_drops = int(packets * scenario["loss_forward_percent"] * factors[2] / 100)
    mss = 1428 if run["ip_version"] == "ipv6" else 1448
    rtt = path_ms + max(0.02, (means["rtt_mean_ms"] - path_ms) * factors[1])
    retransmits = max(0, round(means["retransmits"] * factors[3]))
    sent_bits = goodput * 1e6 * scenario["duration_s"]
    same = {name: scenario[name] for name in ("rate_mbps", "flows", "queue_packets", "duration_s")}
    return {
        **run,
        **same,
        "scenario_label": scenario["label"],
        # The same for all CCAs and IP versions of a scenario: common random numbers.
        "seed": zlib.crc32(f"{run['scenario']}/{run['replication']}".encode()),
        "valid": failed < 0,
        "invalid_because": "" if failed < 0 else f"{SYNTHETIC_CHECKS[failed][0]}: something else",
        "excluded_by": "" if failed < 0 else "instrument",
        "delay_ms": scenario["delay_forward_ms"],
        "rtt_path_ms": path_ms,
        "loss_configured_percent": scenario["loss_forward_percent"],
        "mss_bytes": mss,
        "ideal_goodput_mbps": scenario["rate_mbps"] * mss / 1514 if scenario["rate_mbps"] else None,
        "goodput_mbps": goodput,
        "rtt_mean_ms": rtt,
        "rtt_min_ms": path_ms + 0.02,
        "loss_percent": loss,
        "retransmits": retransmits,
        "jain_index": 1.0 if scenario["flows"] == 1 else 0.99,
        "throughput_per_stream_mbps": goodput / scenario["flows"],
        "rtt_first_stream_ms": rtt,
        "published_loss_percent": 100 * retransmits * mss * 8 / sent_bits if goodput else None,
        "retransmit_percent": retransmit_percent(retransmits, sent_bits / 8, mss) if goodput else None,
        # Start-up is like the rest of the run.
        "goodput_steady_mbps": goodput,
        "rtt_steady_ms": rtt,
        "retransmit_steady_percent": retransmit_percent(retransmits, sent_bits / 8, mss) if goodput else None,
        "packets_sent": packets,
        "queue_drops": int(packets * loss / 100) - link_drops if loss else 0,
        "link_drops": link_drops,
        **DIGESTS,
    }


def flow_rows(runs):
    """Return the rows of flows.csv with each flow's CCA: the requested one, or those of a mix in turn."""
    columns = [*RUN, "goodput_mbps", "retransmits", "rtt_mean_ms", "rtt_path_ms", "flows", "valid"]
    flows = runs.loc[runs.index.repeat(runs["flows"]), columns]
    numbers = flows.groupby(level=0).cumcount()
    # All flows of a run are alike.
    share = {name: flows[name] / flows["flows"] for name in ("goodput_mbps", "retransmits")}
    flows = flows.assign(**share, rtt_max_ms=2 * flows["rtt_mean_ms"]).drop(columns="flows")
    ccas = [mix.split("+")[number % len(mix.split("+"))] for mix, number in zip(flows["cca"], numbers, strict=True)]
    return flows.assign(flow=numbers, pair=numbers + 1, flow_cca=ccas, cca_observed=ccas).reset_index(drop=True)


def time_series_study():
    """Return a study of few CCAs over time: one scenario, 3 flows, one IP version."""
    scenario = grid(delays_ms=(20,), losses_percent=(0,), flows=(3,), rate_mbps=1).assign(sample_interval_ms=10)
    return synthetic_study(scenario, ["reno", "cubic", "vegas", "bbr"], ["ipv4"], replications=3, seed=21)


def mixes_study(replications=3):
    """Return a study of 16 ordered pairs of CCAs in 4 scenarios of 2 flows, the first with time series, one IP version."""
    parts = [grid(delays_ms=(10, 50), losses_percent=(0,), flows=(2,), rate_mbps=rate) for rate in (10, 100)]
    scenarios = pd.concat(parts, ignore_index=True).assign(sample_interval_ms=[100, None, None, None])
    scenarios["label"] = [str(place) for place in range(1, len(scenarios) + 1)]
    ccas = ["reno", "cubic", "vegas", "bbr"]
    mixes = ["+".join(pair) for pair in itertools.product(ccas, repeat=2)]
    return synthetic_study(scenarios, mixes, ["ipv4"], replications=replications, seed=22)


def buffers(platforms=("uml", "ns3:3.39", "ns3:3.44"), sizes=(100, 500, 1000, 2000, 5000), rate_mbps=1000, **more):
    """Return scenarios of 16 flows: a row for each buffer (packets) on each platform, and `more` columns."""
    rows = []
    for platform, packets in itertools.product(platforms, sizes):
        name = f"{platform.replace(':', '-')}-{packets}"
        row = grid(delays_ms=(60,), losses_percent=(0,), flows=(16,), rate_mbps=rate_mbps)
        size = {"queue": f"{packets} packets", "queue_packets": packets}
        rows.append(row.assign(scenario=name, label=name, platform=platform, **size, **more))
    return completed(pd.concat(rows, ignore_index=True), SCENARIOS)


def buffers_study(scenarios=None, ccas=("bbr", "cubic", "reno"), replications=2):
    """Return a study of buffers on several platforms: 16 flows between as many pairs of hosts, one IP version."""
    scenarios = buffers(pairs=16) if scenarios is None else scenarios
    study = synthetic_study(scenarios, list(ccas), ["ipv4"], replications=replications, seed=23)
    linux = study["provenance"]["environments"][0]
    shared = {key: linux[key] for key in ("image_digest", "testbed_digest")}
    study["provenance"]["environments"] = [
        {"platform": platform, "clock": "simulated", "simulator": {"version": platform[4:]}, **shared, "runs": 30}
        if platform.startswith("ns3")
        else linux
        for platform in scenarios["platform"].unique()
    ]
    return study


def resolved_scenario(row):
    """Return a scenario in a study's form, from its row of scenarios.csv."""
    scenario = copy.deepcopy(least_study()["scenarios"][0])
    known = {key: None if pd.isna(value) else value for key, value in row.items()}
    scenario |= {"id": row["scenario"], "flows": int(row["flows"])}
    scenario |= {key: row[key] for key in ("label", "platform", "topology", "background")}
    queue, _, unit = row["queue"].partition(" ")
    scenario["queue"] = {unit.lower(): float(queue)}
    scenario["link"] |= {key: known[key] for key in ("rate_mbps", "frame_overhead_bytes", "serialisation")}
    for what, unit in (("delay", "ms"), ("jitter", "ms"), ("loss", "percent")):
        scenario["link"][f"{what}_{unit}"] = {way: known[f"{what}_{way}_{unit}"] for way in ("forward", "reverse")}
    access_ms = [float(delay) for delay in row["access_delay_ms"].split()]
    pairs = int(row["pairs"])
    scenario["hosts"] = {"pairs": pairs, "access_delay_ms": access_ms * (pairs // len(access_ms))}
    of_traffic = ("application", "protocol", "duration_s", "bitrate_mbps", "sample_interval_ms", "start_within_ms")
    scenario["traffic"] |= {key: known[key] for key in of_traffic} | {"block_bytes": known["message_bytes"]}
    scenario["transport"] |= {key: known[key] for key in ("segment_bytes", "delayed_acks", "min_rto_ms", "recovery")}
    scenario["multipath"] = {
        "by": row["multipath"], "paths": int(row["paths"]), "tunnel_ip_version": known["tunnel_ip_version"] or "ipv4",
        "distribution": row["distribution"], "path_delay_ms": [float(delay) for delay in row["path_delay_ms"].split()],
    }  # fmt: skip
    return scenario


def provenance(study, title, seed, replications, ccas, ip_versions, runs, scenarios):
    """Return the content of provenance.json."""
    outline = {"study": study, "title": title, "description": "Drawn from a random generator, not measured."}
    outline |= {
        "seed": seed,
        "replications": replications,
        "ccas": list(ccas),
        "cca_definitions": {},
        "ip_versions": list(ip_versions),
    }
    outline |= {key: least_study()[key] for key in ("steady_state", "exam")}
    outline["scenarios"] = [resolved_scenario(row) for row in scenarios.to_dict("records")]
    environment = {"kernel": "7.2.13", "kernel_config_sha256": "3" * 64, "tick_hz": 1000, "iperf3_version": "3.18"}
    environment |= {"mininet_version": "2.3.0", "iproute2_version": "6.15.0", "python3_version": "3.13.5"}
    environment |= DIGESTS | {"runs": runs}
    workflow = {
        "analysis_image_digest": "sha256:" + "3" * 64,
        "snakemake": "9.27.1",
        "commit": "4" * 40,
        "dirty": False,
    }
    return {"study": outline, "environments": [environment], "workflow": workflow}


def write_tidy(study, folder):
    """Write the tables as ``<folder>/tidy/*.csv`` and ``provenance.json``; return that folder."""
    tidy = Path(folder) / "tidy"
    tidy.mkdir(parents=True, exist_ok=True)
    for table in (RUNS, FLOWS, CHECKS, SCENARIOS):
        frame = completed(study[table.name], table)
        if table in (RUNS, FLOWS):  # the application prints what was delivered
            frame = frame.fillna({"application_goodput_mbps": frame["goodput_mbps"]})
        frame.to_csv(tidy / f"{table.name}.csv", index=False, lineterminator="\n")
    (tidy / "provenance.json").write_text(json.dumps(study["provenance"], indent=1) + "\n")
    return tidy
