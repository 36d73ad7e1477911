"""Synthetic tidy tables with known truth, in the shape of a real study's.

Each metric of a run is the cell's true mean times a normal factor of known spread, so that
statistics can be held against what was put in. Run as a program it writes a study's tables:

    python tests/tidy_tables.py FOLDER --replications 5
"""

import argparse
import json
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

CCAS = ["reno", "cubic", "bbr", "veno", "vegas", "westwood"]
ALL_CCAS = (
    "bbr bic cdg cubic dctcp highspeed htcp hybla illinois lp nv reno scalable vegas veno "
    "westwood yeah"
).split()
IP_VERSIONS = ["ipv4", "ipv6"]
# Goodput under loss in units of the square-root law, and share of the queue that is kept full.
LOSS_FACTOR = {"bbr": None, "westwood": 1.9, "veno": 1.5, "vegas": 0.8, "reno": 1.0, "cubic": 0.95}
QUEUE_SHARE = {"vegas": 0.01, "bbr": 0.35, "reno": 0.6, "cubic": 0.8, "veno": 0.5, "westwood": 0.4}
CHECKS = [
    ("qdisc", "htb rate 1000Mbit, pfifo limit {queue}", "htb rate 1000Mbit, pfifo limit {queue}"),
    ("segmentation-offload", "off on every interface", "off on every interface"),
    ("cca", "{cca} on every connection", "{cca} on every connection"),
    ("idle-rtt", "at least {path} ms", "{path}.1 ms"),
    ("loss-realised", "{loss} % within binomial bounds", "{loss} %"),
    ("memory-pressure", "0 events", "0 events"),
    ("goodput-possible", "at most {rate} Mbit/s", "below it"),
]
MSS_BITS = 1448 * 8


def grid(delays_ms=(10, 50, 100), losses_percent=(1, 0), flows=(1, 12), rate_mbps=1000):
    """Return scenarios: a row for each loss within flows, delays side by side."""
    rows = []
    for streams in flows:
        for loss in losses_percent:
            for delay in delays_ms:
                bdp_packets = None
                if rate_mbps:
                    bdp_packets = max(10, round(rate_mbps * 1e6 * 2 * delay / 1000 / 12000))
                rows.append(
                    {
                        "scenario": f"{rate_mbps or 'unlimited'}mbit-{delay}ms-{loss}pct-{streams}flow",
                        "label": str(len(rows) + 1),
                        "rate_mbps": rate_mbps,
                        "delay_forward_ms": delay,
                        "delay_reverse_ms": delay,
                        "jitter_forward_ms": 0,
                        "jitter_reverse_ms": 0,
                        "loss_forward_percent": loss,
                        "loss_reverse_percent": 0,
                        "queue": "1 BDP",
                        "queue_packets": bdp_packets,
                        "flows": streams,
                        "bitrate_mbps": None,
                        "duration_s": 10,
                        "platform": "uml",
                        "segmentation_offload": False,
                        "netem": "receiving-side",
                        "processes": "per-flow",
                    }
                )
    return pd.DataFrame(rows)


def cell_truth(scenario, cca, ip_version, ipv6_ratio=1428 / 1448):
    """Return the true means of a cell, one value a metric."""
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
    return {
        "goodput_mbps": goodput,
        "rtt_mean_ms": rtt,
        "loss_percent": loss_percent,
        "retransmits": packets * loss_percent / 100,
    }


def synthetic_study(
    scenarios=None, ccas=CCAS, ip_versions=IP_VERSIONS, replications=5, seed=1, spread=0.03,
    ipv6_ratio=1428 / 1448, invalid_share=0.0, study="synthetic", title="A synthetic study",
):  # fmt: skip
    """Draw the tidy tables of a study.

    Parameters
    ----------
    scenarios : pandas.DataFrame, optional
        As `grid` gives, 12 by default.
    spread : float
        Standard deviation of a run's factor around the cell's true mean.
    ipv6_ratio : float
        True goodput of IPv6 over that of IPv4.
    invalid_share : float
        Probability with which a run fails one of its checks.

    Returns
    -------
    dict
        runs, flows, checks, scenarios, truth (a row a cell and metric): DataFrames; provenance: dict.
    """
    rng = np.random.default_rng(seed)
    scenarios = grid() if scenarios is None else scenarios
    runs, checks, truth = [], [], []
    for scenario in scenarios.to_dict("records"):
        scenario = {key: None if pd.isna(value) else value for key, value in scenario.items()}
        for cca in ccas:
            for ip_version in ip_versions:
                cell = {"scenario": scenario["scenario"], "cca": cca, "ip_version": ip_version}
                means = cell_truth(scenario, cca, ip_version, ipv6_ratio)
                truth += [{**cell, "metric": name, "mean": mean} for name, mean in means.items()]
                for replication in range(1, replications + 1):
                    run = {**cell, "replication": replication}
                    failed = int(rng.integers(len(CHECKS))) if rng.random() < invalid_share else -1
                    checks += run_checks(run, scenario, failed)
                    runs.append(run_row(run, scenario, means, spread, failed, rng))
    scenarios = scenarios.astype({"label": str})
    runs = pd.DataFrame(runs)
    return {
        "runs": runs,
        "flows": flow_rows(runs),
        "checks": pd.DataFrame(checks),
        "scenarios": scenarios,
        "truth": pd.DataFrame(truth),
        "provenance": provenance(study, title, seed, replications, ccas, ip_versions, len(runs), scenarios),
    }


def run_checks(run, scenario, failed):
    """Return the checks of one run, of which number `failed` (-1: none) fails."""
    words = {
        "queue": scenario["queue_packets"],
        "cca": run["cca"],
        "path": scenario["delay_forward_ms"] + scenario["delay_reverse_ms"],
        "loss": scenario["loss_forward_percent"],
        "rate": scenario["rate_mbps"],
    }
    return [
        {
            **run,
            "check": name,
            "ok": number != failed,
            "expected": expected.format(**words),
            "observed": "something else" if number == failed else observed.format(**words),
        }
        for number, (name, expected, observed) in enumerate(CHECKS)
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
    return {
        "scenario": run["scenario"],
        "scenario_label": scenario["label"],
        "cca": run["cca"],
        "ip_version": run["ip_version"],
        "replication": run["replication"],
        # The same for all CCAs and IP versions of a scenario: common random numbers.
        "seed": zlib.crc32(f"{run['scenario']}/{run['replication']}".encode()),
        "valid": failed < 0,
        "invalid_because": "" if failed < 0 else f"{CHECKS[failed][0]}: something else",
        "rate_mbps": scenario["rate_mbps"],
        "delay_ms": scenario["delay_forward_ms"],
        "rtt_path_ms": path_ms,
        "loss_configured_percent": scenario["loss_forward_percent"],
        "flows": scenario["flows"],
        "queue_packets": scenario["queue_packets"],
        "duration_s": scenario["duration_s"],
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
        "retransmit_percent": 100 * retransmits * mss * 8 / (goodput * 1e6 * scenario["duration_s"]) if goodput else None,
        "packets_sent": packets,
        "queue_drops": int(packets * loss / 100) - link_drops if loss else 0,
        "link_drops": link_drops,
        "testbed_digest": "sha256:" + "1" * 64,
        "image_digest": "sha256:" + "2" * 64,
    }


def flow_rows(runs):
    """Return what flows.csv says of the CCA of each flow: the one asked for, of a mix in turn."""
    run = ["scenario", "cca", "ip_version", "replication", "goodput_mbps", "retransmits", "rtt_mean_ms", "flows"]
    flows = runs.loc[runs.index.repeat(runs["flows"]), run]
    numbers = flows.groupby(level=0).cumcount()
    # All flows of a run are alike.
    share = {name: flows[name] / flows["flows"] for name in ("goodput_mbps", "retransmits")}
    flows = flows.assign(**share, rtt_max_ms=2 * flows["rtt_mean_ms"]).drop(columns="flows")
    ccas = [mix.split("+")[number % len(mix.split("+"))] for mix, number in zip(flows["cca"], numbers, strict=True)]
    return flows.assign(flow=numbers, flow_cca=ccas, cca_observed=ccas).reset_index(drop=True)


def time_series_study():
    """Return a study of few CCAs over time: one scenario, 3 flows, one IP version."""
    scenario = grid(delays_ms=(20,), losses_percent=(0,), flows=(3,), rate_mbps=1).assign(sample_interval_ms=10)
    return synthetic_study(scenario, ["reno", "cubic", "vegas", "bbr"], ["ipv4"], replications=3, seed=21)


def mixes_study(replications=3):
    """Return a study of 16 ordered pairs of CCAs in 4 scenarios of 2 flows, one IP version."""
    parts = [grid(delays_ms=(10, 50), losses_percent=(0,), flows=(2,), rate_mbps=rate) for rate in (10, 100)]
    scenarios = pd.concat(parts, ignore_index=True).assign(sample_interval_ms=100)
    scenarios["label"] = [str(place) for place in range(1, len(scenarios) + 1)]
    ccas = ["reno", "cubic", "vegas", "bbr"]
    mixes = [f"{first}+{second}" for first in ccas for second in ccas]
    return synthetic_study(scenarios, mixes, ["ipv4"], replications=replications, seed=22)


def buffers_study(platforms=("uml", "ns3:3.39", "ns3:3.44")):
    """Return a study of 5 buffers on several platforms: 16 flows between as many pairs of hosts, one IP version."""
    rows = []
    for platform in platforms:
        for packets in (100, 500, 1000, 2000, 5000):
            name = f"{platform.replace(':', '-')}-{packets}packets"
            row = grid(delays_ms=(60,), losses_percent=(0,), flows=(16,), rate_mbps=1000)
            size = {"queue": f"{packets} packets", "queue_packets": packets}
            rows.append(row.assign(scenario=name, label=name, platform=platform, pairs=16, **size))
    study = synthetic_study(pd.concat(rows, ignore_index=True), ["bbr", "cubic", "reno"], ["ipv4"], replications=2, seed=23)
    linux = study["provenance"]["environments"][0]
    shared = {key: linux[key] for key in ("image_digest", "testbed_digest")}
    simulated = [
        {"platform": platform, "clock": "simulated", "simulator": {"version": platform[4:]}, **shared, "runs": 30}
        for platform in platforms
        if platform.startswith("ns3")
    ]
    study["provenance"]["environments"] = [linux] * ("uml" in platforms) + simulated
    return study


def provenance(study, title, seed, replications, ccas, ip_versions, runs, scenarios):
    """Return the content of provenance.json."""
    return {
        "study": {
            "study": study,
            "title": title,
            "description": "Drawn from a random generator, not measured.",
            "seed": seed,
            "replications": replications,
            "ccas": list(ccas),
            "ip_versions": list(ip_versions),
            "scenarios": [
                {
                    "id": row["scenario"],
                    "flows": int(row["flows"]),
                    "platform": row["platform"],
                    "link": {
                        key: None if pd.isna(row[key]) else float(row[key])
                        for key in ("rate_mbps", "delay_forward_ms", "delay_reverse_ms", "loss_forward_percent")
                    },
                    "queue": {"bdp": 1} if pd.isna(row["queue_packets"]) else {"packets": int(row["queue_packets"])},
                    "traffic": {"sample_interval_ms": row.get("sample_interval_ms")},
                    "hosts": {"pairs": int(row.get("pairs", 1))},
                }
                for row in scenarios.to_dict("records")
            ],
        },
        "environments": [
            {
                "kernel": "7.2.13",
                "kernel_config_sha256": "3" * 64,
                "tick_hz": 1000,
                "iperf3_version": "3.18",
                "mininet_version": "2.3.0",
                "iproute2_version": "6.15.0",
                "python3_version": "3.13.5",
                "image_digest": "sha256:" + "2" * 64,
                "testbed_digest": "sha256:" + "1" * 64,
                "runs": runs,
            }
        ],
        "workflow": {
            "analysis_image_digest": "sha256:" + "3" * 64,
            "snakemake": "9.27.1",
            "commit": "4" * 40,
            "dirty": False,
        },
    }


def write_tidy(study, folder):
    """Write the tables as ``<folder>/tidy/*.csv`` and ``provenance.json``; return that folder."""
    tidy = Path(folder) / "tidy"
    tidy.mkdir(parents=True, exist_ok=True)
    for name in ("runs", "flows", "checks", "scenarios"):
        study[name].to_csv(tidy / f"{name}.csv", index=False, lineterminator="\n")
    (tidy / "provenance.json").write_text(json.dumps(study["provenance"], indent=1) + "\n")
    return tidy


def main():
    """Write a study's tables to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--replications", type=int, default=5)
    parser.add_argument("--invalid-share", type=float, default=0.01)
    arguments = parser.parse_args()
    study = synthetic_study(
        replications=arguments.replications, invalid_share=arguments.invalid_share
    )
    print(write_tidy(study, arguments.folder))


if __name__ == "__main__":
    main()
