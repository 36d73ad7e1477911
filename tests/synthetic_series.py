"""Synthetic time series for synthetic studies: samples of textbook windows, pacing rates, goodputs of flows and subflows."""

import numpy as np
import pandas as pd

import path_studies
import share_studies
from run_tables.run_keys import RUN
from run_tables.series_tables import INTERVALS, QUEUE, SOCKETS

DURATION_S, STEP_S, RTT_MS, PEAK, PERIOD_S = 30, 0.1, 100.0, 20, 1.4


def window_samples(cca):
    """Return the samples of a flow whose window follows its CCA's specification, one row per sample.

    Reno's grows by one packet per round trip of 100 ms from 10 to 20 and is halved, CUBIC's keeps 0.7 of its size; each loss is followed by
    0.2 s of recovery. Vegas keeps 3 packets queued. BBR has Startup, Drain, ProbeBW, and ProbeRTT every 10 s.
    """
    time = np.arange(0, DURATION_S, STEP_S).round(6)
    table = pd.DataFrame({"time_s": time, "state": "open", "ssthresh_packets": np.nan, "retransmits": 0.0})
    table = table.assign(rtt_ms=RTT_MS, rtt_min_ms=RTT_MS)
    if cca == "bbr":
        probing = (time >= 10) & (time % 10 < 0.3)
        startup, drain = time < 1, (time >= 1) & (time < 1.5)
        window = np.select([startup, drain, probing], [2.885, 2.885, 1.0], 2.0)
        return table.assign(
            cwnd_packets=np.select([startup, drain, probing], [40.0, 30.0, 4.0], 20.0), bbr_cwnd_gain=window,
            bbr_pacing_gain=np.select([startup, drain], [2.885, 1 / 2.885], 1.0),
        )  # fmt: skip
    if cca == "vegas":
        table = table.assign(cwnd_packets=20.0, ssthresh_packets=np.where(time < 1, np.nan, 10.0))
        return table.assign(vegas_rtt_ms=RTT_MS - 15, vegas_rtt_min_ms=RTT_MS)  # 20 packets x 15 / 100 = 3
    left = 14 if cca == "cubic" else 10
    since = (time - 1) % PERIOD_S
    grown = np.minimum(left + np.floor(np.maximum(since - 0.2, 0) * 1000 / RTT_MS + 1e-6), PEAK)
    steady = time >= 1
    return table.assign(
        cwnd_packets=np.where(steady, np.where(since < 0.2 - 1e-9, left, grown), np.minimum(2 * 2 ** np.floor(time / 0.25), PEAK)),
        ssthresh_packets=np.where(steady, left, np.nan),
        state=np.where(steady & (since < 0.2 - 1e-9), "recovery", "open"),
        retransmits=np.floor(np.maximum(time - 1, -PERIOD_S) / PERIOD_S) + 1,
    )  # fmt: skip


def _write(parts, declared, path):
    """Write rows as a table of time series, adding any declared columns that are missing."""
    pd.concat(parts, ignore_index=True).reindex(columns=declared.names).to_parquet(path, index=False)


def _key(flow):
    return {name: flow[name] for name in (*RUN, "flow", "flow_cca")}


def write_series(built):
    """Write sockets.parquet and queue.parquet for the flows of a study's scenarios that have time series."""
    scenarios = pd.read_csv(built.table("scenarios"), dtype={"scenario": str}).dropna(subset="sample_interval_ms")
    flows = pd.read_csv(built.table("flows"), dtype={"scenario": str})
    flows = flows[flows["scenario"].isin(scenarios["scenario"])]
    templates = {cca: window_samples(cca) for cca in flows["flow_cca"].unique()}
    sockets = []
    for flow in flows.to_dict("records"):
        template = templates[flow["flow_cca"]]
        sockets.append(template.assign(bytes_acked=template["time_s"] * flow["goodput_mbps"] * 1e6 / 8, **_key(flow)))
    _write(sockets, SOCKETS, built.folder / "tidy/sockets.parquet")
    queue = window_samples("reno")[["time_s"]].assign(packets=5, bytes=7570, delay_ms=60.0)
    queue["drops"] = (queue["time_s"] / 10).astype(int)
    queues = [queue.assign(**run) for run in flows[RUN].drop_duplicates().to_dict("records")]
    _write(queues, QUEUE, built.folder / "tidy/queue.parquet")


def share_out(flows, runs):
    """Return flows.csv with each run's goodput distributed unevenly over its flows."""
    weights = pd.Series(np.random.default_rng(5).gamma(3.0, size=len(flows)), flows.index)
    totals = flows[RUN].merge(runs[[*RUN, "goodput_mbps"]], on=RUN, how="left")["goodput_mbps"].to_numpy()
    return flows.assign(goodput_mbps=totals * weights / weights.groupby([flows[name] for name in RUN]).transform("sum"))


def write_sockets(flows, path):
    """Write sockets.parquet with a pacing rate that oscillates around each flow's goodput, in steps like BBR's gains."""
    times = np.arange(0, 20, STEP_S)
    gains = np.array([1.25, 0.75, 1, 1, 1, 1, 1, 1])[(np.arange(len(times)) // 2) % 8]
    parts = [
        pd.DataFrame({"time_s": times, "pacing_mbps": gains * flow["goodput_mbps"]}).assign(**_key(flow))
        for flow in flows.to_dict("records")
    ]
    _write(parts, SOCKETS, path)


def write_intervals(flows, path):
    """Write intervals.parquet: intervals of 2 and 8 s, with two retransmitted segments of each flow in the first."""
    parts = [
        pd.DataFrame({"start_s": [0.0, 2.0], "end_s": [2.0, 10.0], "retransmits": [2, 0]}).assign(**_key(flow))
        for flow in flows.to_dict("records")
    ]
    _write(parts, INTERVALS, path)


def write(built):
    """Write the time series that the topics of a `Built` read, and missing values into flows.csv, unless they exist."""
    topics, tidy = {topic.name for topic in built.outline.topics}, built.folder / "tidy"
    if (tidy / "sockets.parquet").exists():
        return
    if "platforms" in topics:
        write_intervals(pd.read_csv(built.table("flows"), keep_default_na=False), tidy / "intervals.parquet")
        _write([pd.DataFrame()], SOCKETS, tidy / "sockets.parquet")
    if "multipath" in topics:
        runs = pd.read_csv(built.table("runs"), dtype={"scenario": str, "scenario_label": str})
        path_studies.path_rows(runs).to_csv(built.table("paths"), index=False)
        path_studies.write_series(runs, tidy / "sockets.parquet")
        path_studies.write_cpu(runs, tidy / "cpu.parquet")
        return
    if "buffers" in topics:
        runs = pd.read_csv(built.table("runs"), dtype={"scenario_label": str})
        share_out(pd.read_csv(built.table("flows")), runs).to_csv(built.table("flows"), index=False)
    if "time_series" in topics:
        write_series(built)
    elif "fairness" in topics:
        flows = pd.read_csv(built.table("flows"), keep_default_na=False)
        share_studies.write_sockets(flows, tidy / "sockets.parquet")
    elif "buffers" in topics:
        write_sockets(pd.read_csv(built.table("flows")), tidy / "sockets.parquet")


def intervals(runs):
    """Return rows of the table of reporting intervals: ten intervals of one second for a flow of each run that has a goodput."""
    return [
        {name: run[name] for name in RUN}
        | {"flow": 0, "start_s": float(second), "end_s": second + 1.0, "sent_mbps": run["goodput_mbps"] * (1 + second / 100)}
        | {"retransmits": second, "cwnd_bytes": 14480, "rtt_ms": 20.0, "rttvar_ms": 1.0}
        for run in runs.to_dict("records") if run["goodput_mbps"] > 0
        for second in range(10)
    ]  # fmt: skip
