"""Measure what happens when a path goes down: rates before, meanwhile and after, how long all stands still, when the path is used again."""

import pandas as pd

from inference.mean_interval import mean_interval
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.run_keys import CELL, RUN
from run_tables.series_of_runs import series_of_runs
from run_tables.tidy_tables import SCENARIOS
from topics.failover.path_series import COLUMNS, MEASURES, acked_by_path, measure_run
from topics.failover.tables import FAILOVERS


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
