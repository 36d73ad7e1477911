"""Measure what share of the link each flow of each run got, over the time that all flows have in common.

Flows start up to seconds apart and so end apart. A goodput over each flow's own time then mixes what the flow got
beside the others with what it got alone, and goodputs add up to more than the link.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.run_metrics import jain_index
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_tables import FLOWS, RUN
from topics.fairness.flow_shares import position_of
from topics.fairness.tables import FLOW_SHARES

SERIES, WHOLE = "common time", "each flow's own time"
# A flow is under way once it has sent more than this; iperf3 begins a connection with 37 bytes.
UNDER_WAY_BYTES = 1000


@dataclass(frozen=True)
class CommonTime:
    """When each flow of a run was first seen under way (from the traffic's origin; nan if never), and their common time.

    Without a common time its length is 0 and there are no goodputs.
    """

    starts_s: tuple[float, ...]
    seconds: float = 0.0
    goodputs_mbps: tuple[float, ...] = ()


def common_time(series) -> CommonTime:
    """Reckon goodputs over the common time: from the latest start to the earliest end.

    A flow ends with the last look at which it had still to send. Goodput is the difference of the acknowledged bytes
    between the first look at or after the one moment and the last look at or before the other.

    Parameters
    ----------
    series : list of (array, array, array)
        Of each flow: time_s (ascending), bytes_sent, bytes_acked (so far).
    """
    starts, ends = zip(*(_start_and_end(*flow[:2]) for flow in series), strict=True)
    if np.isnan([*starts, *ends]).any():
        return CommonTime(starts)
    begin, end = max(starts), min(ends)
    goodputs, seconds = [], []
    for time_s, _, acked in series:
        first = int(np.searchsorted(time_s, begin, side="left"))
        last = int(np.searchsorted(time_s, end, side="right")) - 1
        if last <= first:
            return CommonTime(starts)
        seconds.append(float(time_s[last] - time_s[first]))
        goodputs.append(float(acked[last] - acked[first]) * 8 / seconds[-1] / 1e6)
    return CommonTime(starts, min(seconds), tuple(goodputs))


def _start_and_end(time_s, sent):
    under_way = sent > UNDER_WAY_BYTES
    if not under_way.any():
        return float("nan"), float("nan")
    sending = sent < np.nanmax(sent)
    return float(time_s[under_way.argmax()]), float(time_s[sending][-1]) if sending.any() else float("nan")


def timed_flows(sockets) -> dict[tuple, tuple[list[int], CommonTime]]:
    """Return run -> flows and their common time, as ``tidy/sockets.parquet`` has them."""
    timed = {}
    for run, rows in series_of_runs(sockets, ["flow", "time_s", "bytes_sent", "bytes_acked"]):
        values = rows.to_numpy(float)
        values = values[~np.isnan(values).any(axis=1)]
        flows = sorted(set(values[:, 0]))
        if flows:
            timed[run] = list(map(int, flows)), common_time([values[values[:, 0] == flow, 1:].T for flow in flows])
    return timed


def _common_goodputs(flows, timed):
    """Return start_s, common_s and common_mbps of the flows of the runs whose flows all have a series."""
    rows = []
    for run, numbers in flows.sort_values("flow").groupby(RUN, sort=False)["flow"]:
        known, common = timed.get(run, ([], None))
        if known == list(numbers):
            goodputs = common.goodputs_mbps or [None] * len(known)
            columns = zip(known, common.starts_s, goodputs, strict=True)
            rows += [(*run, flow, start, common.seconds or None, goodput) for flow, start, goodput in columns]
    table = pd.DataFrame(rows, columns=[*RUN, "flow", "start_s", "common_s", "common_mbps"])
    return table.astype(dict.fromkeys(("start_s", "common_s", "common_mbps"), float))


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
        `FLOW_SHARES`, in the order of the runs. A run's goodputs are all over the common time, or none is.
    """
    shares = runs[[*RUN, "scenario_label", "valid"]].merge(
        flows.drop(columns="valid"), on=RUN, how="left", validate="one_to_many"
    )
    shares = shares.merge(_common_goodputs(flows, timed), on=[*RUN, "flow"], how="left")
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
    flows = read_table(inputs.flows, FLOWS).astype({"replication": int, "flow": int})
    shares = measure_shares(read_runs(inputs.runs), flows, timed_flows(inputs.sockets))
    shares.to_csv(outputs.flow_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
