"""Synthetic studies of message sizes: both environments, all traffic, and values that follow from headers alone."""

from itertools import product
from types import SimpleNamespace

import pandas as pd

import tidy_tables
from rule_files import carry_out
from run_tables.reading import read_table
from tcp_models.wire_theory import goodput_mbps, round_trip_us
from topics.packet_size.tables import SIZE_CELLS, SIZE_DIFFERENCES

SIZES = (128, 384, 640, 896, 1152, 1408)
#: Additional time of a round trip under the virtual clock, and its total time under the real one, in us.
CLOCK_US, KERNEL_US = {"tcp": 1.4, "udp": 0.4}, {"tcp": 40.0, "udp": 30.0}


def sizes_scenarios(platform="uml", sizes=SIZES, rate_mbps=100):
    """Return scenarios.csv: both environments, all traffic. A rate other than 100 Mbit/s is part of their names."""
    rows, end = [], f"-{rate_mbps}mbit" if rate_mbps != 100 else ""
    kinds = product((("p2p", "none"), ("cs", "server")), ("tcp", "tcp-segments", "udp", "tcp-rtt", "udp-rtt"), sizes)
    for (prefix, background), traffic, size in kinds:
        name = f"{prefix}-{traffic}-{size}{end}"
        row = tidy_tables.grid(delays_ms=(0,), losses_percent=(0,), flows=(1,), rate_mbps=rate_mbps)
        more = {
            "scenario": name, "label": name, "platform": platform, "queue": "1000 packets", "queue_packets": 1000,
            "duration_s": 1, "topology": "cable", "background": background, "message_bytes": size,
            "application": "round-trip" if traffic.endswith("rtt") else "iperf3", "protocol": traffic[:3],
            "frame_overhead_bytes": 24, "serialisation": "virtual-clock",
            "segment_bytes": size if traffic == "tcp-segments" else None,
        }  # fmt: skip
        rows.append(row.assign(**more))
    return pd.concat(rows, ignore_index=True)


def sizes_study(platform="uml", replications=6, sizes=SIZES, invalid_share=0.0, ccas=("cubic",), rates=(100,)):
    """Return a study of message sizes whose runs have the values that follow from headers alone, with a small spread."""
    scenarios = pd.concat([sizes_scenarios(platform, sizes, rate) for rate in rates], ignore_index=True)
    study = tidy_tables.synthetic_study(
        scenarios, list(ccas), replications=replications, study=f"sizes-{platform}", title="Sizes", seed=31,
        invalid_share=invalid_share,
    )  # fmt: skip
    runs = study["runs"].merge(scenarios[["scenario", "segment_bytes"]], on="scenario")
    server = runs["background"] == "server"
    runs["background_mbps"], runs["background_back_mbps"] = (
        pd.Series(value, runs.index).where(server) for value in (0.3, 0.05)
    )
    runs = runs.assign(**pd.DataFrame([values_of(run, platform) for run in runs.to_dict("records")], dtype=float))
    study["runs"] = runs.drop(columns="segment_bytes")
    flows = tidy_tables.flow_rows(runs.astype({"flows": int}))
    study["flows"] = flows.assign(
        bytes_sent=flows["goodput_mbps"] * 125e3, bytes_received=flows["goodput_mbps"] * 125e3
    )
    return study


def values_of(run, platform):
    """Return the metrics of a run; up to two thirds of a thousandth lower than the calculation."""
    rate = run["rate_mbps"]
    less = 1 - 1e-3 * ((run["replication"] - 1) % 3 / 3)
    protocol, size, ip_version = run["protocol"], run["message_bytes"], run["ip_version"]
    nothing = dict.fromkeys([
        "goodput_mbps", "rtt_mean_ms", "rtt_min_ms", "retransmits", "jain_index", "mss_bytes", "packets_sent",
        "rtt_first_stream_ms", "throughput_per_stream_mbps", "published_loss_percent", "retransmit_percent",
    ])  # fmt: skip
    if run["application"] == "round-trip":
        wire = round_trip_us(rate, size, protocol, ip_version, 24) + CLOCK_US[protocol]
        trip_us = wire if platform == "uml" else KERNEL_US[protocol] + 0.01 * size
        return nothing | {"rtt_mean_ms": trip_us / 1e3 / less, "packets_sent": 1000}
    full = 1448 if ip_version == "ipv4" else 1428
    payload = size if protocol == "udp" or not pd.isna(run["segment_bytes"]) else full
    background = 0.3 if run["background"] == "server" else 0.0
    goodput = less * goodput_mbps(rate, payload, protocol, ip_version, 24, background)
    goodput -= 0.2 if platform == "host" else 0
    values = nothing | {"goodput_mbps": goodput, "packets_sent": goodput * 125e3 / payload + 8}
    return values | ({"mss_bytes": payload, "rtt_mean_ms": 1.4, "retransmits": 0} if protocol == "tcp" else {})


def measure(folder, study, other=None, printed=None):
    """Return both tables of a study; ``other`` is the folder of the study on the other platform."""
    tidy = tidy_tables.write_tidy(study, folder)
    inputs = {name: tidy / f"{name}.csv" for name in ("runs", "flows", "scenarios")}
    outputs = SimpleNamespace(**{name: folder / f"{name}.csv" for name in ("size_cells", "size_differences")})
    others = [other / "size_cells.csv"] if other else []
    params = {"confidence": 0.95, "printed": printed}
    carry_out("topics.packet_size.measure_sizes", inputs | {"other_size_cells": others}, outputs, params)
    return read_table(outputs.size_cells, SIZE_CELLS), read_table(outputs.size_differences, SIZE_DIFFERENCES)


def one(table, **values):
    """Return the only row with these values."""
    for name, value in values.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]
