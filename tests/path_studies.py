"""Synthetic studies of several paths: MPTCP and tunnels, which reach the largest possible goodput, and Vegas over tunnels, which doesn't."""

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

import tidy_tables
from run_tables.cpu_times import CPU_SCHEMA
from run_tables.path_tables import PATHS
from run_tables.run_keys import RUN
from run_tables.scenario_table import SCENARIOS
from run_tables.time_series import SOCKETS_SCHEMA
from topics.multipath.path_environments import longer_words

#: Payload and frame of a full packet: by method of combining paths, and outer and inner IP version.
PAYLOAD = {"none": {"ipv4": 1448, "ipv6": 1428}, "mptcp": {"ipv4": 1428, "ipv6": 1408}}
TUNNEL_BYTES = {"ipv4": 46, "ipv6": 66}
#: Share of the ceiling that a run reaches.
USED, VEGAS_ON_TUNNELS, UNEVEN_TUNNELS = 0.995, 0.27, 0.18
SECONDS, FILE_BYTES = 5, 50_000_000


def scenario(name, by="none", paths=1, outside="ipv4", application="iperf3", uneven=0, platform="uml", **more):
    """Return a row of scenarios.csv; ``uneven`` is the additional delay of the last path in ms, ``more`` has further columns."""
    row = tidy_tables.grid(delays_ms=(0,), losses_percent=(0,), flows=(1,), rate_mbps=100)
    row = row.assign(
        scenario=name, label=name[:24], platform=platform, delay_forward_ms=0.1, delay_reverse_ms=0.1, queue="1000 packets",
        queue_packets=1000, duration_s=SECONDS, topology="cable", background="none", application=application, protocol="tcp",
        message_bytes=131072, multipath=by, paths=paths, tunnel_ip_version=outside if by == "gre" else None, distribution="round-robin",
        path_delay_ms=" ".join(["0"] * (paths - 1) + [f"{uneven:g}"]),
        file_bytes=FILE_BYTES if application == "ftp" else None, frame_overhead_bytes=0, serialisation="virtual-clock",
        sample_interval_ms=50 if application == "ftp" else None,
    ).assign(**more)  # fmt: skip
    return tidy_tables.completed(row, SCENARIOS)


def scenarios(platform="uml"):
    """Return scenarios.csv; for `host`, those of a study of CPU time."""
    if platform == "host":
        joined = [scenario(f"mptcp-{n}", "mptcp", n, platform=platform) for n in (1, 2, 4)]
        return pd.concat([scenario("tcp", platform=platform), *joined], ignore_index=True)
    rows = [scenario("tcp"), scenario("ftp-tcp", application="ftp")]
    rows += [scenario("ftp-mptcp-4", "mptcp", 4, application="ftp")]
    rows += [scenario(f"mptcp-{n}", "mptcp", n) for n in (2, 4)] + [scenario(f"gre-{n}", "gre", n) for n in (2, 4)]
    rows += [scenario("gre6-4", "gre", 4, "ipv6"), scenario("ftp-gre-4", "gre", 4, application="ftp")]
    rows += [scenario("mptcp-uneven", "mptcp", 4, uneven=0.5), scenario("gre-uneven", "gre", 4, uneven=0.5)]
    return pd.concat(rows, ignore_index=True)


def ceiling_mbps(row):
    """Return the largest possible goodput over a run's paths."""
    by, inside = row["multipath"], row["ip_version"]
    if by != "gre":
        return row["paths"] * 100 * PAYLOAD[by][inside] / 1514
    return row["paths"] * 100 * (PAYLOAD["none"][inside] - TUNNEL_BYTES[row["tunnel_ip_version"]]) / 1514


def paths_study(platform="uml", ccas=("cubic", "vegas", "reno"), replications=6, invalid_share=0.0, table=None):
    """Return a study whose runs reach `USED` times their ceilings, minus up to two thirds of a thousandth.

    ``table`` is its scenarios.csv, `scenarios` unless given.
    """
    table = scenarios(platform) if table is None else table
    named = {"study": f"paths-{platform}", "title": "Paths"}
    study = tidy_tables.synthetic_study(
        table, list(ccas), replications=replications, seed=41, invalid_share=invalid_share, **named
    )
    runs = study["runs"]
    delays = dict(zip(table["scenario"], table["path_delay_ms"], strict=True))
    values = [values_of(run, delays[run["scenario"]]) for run in runs.to_dict("records")]
    study["runs"] = runs = runs.assign(**pd.DataFrame(values, index=runs.index))
    study["flows"] = tidy_tables.flow_rows(runs)
    return study


def values_of(run, path_delay_ms):
    """Return the metrics of a run."""
    ceiling = ceiling_mbps(run)
    used = USED * (1 - 1e-3 * ((run["replication"] - 1) % 3 / 3))
    if run["multipath"] == "gre" and run["paths"] > 1:
        used = VEGAS_ON_TUNNELS if run["cca"] == "vegas" else used
        used = UNEVEN_TUNNELS if longer_words(path_delay_ms) else used
    goodput = used * ceiling
    file = run["application"] == "ftp"
    packets = round(goodput * 1e6 / 8 * SECONDS / 1400)
    host = run["platform"] == "host"
    return {
        "ideal_goodput_mbps": ceiling, "goodput_mbps": goodput, "packets_sent": packets, "queue_drops": 0,
        "transfer_s": FILE_BYTES * 8 / goodput / 1e6 if file else None,
        "out_of_order_segments": packets // 4 if run["multipath"] == "gre" and run["paths"] > 1 else 0,
        "out_of_order_mptcp": packets // 2 if run["multipath"] == "mptcp" and run["paths"] > 1 else 0,
        "reordering_events": 3, "recoveries": 7, "recoveries_undone": 6, "duplicate_segments": 1, "spurious_retransmits": 1,
        "cwnd_packets": 50 if used > 0.5 else 2.5,
        "cpu_busy_percent": 5.0 + 8 * run["paths"] + 0.2 * run["replication"] if host else None,
        "cpu_seconds_per_gbyte": 10.0 if host else None,
    }  # fmt: skip


def path_rows(runs):
    """Return paths.csv: an equal share for each path."""
    rows = []
    for run in runs.to_dict("records"):
        for path in range(1, int(run["paths"]) + 1):
            packets = run["packets_sent"] // run["paths"]
            counted = {"path": path, "packets": packets, "bytes": packets * 1514, "queue_drops": 0}
            subflow = {"bytes_acked": 1000.0, "retransmits": 0, "rtt_ms": 1.5, "cca": run["cca"]}
            of_mptcp = {f"subflow_{name}": value for name, value in subflow.items() if run["multipath"] == "mptcp"}
            rows.append({key: run[key] for key in (*RUN, "valid")} | counted | of_mptcp)
            rows[-1]["share_percent"] = 100 / run["paths"]
    return pd.DataFrame(rows).reindex(columns=PATHS.names)


def write_series(runs, path):
    """Write sockets.parquet: the acknowledged bytes over time of each subflow, or of the only connection, of a file transfer."""
    with pyarrow.parquet.ParquetWriter(path, SOCKETS_SCHEMA) as writer:
        for run in runs[runs["application"] == "ftp"].to_dict("records"):
            times = np.arange(0.05, run["transfer_s"], 0.05)
            sockets = int(run["paths"]) if run["multipath"] == "mptcp" else 1
            for path_number in range(1, sockets + 1):
                acked = np.floor(run["goodput_mbps"] / sockets * 1e6 / 8 * times)
                values = {key: run[key] for key in RUN} | {"flow": 0, "flow_cca": run["cca"], "state": "open"}
                values |= {"path": path_number if sockets > 1 else None}
                looks = zip(times, acked, strict=True)
                rows = [values | {"time_s": time, "bytes_acked": count} for time, count in looks]
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=SOCKETS_SCHEMA))


def write_cpu(runs, path):
    """Write cpu.parquet: two cores, busy according to the run."""
    rows = [
        {key: run[key] for key in RUN}
        | {"core": core, "role": "senders", "time_s": 0.1 * reading, "busy_percent": run["cpu_busy_percent"]}
        for run in runs[runs["platform"] == "host"].to_dict("records")
        for core in (0, 1)
        for reading in range(1, 10 * SECONDS + 1)
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=CPU_SCHEMA), path)
