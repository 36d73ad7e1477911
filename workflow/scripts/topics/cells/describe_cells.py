"""Describe each metric in each cell: mean with interval, spread, normality.

The unit is the cell (scenario, CCA, IP version); its values are the valid replications.
What can't be computed is left empty and said in the column `note`.
"""

import pandas as pd

from inference.mean_interval import mean_interval
from inference.normality import SHAPIRO_MAX_N, SHAPIRO_MIN_N, shapiro_wilk
from rule_script import run_rule
from run_tables.metrics import DESCRIBED_METRICS
from run_tables.reading import read_runs
from run_tables.tidy_tables import CELL
from topics.cells.tables import DESCRIPTIVE


def describe(values, runs, confidence) -> dict:
    """Describe one metric of one cell.

    Parameters
    ----------
    values : pandas.Series of float
        One value for each valid run; missing where the run has none.
    runs : int
        Runs of the cell, valid or not.
    confidence : float
        Of the interval of the mean.

    Returns
    -------
    dict
        Columns of `DESCRIPTIVE` from `n` on; a statistic is left out where there is none, and `note` says why.
    """
    known = values.dropna().astype(float)
    n = len(known)
    row, notes = {}, []
    if len(values) == 0:
        notes.append(f"no valid run among {runs}")
    elif n < len(values):
        notes.append(f"{len(values) - n} of {len(values)} valid runs have no value")
    if n >= 1:
        row |= {"mean": known.mean(), "median": known.median(), "min": known.min(), "max": known.max()}
    if n == 1:
        notes.append("one value: no interval, no standard deviation, no test of normality")
    elif n >= 2 and known.min() == known.max():
        # Exactly, not by way of a sum: the mean of equal values may differ from them in the last bit.
        value = known.iloc[0]
        row |= {"mean": value, "ci_low": value, "ci_high": value, "sd": 0.0}
        notes.append(f"all {n} values are equal: an interval of no width, no test of normality")
    elif n >= 2:
        row["mean"], row["ci_low"], row["ci_high"] = mean_interval(known, confidence)
        row["sd"] = known.std(ddof=1)
        if n < SHAPIRO_MIN_N:
            notes.append(f"two values: a test of normality needs {SHAPIRO_MIN_N}")
        else:
            row["shapiro_w"], row["shapiro_p"] = shapiro_wilk(known)
            if n > SHAPIRO_MAX_N:
                notes.append(f"above n = {SHAPIRO_MAX_N} the p of Shapiro-Wilk is approximate")
    return {"n": n, **row, "note": "; ".join(notes)}


def describe_cells(runs, confidence) -> pd.DataFrame:
    """Describe every metric of every cell with intervals of some confidence; return `DESCRIPTIVE`."""
    rows = []
    for cell, group in runs.groupby(CELL, sort=False):
        valid = group[group["valid"]]
        same = {**dict(zip(CELL, cell, strict=True)), "scenario_label": group["scenario_label"].iloc[0]}
        for metric in DESCRIBED_METRICS:
            statistics = describe(valid[metric.column], len(group), confidence)
            rows.append(same | {"metric": metric.column, "unit": metric.unit} | statistics)
    return pd.DataFrame(rows, columns=DESCRIPTIVE.names)


def main(inputs, outputs, params) -> None:
    """Read the runs, write the description."""
    table = describe_cells(read_runs(inputs.runs), params.confidence)
    table.to_csv(outputs.descriptive, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
