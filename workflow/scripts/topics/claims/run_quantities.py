"""Quantities of a run that are derived from several columns of the tidy tables."""

import numpy as np
import pandas as pd

from run_tables.resolution import resolutions
from run_tables.run_keys import RUN
from topics.claims.claim_quantities import UNRESOLVED

#: Column that `with_completions` adds -> the aggregate of the completion times of a run's web objects.
COMPLETIONS = {"completion_p50_ms": "median", "completion_mean_ms": "mean", "completion_longest_ms": "max"}


def with_completions(runs, short_flows=None) -> pd.DataFrame:
    """Add the columns `COMPLETIONS` to a table of runs: the median, mean and longest completion time of the run's web objects.

    The values are missing for a run without web objects, or with an object that was never completed. ``short_flows`` contains rows of
    ``tidy/short_flows.parquet``.
    """
    if short_flows is None:
        return runs.assign(**dict.fromkeys(COMPLETIONS, np.nan))
    times = short_flows.groupby(RUN)["completion_ms"]
    taken = times.agg(list(COMPLETIONS.values())).set_axis(list(COMPLETIONS), axis=1)
    return runs.merge(taken.where(times.count() == times.size()).reset_index(), on=RUN, how="left")


def value_of_runs(runs, quantity) -> np.ndarray:
    """Return a quantity of each run, shape (runs,).

    The quantity is a column of ``tidy/runs.csv``, or is derived from several columns.
    """
    derived = {
        "square_root_constant": lambda: _square_root_constant(runs, _lost(runs)),
        "square_root_constant_of_halvings": lambda: _square_root_constant(runs, runs["recoveries"]),
        "losses_per_halving": lambda: _lost(runs) / _above_0(runs["recoveries"]),
    }
    if quantity in COMPLETIONS and quantity not in runs:
        return np.full(len(runs), np.nan)
    return (derived[quantity]() if quantity in derived else runs[quantity]).to_numpy(float)


def resolution_of_runs(runs, quantity) -> pd.Series:
    """Return the resolution of a quantity in each run; missing where the resolution is unknown.

    The resolution of the square-root law's constant is the change that one more event causes. The resolution of losses per halving is the
    change that one more loss causes. Goodput that iperf3 measures over TCP is resolved to one block at best, because iperf3 counts whole
    blocks. For the other quantities, see `run_tables.resolution`.
    """
    if quantity in ("square_root_constant", "square_root_constant_of_halvings"):
        events = _lost(runs) if quantity == "square_root_constant" else runs["recoveries"]
        return _square_root_constant(runs, events) / (2 * _above_0(events))
    if quantity == "losses_per_halving":
        return 1 / _above_0(runs["recoveries"])
    if quantity in UNRESOLVED:
        return pd.Series(np.nan, index=runs.index)
    if quantity == "goodput_mbps":
        return _of_printed_goodput(runs)
    if quantity == "utilisation_percent":
        return resolutions(runs, "goodput_mbps") * runs["utilisation_percent"] / _above_0(runs["goodput_mbps"])
    return resolutions(runs, quantity)


def _of_printed_goodput(runs):
    """Return the resolution of the goodput that the application prints.

    iperf3's receiver counts only whole blocks.
    """
    block = 8e-6 * runs["message_bytes"].astype(float) / _above_0(runs["duration_s"]) * runs["flows_under_test"]
    counts_blocks = (runs["application"] == "iperf3") & (runs["protocol"] == "tcp")
    return resolutions(runs, "goodput_mbps").combine(block.where(counts_blocks), np.fmax)


def _square_root_constant(runs, events):
    """Return C of the square-root law, rate = MSS / RTT * C / sqrt(p), where p is the number of events per packet sent.

    This is equation 3 of Mathis, Semke, Mahdavi and Ott (CCR 1997), solved for C. The rate is the mean goodput per flow, and the
    RTT is the mean over the flows, including queueing.
    """
    rate_mbps = runs["goodput_mbps"] / _above_0(runs["flows_under_test"])
    segments = rate_mbps * runs["rtt_mean_ms"] * 1000 / (8 * _above_0(runs["mss_bytes"]))
    return segments * np.sqrt(events / _above_0(runs["packets_sent"] + runs["policer_drops"].fillna(0)))


def _lost(runs):
    """Return the number of packets that were lost in the direction of the data: in the queue, in a policer, or on the link."""
    return runs["queue_drops"] + runs["link_drops"].fillna(0) + runs["policer_drops"].fillna(0)


def _above_0(column):
    return column.where(column > 0).astype(float)
