"""Synthetic studies in which flows share a link, with known truth: tidy tables with flows and time series.

The balance of a run with two sides (the logit of the first side's share) is the difference of the
CCAs' strengths, plus the advantages of starting first and of the first pair of hosts, plus noise.
"""

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

import tidy_tables
from run_tables.run_keys import RUN
from run_tables.time_series import SOCKETS_SCHEMA

STRENGTH = {"reno": 0.0, "cubic": 0.7, "vegas": -2.0, "bbr": 1.2}
DURATION_S = 20.0


def scenarios(**columns):
    """Return sampled scenarios of two flows: a base, and others that differ from it in one condition."""
    base = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(2,), rate_mbps=10)
    changes = {
        "base": {},
        "rtt-160ms": {"delay_forward_ms": 80, "delay_reverse_ms": 80},
        "ratio-4": {"access_delay_ms": "0 30", "rtts_ms": (40.0, 160.0)},
        "loss-1pct": {"loss_forward_percent": 1},
        "buffer-4bdp": {"queue": "4 BDP", "queue_packets": 132},
    }
    usual = base.iloc[0].to_dict() | {
        "pairs": 2,
        "access_delay_ms": "0",
        "sample_interval_ms": 100,
        "start_within_ms": 1000,
    }
    rows = []
    for name, change in changes.items():
        rtts_ms = (2.0 * change.get("delay_forward_ms", 20),) * 2
        rows.append(usual | {"scenario": name, "label": name, "rtts_ms": rtts_ms} | change | columns)
    return pd.DataFrame(rows)


def ordered_pairs(ccas):
    """Return all ordered pairs of CCAs."""
    return [f"{first}+{second}" for first in ccas for second in ccas]


def sharing_study(mixes=None, places=None, replications=8, start=0.0, hosts=0.0, noise=0.1, seed=1, **more):
    """Draw the tables of a study of mixes.

    Parameters
    ----------
    mixes : list of str, optional
        All ordered pairs of `STRENGTH`'s CCAs by default.
    places : pandas.DataFrame, optional
        In the form that `scenarios` returns.
    start, hosts : float
        Advantage in the balance of the flow that starts first, and of that of the first pair of hosts.
    noise : float
        Standard deviation of a flow's strength.

    Returns
    -------
    dict
        As returned by `tidy_tables.synthetic_study`, with the flows' goodputs.
    """
    places = scenarios() if places is None else places
    plain = places.drop(columns="rtts_ms")
    study = tidy_tables.synthetic_study(
        plain, mixes or ordered_pairs(STRENGTH), ["ipv4"], replications=replications, seed=seed, **more
    )
    rtts = dict(zip(places["scenario"], places["rtts_ms"], strict=True))
    return study | {"flows": _flow_rows(study["runs"], rtts, start, hosts, noise, seed)}


def _flow_rows(runs, rtts_ms, start, hosts, noise, seed):
    """Return the rows of flows.csv for each flow; RTTs are those of the empty path of each pair of hosts, by scenario."""
    rng, rows = np.random.default_rng(seed), []
    for run in runs.to_dict("records"):
        ccas = run["cca"].split("+")
        # As in a real study, the start times are the same for all mixes.
        offsets = np.random.default_rng([seed, run["seed"]]).uniform(0, 1000, run["flows"])
        flows = [ccas[flow % len(ccas)] for flow in range(run["flows"])]
        strengths = np.array([STRENGTH.get(cca, 0.1 * len(cca)) for cca in flows])
        strengths = strengths + noise * rng.standard_normal(run["flows"])
        strengths[0] += hosts
        strengths[offsets.argmin()] += start
        parts = np.exp(strengths) / np.exp(strengths).sum()
        paths = rtts_ms[run["scenario"]]
        for flow, cca in enumerate(flows):
            pair = flow % len(paths)
            rows.append(
                {key: run[key] for key in RUN}
                | {"flow": flow, "flow_cca": cca, "cca_observed": cca, "pair": pair + 1, "rtt_path_ms": paths[pair],
                   "start_offset_ms": offsets[flow], "goodput_mbps": 9.0 * parts[flow], "rtt_mean_ms": 50.0 + flow,
                   "retransmits": 10 + flow, "valid": run["valid"]}
            )  # fmt: skip
    return pd.DataFrame(rows)


def write_sockets(flows, path, interval_s=0.5):
    """Write the time series of a study's flows as ``sockets.parquet``."""
    with pyarrow.parquet.ParquetWriter(path, SOCKETS_SCHEMA) as file:
        for _, of_run in flows.groupby(RUN, sort=False):
            for flow in of_run.to_dict("records"):
                start = flow["start_offset_ms"] / 1e3
                time_s = np.arange(0.0, DURATION_S + 3, interval_s)
                sending = np.clip(time_s, start, start + DURATION_S)
                payload = (sending - start) * flow["goodput_mbps"] * 1e6 / 8
                columns = {field.name: [None] * len(time_s) for field in SOCKETS_SCHEMA}
                columns |= {key: [flow[key]] * len(time_s) for key in (*RUN, "flow", "flow_cca")}
                columns |= {"time_s": time_s, "bytes_sent": 37 + payload, "bytes_acked": payload, "state": ["open"] * len(time_s),
                            "cwnd_packets": 10 + 5 * np.sin(time_s + flow["flow"]), "rtt_ms": flow["rtt_path_ms"] + 3 * np.cos(time_s)}  # fmt: skip
                file.write_table(pyarrow.table(columns, schema=SOCKETS_SCHEMA))
