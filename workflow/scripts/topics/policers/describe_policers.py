"""Describe what each cell of a study with policers loses and gets, over the replications."""

import pandas as pd

from inference.mean_interval import mean_interval
from rule_script import run_rule
from run_tables.reading import read_runs
from run_tables.run_keys import CELL
from topics.policers.tables import MEASURES, POLICER_CELLS

COUNTS = ("policer_drops", "queue_drops", "retransmits")


def measured(runs) -> pd.DataFrame:
    """Return the runs with `MEASURES`; what isn't known is missing."""
    came = runs["packets_sent"] + runs["policer_drops"]
    return runs.assign(
        goodput_percent=100 * runs["goodput_mbps"] / runs["ideal_goodput_mbps"],
        policed_percent=100 * runs["policer_drops"] / came.where(came > 0),
    )


def describe_policers(runs, words, confidence) -> pd.DataFrame:
    """Return `POLICER_CELLS`: a row a cell, in the order of ``runs``; ``words`` are scenario -> its policer in words."""
    rows = []
    for cell, of_cell in measured(runs).groupby(CELL, sort=False):
        valid = of_cell[of_cell["valid"]]
        rows.append(
            {
                **dict(zip(CELL, cell, strict=True)),
                "scenario_label": of_cell["scenario_label"].iloc[0],
                "policer": words.get(cell[0], ""),
                "n": len(valid),
                **{key: value for measure in MEASURES for key, value in _estimate(valid, measure.name, confidence)},
                **{name: valid[name].mean() for name in COUNTS},
            }
        )
    return pd.DataFrame(rows, columns=POLICER_CELLS.names)


def _estimate(runs, name, confidence):
    """Yield the mean of a measure and both ends of its t interval, cut off at what is possible."""
    values = runs[name].dropna()
    yield name, values.mean()
    if len(values) > 1:
        _, low, high = mean_interval(values, confidence)
        yield f"{name}_low", max(low, 0.0)
        yield f"{name}_high", min(high, 100.0)


def main(inputs, outputs, params) -> None:
    """Read the runs, write the cells."""
    cells = describe_policers(read_runs(inputs.runs), params.policers, params.confidence)
    cells.to_csv(outputs.policer_cells, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
