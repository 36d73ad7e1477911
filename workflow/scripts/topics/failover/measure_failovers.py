"""Measure what happens when a path goes down: rates before, meanwhile and after, how long all stands still, when the path is used again."""

import numpy as np
import pandas as pd

from inference.mean_interval import mean_interval
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_tables import CELL, RUN, SCENARIOS
from topics.failover.path_series import COLUMNS, acked_by_path
from topics.failover.tables import FAILOVERS

MEASURES = ("before_mbps", "during_mbps", "after_mbps", "standstill_s", "return_s")


def measure_run(acked, scenario) -> dict[str, float]:
    """Return `MEASURES` of a run.

    Parameters
    ----------
    acked : pandas.DataFrame
        As `acked_by_path` gives it.
    scenario : mapping
        A row of ``tidy/scenarios.csv``.
    """
    begin_s, duration_s = scenario["outage_at_s"], scenario["duration_s"]
    end_s = begin_s + scenario["outage_for_s"]
    total, own = acked.sum(axis=1), acked[scenario["outage_path"]]
    return_s = _first_growth(own, end_s)
    until_s = end_s if np.isnan(return_s) else end_s + return_s
    return {
        "before_mbps": _rate(total, begin_s / 2, begin_s),
        "during_mbps": _rate(total, (begin_s + end_s) / 2, end_s),
        "after_mbps": _rate(total, 0.75 * duration_s, duration_s),
        "standstill_s": _longest_pause(total, begin_s, until_s),
        "return_s": return_s,
    }


def _rate(acked, begin_s, end_s):
    """Return the mean rate between two moments in Mbit/s, from the first sample within to the last."""
    within = acked[(acked.index >= begin_s) & (acked.index <= end_s)]
    if len(within) < 2:
        return np.nan
    return 8e-6 * (within.iloc[-1] - within.iloc[0]) / (within.index[-1] - within.index[0])


def _longest_pause(acked, begin_s, end_s):
    """Return the longest time between samples with the same count, from the last one before a moment to another moment."""
    before = acked[acked.index <= begin_s].index.max()
    within = acked[(acked.index >= before) & (acked.index <= end_s)]
    grown = within.index[within.diff().fillna(1) > 0]
    return float(np.diff([*grown, within.index[-1]]).max())


def _first_growth(acked, from_s):
    """Return how long after a moment a count first grows; NaN if it never does."""
    start = acked[acked.index <= from_s].iloc[-1]
    grown = acked[(acked.index > from_s) & (acked > start)]
    return float(grown.index[0] - from_s) if len(grown) else np.nan


def measure_failovers(runs, scenarios, measured, confidence) -> pd.DataFrame:
    """Return `FAILOVERS`: a row a cell with an outage, in the order of `runs`.

    ``measured``: run as (scenario, cca, ip_version, replication) -> `measure_run`.
    """
    down = scenarios[scenarios["outage_path"].notna()].set_index("scenario")
    rows = []
    for cell, of_cell in runs[runs["scenario"].isin(down.index)].groupby(CELL, sort=False):
        valid, scenario = of_cell[of_cell["valid"]], down.loc[cell[0]]
        names = [tuple(name) for name in valid[RUN].itertuples(index=False)]
        values = pd.DataFrame([measured[name] for name in names if name in measured], columns=MEASURES)
        rows.append(
            {
                **dict(zip(CELL, cell, strict=True)),
                "scenario_label": of_cell["scenario_label"].iloc[0],
                **{
                    name: scenario[name] for name in ("platform", "paths", "outage_path", "outage_at_s", "outage_for_s")
                },
                "n": len(valid),
                "path_ideal_mbps": valid["ideal_goodput_mbps"].mean() / scenario["paths"],
                **{name: values[name].mean() for name in MEASURES},
                **_interval(values, "standstill_s", confidence),
                **_interval(values, "return_s", confidence),
                "returned": int(values["return_s"].notna().sum()),
                "outage_drops": valid["outage_drops"].mean(),
            }
        )
    return pd.DataFrame(rows, columns=FAILOVERS.names)


def _interval(values, name, confidence):
    known = values[name].dropna()
    if len(known) < 2:
        return {}
    _, low, high = mean_interval(known, confidence)
    return {f"{name}_low": max(low, 0.0), f"{name}_high": high}


def main(inputs, outputs, params) -> None:
    """Read runs, scenarios and the sockets' time series, write the cells."""
    runs, scenarios = read_runs(inputs.runs), read_table(inputs.scenarios, SCENARIOS)
    down = scenarios[scenarios["outage_path"].notna()].set_index("scenario")
    valid = runs[runs["valid"] & runs["scenario"].isin(down.index)]
    wanted = {(str(s), str(c), str(v), int(r)) for s, c, v, r in valid[RUN].itertuples(index=False)}
    measured = {
        run: measure_run(acked_by_path(samples), down.loc[run[0]])
        for run, samples in series_of_runs(inputs.sockets, COLUMNS, wanted)
        if run in wanted
    }
    cells = measure_failovers(runs, scenarios, measured, params.confidence)
    cells.to_csv(outputs.failovers, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
