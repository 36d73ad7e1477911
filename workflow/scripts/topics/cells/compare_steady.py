"""Compare, cell by cell, each metric over the steady part of runs with the same metric over entire runs (including start-up)."""

import pandas as pd

from inference.paired_comparison import Family, compare, sentence
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL
from run_tables.tidy_tables import RUNS
from topics.cells.tables import CHANGING_PERCENT, STEADY
from wording.number_format import count

#: Column for the entire run, column for its steady part, and the scale on which the two are compared.
STEADY_PAIRS = (
    ("goodput_mbps", "goodput_steady_mbps", "ratio"),
    ("rtt_mean_ms", "rtt_steady_ms", "ratio"),
    ("retransmit_percent", "retransmit_steady_percent", "points"),
    ("queue_mean_packets", "queue_steady_packets", "points"),
    ("jain_index", "jain_steady_index", "points"),
)


def compare_cell(cell, whole, steady, scale, params) -> dict:
    """Return the columns of `STEADY` from `valid` to `note` for the runs of a cell.

    Parameters
    ----------
    cell : pandas.DataFrame
        Valid runs of the cell.
    whole, steady, scale : str
        A row of `STEADY_PAIRS`.
    """
    known = cell[cell[[whole, steady]].notna().all(axis=1)]
    window = (known["window_end_ns"] - known["window_begin_ns"]).astype(float)
    left_out = 100 * (known["steady_begin_ns"] - known["window_begin_ns"]) / window
    unit = "%" if scale == "ratio" else RUNS[whole].unit.replace("%", "points")
    resolution = resolution_of(known, whole) if whole in ("goodput_mbps", "rtt_mean_ms") else 0.0
    family = Family(params.confidence, params.significance)
    result = compare(
        known[steady].to_numpy(float), known[whole].to_numpy(float), scale, unit, family, (resolution,) * 2
    )
    without = len(cell) - len(known)
    have = "has" if without == 1 else "have"
    notes = [f"{without} of {count(len(cell), 'run')} {have} no steady part"] if without else []
    notes += _changing_words(known)
    return {
        "valid": len(cell), "n": len(known), "left_out_percent": left_out.mean(), "whole_mean": result.mean_b,
        "steady_mean": result.mean_a, "effect_unit": unit, "effect": result.effect, "ci_low": result.ci_low,
        "ci_high": result.ci_high, "note": sentence([*notes, *result.notes]),
    }  # fmt: skip


def _changing_words(runs):
    """Return a note for each metric (goodput, RTT) that isn't steady after start-up."""
    notes = []
    for column, what in (("goodput_steady_change_percent", "goodput"), ("rtt_steady_change_percent", "RTT")):
        far = int((runs[column].abs() > CHANGING_PERCENT).sum())
        if far:
            notes.append(
                f"not steady: in {far} of {count(len(runs), 'run')} {what} changes by more than {CHANGING_PERCENT} % from the "
                "first half to the second"
            )
    return notes


def compare_steady(runs, params) -> pd.DataFrame:
    """Return `STEADY`: for every cell, each metric over the steady part compared with the metric over the entire run.

    The table leaves out metrics without a steady value in any run of the study, cells without a value for the entire run, and Jain's index
    if only one flow is under test.
    """
    rows = []
    for whole, steady, scale in STEADY_PAIRS:
        if runs[steady].isna().all():
            continue
        for cell, group in runs[runs["valid"] & runs[whole].notna()].groupby(CELL, sort=False):
            first = group.iloc[0]
            if whole == "jain_index" and first["flows_under_test"] == 1:
                continue
            place = {"metric": whole, "steady_metric": steady, **dict(zip(CELL, cell, strict=True))}
            place |= {"unit": RUNS[whole].unit, "scenario_label": first["scenario_label"]}
            rows.append(place | compare_cell(group, whole, steady, scale, params))
    return pd.DataFrame(rows).reindex(columns=STEADY.names)
