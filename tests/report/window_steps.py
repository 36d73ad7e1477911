"""What the rules of the topic on time series do, for studies of synthetic tables: samples of windows by the book, then its scripts."""

import numpy as np
import pandas as pd
from run_tables.time_series import QUEUE, SOCKETS
from study_topics.time_series import pictures

DURATION_S, STEP_S, RTT_MS, PEAK, PERIOD_S = 30, 0.1, 100.0, 20, 1.4


def window_samples(cca, seconds=DURATION_S, step_s=STEP_S):
    """Return the samples of a flow whose window does what its CCA's document says: a row a sample.

    Reno's grows by a packet a round trip of 100 ms from 10 to 20 and is halved, CUBIC's stays at 0.7; after each loss 0.2 s of
    recovery. Vegas keeps 3 packets queued. BBR has Startup, Drain, ProbeBW, and ProbeRTT every 10 s.
    """
    time = np.arange(0, seconds, step_s).round(6)
    table = pd.DataFrame(
        {
            "time_s": time,
            "state": "open",
            "ssthresh_packets": np.nan,
            "rtt_ms": RTT_MS,
            "rtt_min_ms": RTT_MS,
            "retransmits": 0.0,
        }
    )
    if cca == "bbr":
        probing = (time >= 10) & (time % 10 < 0.3)
        startup, drain = time < 1, (time >= 1) & (time < 1.5)
        window = np.select([startup, drain, probing], [2.885, 2.885, 1.0], 2.0)
        return table.assign(
            cwnd_packets=np.select([startup, drain, probing], [40.0, 30.0, 4.0], 20.0), bbr_cwnd_gain=window,
            bbr_pacing_gain=np.select([startup, drain], [2.885, 1 / 2.885], 1.0),
        )  # fmt: skip
    if cca == "vegas":
        base = RTT_MS - 15  # 20 packets x 15 / 100 = 3
        return table.assign(
            cwnd_packets=20.0,
            ssthresh_packets=np.where(time < 1, np.nan, 10.0),
            vegas_rtt_ms=base,
            vegas_rtt_min_ms=RTT_MS,
        )
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


def write_series(built):
    """Write sockets.parquet and queue.parquet for the runs and flows of a study, and into flows.csv what synthetic flows lack."""
    flows = pd.read_csv(built.table("flows"), keep_default_na=False)
    run = ["scenario", "cca", "ip_version", "replication"]
    if "rtt_path_ms" not in flows:
        flows = flows.merge(pd.read_csv(built.table("runs"))[[*run, "rtt_path_ms"]], on=run)
    flows = flows.assign(
        **{
            name: values
            for name, values in (("pair", flows["flow"] + 1), ("start_offset_ms", 0.0))
            if name not in flows
        }
    )
    flows.to_csv(built.table("flows"), index=False)
    templates = {cca: window_samples(cca) for cca in flows["flow_cca"].unique()}
    sockets = []
    for row in flows.to_dict("records"):
        template = templates[row["flow_cca"]]
        acked = template["time_s"] * row["goodput_mbps"] * 1e6 / 8
        sockets.append(template.assign(bytes_acked=acked, **{name: row[name] for name in (*run, "flow", "flow_cca")}))
    pd.concat(sockets, ignore_index=True).reindex(columns=SOCKETS.names).to_parquet(
        built.folder / "tidy/sockets.parquet", index=False
    )
    time = np.arange(0, DURATION_S, STEP_S).round(6)
    one = pd.DataFrame(
        {"time_s": time, "packets": 5, "bytes": 7570, "drops": (time / 10).astype(int), "delay_ms": 60.0}
    )
    queues = [one.assign(**row) for row in flows[run].drop_duplicates().to_dict("records")]
    pd.concat(queues, ignore_index=True).reindex(columns=QUEUE.names).to_parquet(
        built.folder / "tidy/queue.parquet", index=False
    )


def time_series_step(built):
    """Do what workflow/rules/time_series.smk does."""
    if not (built.folder / "tidy/sockets.parquet").exists():
        write_series(built)
    series = {"sockets": built.folder / "tidy/sockets.parquet", "queue": built.folder / "tidy/queue.parquet"}
    for script, *names in (
        ("find_phases", "phases", "phase_shares"),
        ("measure_sawtooth", "teeth", "sawtooth", "window_theory"),
        ("compare_flows", "flow_outcomes"),
    ):
        built.run(script, {name: built.table(name) for name in names}, inputs=series)
    for picture in pictures(built.outline.design):
        words = {"scenario": picture.scenario, "cca_shown": picture.cca, "ip_shown": picture.ip_version}
        built.run(
            "plot_windows", built.outputs(picture.slug), inputs=series | {"phases": built.table("phases")}, **words
        )
