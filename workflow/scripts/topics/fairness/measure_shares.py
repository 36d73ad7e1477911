"""Measure what share of the link each flow of each run got, over the time that all flows have in common."""

import numpy as np
import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_runs
from run_tables.run_metrics import jain_index
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_tables import RUN
from topics.fairness.common_time import common_time
from topics.fairness.flow_shares import position_of, read_flows
from topics.fairness.tables import FLOW_SHARES

SERIES, WHOLE = "common time", "each flow's own time"


def timed_flows(sockets) -> dict:
    """Return what the time series say of each run.

    Parameters
    ----------
    sockets : str or path
        ``tidy/sockets.parquet``.

    Returns
    -------
    dict
        Run -> (list of flows, `CommonTime`).
    """
    timed = {}
    for run, rows in series_of_runs(sockets, ["flow", "time_s", "bytes_sent", "bytes_acked"]):
        values = rows.to_numpy(float)
        values = values[~np.isnan(values).any(axis=1)]
        flows = sorted(set(values[:, 0]))
        if flows:
            timed[run] = list(map(int, flows)), common_time([values[values[:, 0] == flow, 1:].T for flow in flows])
    return timed


def common_goodputs(flows, timed) -> pd.DataFrame:
    """Return start, length of the common time and goodput of each flow, as far as time series tell.

    Parameters
    ----------
    flows : pandas.DataFrame
        ``tidy/flows.csv``.
    timed : dict
        As `timed_flows` returns it.

    Returns
    -------
    pandas.DataFrame
        A row for each flow of the runs whose flows all have a series: `RUN`, flow, start_s, common_s, common_mbps.
    """
    numbers, rows = flows.sort_values("flow").groupby(RUN, sort=False)["flow"].agg(list), []
    for run, of_run in numbers.items():
        known, common = timed.get(run, ([], None))
        if known != of_run:
            continue
        goodputs = common.goodputs_mbps or [None] * len(known)
        rows += [
            (*run, flow, start, common.seconds or None, goodput)
            for flow, start, goodput in zip(known, common.starts_s, goodputs, strict=True)
        ]
    return pd.DataFrame(rows, columns=[*RUN, "flow", "start_s", "common_s", "common_mbps"])


def measure_shares(runs, flows, timed) -> pd.DataFrame:
    """Return every flow of every run with its share.

    Parameters
    ----------
    runs, flows : pandas.DataFrame
        ``tidy/runs.csv`` and ``tidy/flows.csv``.
    timed : dict
        As `timed_flows` returns it.

    Returns
    -------
    pandas.DataFrame
        `FLOW_SHARES`, in the order of the runs. A run's goodputs are all over the common time, or
        none is.
    """
    shares = runs[[*RUN, "scenario_label", "valid"]].merge(
        flows.drop(columns="valid"), on=RUN, how="left", validate="one_to_many"
    )
    shares = shares.merge(common_goodputs(flows, timed), on=[*RUN, "flow"], how="left")
    for name in ("start_s", "common_s", "common_mbps"):
        shares[name] = shares[name].astype(float)
    shares["goodput_mbps"] = shares["common_mbps"].where(shares["common_mbps"].notna(), shares["goodput_mbps"])
    shares["source"] = np.where(shares["common_mbps"].notna(), SERIES, WHOLE)
    return add_shares(shares)[FLOW_SHARES.names]


def add_shares(shares) -> pd.DataFrame:
    """Add share, fair_share, jain_index, position and first to the flows of runs."""
    of_run = shares.groupby(RUN, sort=False)
    total, size = of_run["goodput_mbps"].transform("sum"), of_run["goodput_mbps"].transform("size")
    whole = (of_run["goodput_mbps"].transform("count") == size) & (total > 0)
    shares["share"] = (shares["goodput_mbps"] / total).where(whole)
    shares["fair_share"] = 1 / size
    shares["jain_index"] = of_run["goodput_mbps"].transform(jain_index).where(whole)
    # The drawn order: it is random, and so what a test may rest on.
    earliest, latest = (of_run["start_offset_ms"].transform(name) for name in ("min", "max"))
    shares["first"] = (shares["start_offset_ms"] == earliest) & (earliest < latest)
    shares["position"] = position_of(shares)
    return shares


def main(inputs, outputs, params) -> None:
    """Read runs, flows and time series, write the shares."""
    shares = measure_shares(read_runs(inputs.runs), read_flows(inputs.flows), timed_flows(inputs.sockets))
    shares.to_csv(outputs.flow_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
