"""Quantities of runs that follow from several columns of the tidy tables."""

import numpy as np
import pandas as pd

from run_tables.resolution import resolutions
from run_tables.run_keys import RUN
from topics.claims.claim_quantities import UNRESOLVED

#: Columns that `with_completions` adds -> what they are of the completion times of a run's web objects.
COMPLETIONS = {"completion_p50_ms": "median", "completion_mean_ms": "mean", "completion_longest_ms": "max"}


def with_completions(runs, short_flows=None) -> pd.DataFrame:
    """Return runs with the columns `COMPLETIONS`: median, mean and longest completion time of the run's web objects.

    They are missing for runs without web objects, or with one that was never complete. ``short_flows``: rows of
    ``tidy/short_flows.parquet``.
    """
    if short_flows is None:
        return runs.assign(**dict.fromkeys(COMPLETIONS, np.nan))
    times = short_flows.groupby(RUN)["completion_ms"]
    taken = times.agg(list(COMPLETIONS.values())).set_axis(list(COMPLETIONS), axis=1)
    return runs.merge(taken.where(times.count() == times.size()).reset_index(), on=RUN, how="left")


def value_of_runs(runs, quantity) -> np.ndarray:
    """Return a quantity of each run, a column of ``tidy/runs.csv`` or one that follows from several, shape (runs,)."""
    derived = {
        "square_root_constant": lambda: _square_root_constant(runs, _lost(runs)),
        "square_root_constant_of_halvings": lambda: _square_root_constant(runs, runs["recoveries"]),
        "losses_per_halving": lambda: _lost(runs) / _above_0(runs["recoveries"]),
    }
    if quantity in COMPLETIONS and quantity not in runs:
        return np.full(len(runs), np.nan)
    return (derived[quantity]() if quantity in derived else runs[quantity]).to_numpy(float)


def resolution_of_runs(runs, quantity) -> pd.Series:
    """Return the resolution of a quantity in each run, in the quantity's unit; missing where it isn't known.

    Of the square-root law's constant it is what one event more or less makes of it, of losses per halving one loss; others as in
    `run_tables.resolution`.
    """
    if quantity in ("square_root_constant", "square_root_constant_of_halvings"):
        events = _lost(runs) if quantity == "square_root_constant" else runs["recoveries"]
        return _square_root_constant(runs, events) / (2 * _above_0(events))
    if quantity == "losses_per_halving":
        return 1 / _above_0(runs["recoveries"])
    if quantity in UNRESOLVED:
        return pd.Series(np.nan, index=runs.index)
    return resolutions(runs, quantity)


def _square_root_constant(runs, events):
    """Return C of the square-root law, rate = MSS / RTT * C / sqrt(p), with p events per packet sent.

    Mathis, Semke, Mahdavi and Ott (CCR 1997), equation 3, solved for C. The rate is the mean goodput of a flow, the RTT
    that of the flows, queueing included.
    """
    rate_mbps = runs["goodput_mbps"] / _above_0(runs["flows_under_test"])
    segments = rate_mbps * runs["rtt_mean_ms"] * 1000 / (8 * _above_0(runs["mss_bytes"]))
    return segments * np.sqrt(events / _above_0(runs["packets_sent"]))


def _lost(runs):
    """Return the packets of the data's direction that were dropped by the queue or lost behind it."""
    return runs["queue_drops"] + runs["link_drops"].fillna(0)


def _above_0(column):
    return column.where(column > 0).astype(float)
