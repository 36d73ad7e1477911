"""Compare the congestion windows in each cell with theory: mean and interval over replications, and verdict."""

import pandas as pd

from inference.cell_estimates import cell_estimate
from run_tables.run_keys import CELL, RUN
from topics.time_series.tables import WINDOW_THEORY
from topics.time_series.window_measures import QUANTITIES

AS_THEORY, ABOVE, BELOW, UNDECIDED, NO_VERDICT = "as theory", "above", "below", "undecided", ""
VERDICTS = {
    AS_THEORY: "The interval lies within the theoretical range, extended by the tolerance.",
    ABOVE: "The whole interval lies above the theoretical range by more than the tolerance.",
    BELOW: "The whole interval lies below the theoretical range by more than the tolerance.",
    UNDECIDED: "The interval crosses an end of the theoretical range, extended by the tolerance: more replications would decide the case.",
    NO_VERDICT: "There is no theory for this case, or too little was measured: the note gives the reason.",
}
#: Teeth can be measured if the congestion window grows by at most this share of its peak between samples.
COARSE_SHARE = 0.05
_OF_TEETH = ("left by a loss", "growth", "peak", "mean over a tooth", "time between losses")


def compare_with_theory(measures, labels, coarse, confidence) -> pd.DataFrame:
    """Return `WINDOW_THEORY`: for each cell and CCA of its flows, one row per quantity, in the order of `QUANTITIES`.

    A run's value is the mean over its flows. The mean and its interval are taken over runs, the extremes over flows.

    Parameters
    ----------
    measures : pandas.DataFrame
        `SAWTOOTH`.
    labels : dict
        Scenario -> label.
    coarse : dict
        Cell -> growth of the congestion window between samples as a share of its peak; cells in which the growth is unknown are missing.
    confidence : float
    """
    rows, keys = [], [*CELL, "flow_cca"]
    measures = measures[measures["measured"].notna() | (measures["note"] != "")]
    for key, of_cell in measures.groupby(keys, sort=False, observed=True):
        cell = dict(zip(keys, key, strict=True)) | {"scenario_label": labels[key[0]]}
        for quantity, (unit, tolerance) in QUANTITIES.items():
            group = of_cell[of_cell["quantity"] == quantity]
            if len(group):
                row = cell | {"quantity": quantity, "unit": unit, "tolerance_percent": tolerance}
                is_coarse = quantity in _OF_TEETH and coarse.get(key[:3], 0.0) > COARSE_SHARE
                rows.append(row | _compared(group, tolerance, is_coarse, confidence))
    return pd.DataFrame(rows, columns=WINDOW_THEORY.names)


def _compared(group, tolerance, is_coarse, confidence):
    """Return the columns of `WINDOW_THEORY` for one quantity in a cell.

    There is no verdict if ``is_coarse`` is true. If theory applies to some flows, the other flows (with too few teeth) are excluded.
    """
    notes = list(dict.fromkeys(filter(None, group["note"])))
    group = group[group["theory_low"].notna()] if group["theory_low"].notna().any() else group
    of_runs = group.groupby(RUN, sort=False, observed=True)[["measured", "theory_low", "theory_high"]].mean()
    mean, low, high = (of_runs[name].mean() for name in of_runs)
    row = {
        "runs": len(of_runs), "flows": len(group), "n": group["n"].sum(), "mean": mean, "theory_low": low, "theory_high": high,
        "least": group["measured"].min(), "most": group["measured"].max(), "verdict": NO_VERDICT,
    }  # fmt: skip
    known = of_runs["measured"].dropna()
    summary = cell_estimate(known, confidence, 0)
    # If there is no interval (too few runs, or outliers), the range of all runs is judged instead.
    ends = known.min(), known.max()
    if summary.low is not None:
        ends = row["ci_low"], row["ci_high"] = summary.low, summary.high
    elif len(known):
        notes.append(summary.note)
    if is_coarse:
        notes.append("samples are too far apart to show the window's highest and lowest values")
    elif not pd.isna(low) and len(known):
        allowed = low * (1 - tolerance / 100), high * (1 + tolerance / 100)
        row["flows_as_theory"] = int(group["measured"].between(*allowed).sum())
        row["verdict"] = verdict(*ends, *allowed)
    return row | {"note": "; ".join(notes)}


def verdict(low, high, theory_low, theory_high) -> str:
    """Return the verdict on an interval: `AS_THEORY`, `ABOVE`, `BELOW` or `UNDECIDED`; the theoretical range includes the tolerance."""
    if low > theory_high:
        return ABOVE
    if high < theory_low:
        return BELOW
    return AS_THEORY if low >= theory_low and high <= theory_high else UNDECIDED
