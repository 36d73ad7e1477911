"""Windows of a cell against theory, over replications: mean, interval, and a verdict."""

import pandas as pd

from inference.mean_interval import mean_interval
from run_tables.tidy_tables import CELL, RUN
from topics.time_series.tables import WINDOW_THEORY
from topics.time_series.window_measures import UNITS

AS_THEORY, ABOVE, BELOW, UNDECIDED, NO_VERDICT = "as theory", "above", "below", "undecided", ""
VERDICTS = {
    AS_THEORY: "The interval lies between theory's ends, or outside by no more than the tolerance.",
    ABOVE: "The whole interval lies above that.",
    BELOW: "The whole interval lies below that.",
    UNDECIDED: "The interval reaches over an end: more replications would tell.",
    NO_VERDICT: "Theory says nothing of it here, or samples are too far apart.",
}
#: In percent of theory's ends, for what theory leaves out. What is left of a window is rounded down to packets (2 % of
#: 25). Growth is in whole packets. Peak and time between losses: flows are neither all in step nor all in turn, and one overflow
#: hits some of them. Vegas and BBR: samples, and what other flows of the run do.
TOLERANCE_PERCENT = {
    "left by a loss": 5,
    "growth": 15,
    "peak": 25,
    "time between losses": 25,
    "queued as believed": 10,
    "Diff": 10,
    "RTT taken for the empty path's": 5,
    "time between ProbeRTTs": 10,
    "cwnd in ProbeRTT": 5,
}
#: Teeth can't be measured if a window grows by more than this share of its peak from sample to sample.
COARSE_SHARE = 0.05
_OF_TEETH = ("left by a loss", "growth", "peak", "time between losses")


def compare_with_theory(measures, labels, coarse, confidence) -> pd.DataFrame:
    """Return each quantity of the flows of a CCA in a cell, against theory.

    Parameters
    ----------
    measures : pandas.DataFrame
        `SAWTOOTH`.
    labels : dict
        Scenario -> label.
    coarse : dict
        Cell -> by what share of its peak a window grows from sample to sample; missing where that isn't known.
    confidence : float

    Returns
    -------
    pandas.DataFrame
        `WINDOW_THEORY`. A run's value is the mean of its flows', mean and interval are over runs, least and most over flows.
    """
    rows = []
    measures = measures.dropna(subset=["measured"])
    order = {name: number for number, name in enumerate(UNITS)}
    for key, group in measures.groupby([*CELL, "flow_cca", "quantity"], sort=False, observed=True):
        cell, quantity = key[:3], key[-1]
        of_runs = group.groupby(RUN, sort=False, observed=True)[["measured", "theory_low", "theory_high"]].mean()
        row = dict(zip((*CELL, "flow_cca", "quantity"), key, strict=True)) | {
            "scenario_label": labels[cell[0]], "unit": UNITS[quantity], "runs": len(of_runs), "flows": len(group),
            "least": group["measured"].min(), "most": group["measured"].max(),
            "theory_low": of_runs["theory_low"].mean(), "theory_high": of_runs["theory_high"].mean(),
            "tolerance_percent": TOLERANCE_PERCENT.get(quantity), "mean": of_runs["measured"].mean(), "note": "",
        }  # fmt: skip
        if len(of_runs) > 1:
            _, row["ci_low"], row["ci_high"] = mean_interval(of_runs["measured"], confidence)
        else:
            row["note"] = "one run: no interval"
        if quantity in _OF_TEETH and coarse.get(cell, 0.0) > COARSE_SHARE:
            row["note"] = "samples are too far apart for the window's highest and lowest"
            row["verdict"] = NO_VERDICT
        else:
            row |= _judged(row, group)
        rows.append(row)
    table = pd.DataFrame(rows, columns=WINDOW_THEORY.names)
    cells = table.groupby([*CELL, "flow_cca"], sort=False, observed=True).ngroup()
    return table.assign(_cell=cells, _order=table["quantity"].map(order)).sort_values(
        ["_cell", "_order"], kind="stable"
    )[WINDOW_THEORY.names]


def _judged(row, group):
    low, high = row["theory_low"], row["theory_high"]
    if pd.isna(low):
        return {"verdict": NO_VERDICT}
    margin = row["tolerance_percent"] / 100
    within = group["measured"].between(low * (1 - margin), high * (1 + margin))
    ends = (row["ci_low"], row["ci_high"]) if row.get("ci_low") is not None else (row["mean"], row["mean"])
    return {"flows_as_theory": int(within.sum()), "verdict": verdict(*ends, low * (1 - margin), high * (1 + margin))}


def verdict(low, high, theory_low, theory_high) -> str:
    """Return how an interval lies to theory's, tolerance included: `AS_THEORY`, `ABOVE`, `BELOW` or `UNDECIDED`."""
    if low > theory_high:
        return ABOVE
    if high < theory_low:
        return BELOW
    return AS_THEORY if low >= theory_low and high <= theory_high else UNDECIDED
