"""Differences between IP versions, environments and platforms, for cells with the same traffic and message size."""

import math

import pandas as pd

from inference.cell_estimates import cell_estimate
from inference.collapses import kinds_words
from inference.mean_interval import LEAST_RUNS, too_few_words
from inference.paired_comparison import incomplete_words, sentence
from inference.student_t import quantile
from inference.welch import difference_variance
from run_tables.run_keys import CELL
from topics.packet_size.tables import SIZE_DIFFERENCES
from topics.packet_size.traffic import ENVIRONMENT, IP_VERSION, PLATFORM
from wording.number_format import is_missing

#: Columns that identify a cell. Compared cells differ in exactly one of them.
PLACE = ("traffic", "background", "ip_version", "platform", "message_bytes", "cca", "rate_mbps")

#: Note for a difference that is known although there is no interval.
ONE_MEASUREMENT = "runs repeat one measurement: n = 1, no interval"


def size_differences(runs, cells, others, confidence) -> pd.DataFrame:
    """Return one row of `SIZE_DIFFERENCES` for each pair of compared cells.

    Raises `ValueError` if two scenarios are equal in all columns that identify a cell.

    Parameters
    ----------
    runs : pandas.DataFrame
        Result of `size_cells.runs_by_size`.
    cells, others : pandas.DataFrame
        ``analysis/size_cells.csv`` of this study, and of the study that ran the same scenarios on another platform (None
        if there is no such study).
    confidence : float
    """
    # A replication uses the same seed for both IP versions; environments are separate scenarios with different seeds.
    rows = [
        _compared(IP_VERSION, "ip_version", a, b, confidence, _paired_differences(runs, a, b))
        for a, b in _pairs(cells, cells, "ip_version", "ipv4", "ipv6")
    ]
    rows += [
        _compared(ENVIRONMENT, "background", a, b, confidence)
        for a, b in _pairs(cells, cells, "background", "none", "server")
    ]
    if others is not None and len(others):
        # The real clock is compared with the virtual clock, whichever of the two studies this is.
        virtual, real = (cells, others) if cells["platform"].iloc[0] == "uml" else (others, cells)
        first, second = virtual["platform"].iloc[0], real["platform"].iloc[0]
        if first != second and (real["platform"] == second).all():
            rows += [
                _compared(PLATFORM, "platform", a, b, confidence)
                for a, b in _pairs(virtual, real, "platform", first, second)
            ]
    return pd.DataFrame(rows, columns=SIZE_DIFFERENCES.names)


def _pairs(firsts, seconds, column, first, second):
    """Yield pairs of cells that differ in only one column, whose value is ``first`` in one cell and ``second`` in the other."""
    keys = [name for name in PLACE if name != column]
    partners = _by_place(seconds[seconds[column] == second], keys)
    for place, cell in _by_place(firsts[firsts[column] == first], keys).items():
        if place in partners:
            yield cell, partners[place]


def _by_place(cells, keys):
    """Return the cell (a dict) for each combination of values of ``keys``."""
    by_key = {}
    for cell in cells.to_dict("records"):
        place = tuple(None if is_missing(cell[name]) else cell[name] for name in keys)
        if place in by_key:
            names, alike = f"{by_key[place]['scenario']} and {cell['scenario']}", ", ".join(keys)
            raise ValueError(
                f"the scenarios {names} are alike in {alike}; expected: one scenario for each combination, to compare sizes"
            )
        by_key[place] = cell
    return by_key


def _paired_differences(runs, first, second):
    """Return the differences between two cells (second minus first) by replication, the resolution of these differences, and a note.

    Incomplete pairs are left out; the note gives their number, and is empty if there are none.
    """
    sides = [
        runs[(runs[CELL] == [cell[name] for name in CELL]).all(axis=1)].set_index("replication")
        for cell in (first, second)
    ]
    values = [side["measured"].where(side["valid"]) for side in sides]
    steps = [side.loc[side["valid"], "resolution"].max() for side in sides]
    pairs = values[1] - values[0]  # the index contains the replications of both sides
    incomplete = int(pairs.isna().sum())
    return pairs.dropna(), sum(steps), incomplete_words(incomplete, len(pairs)) if incomplete else ""


def _compared(question, column, a, b, confidence, paired=None):
    """Return the row that compares two cells, which differ in ``column``.

    ``paired`` is the result of `_paired_differences`, or None if the runs aren't paired.
    """
    row = {name: a[name] for name in (*PLACE, "unit")}
    row |= {"question": question, "first": a[column], "second": b[column], column: "", "note": ""}
    row |= {"cpu_us": b["cpu_us"]} if question == PLATFORM else {}
    for name, cell in (("first", a), ("second", b)):
        row |= {f"n_{name}": cell["n"], f"mean_{name}": cell["mean"]}
    if is_missing(a["mean"]) or is_missing(b["mean"]):
        failed = " ".join(cell["failed_checks"] for cell in (a, b) if is_missing(cell["mean"]))
        return row | {"note": "no valid run on one side", "failed_checks": failed}
    pairs, step, incomplete = paired or ((), 0.0, "")
    difference = pairs.mean() if len(pairs) else b["mean"] - a["mean"]
    row |= {"difference": difference, "percent": 100 * difference / a["mean"]}
    if paired is None:
        row |= _welch(a, b, confidence)
    else:
        mean = cell_estimate(pairs, confidence, resolution=step)
        repeated = mean.n > 1 and mean.measurements == 1
        notes = [incomplete, ONE_MEASUREMENT if repeated else mean.note if len(pairs) else ""]
        row |= {"ci_low": mean.low, "ci_high": mean.high, "note": sentence(filter(None, notes))}
    if question != PLATFORM and not (is_missing(a["calculated"]) or is_missing(b["calculated"])):
        expected = b["calculated"] - a["calculated"]
        row |= {"expected": expected, "expected_percent": 100 * expected / a["calculated"]}
    if not (is_missing(a["printed_mean"]) or is_missing(b["printed_mean"])):
        row["printed_percent"] = 100 * (b["printed_mean"] / a["printed_mean"] - 1)
    return row


def _welch(a, b, confidence):
    """Return Welch's interval for the difference between the means of two cells, or a note that says why there is none."""
    fewest = min(a["n"], b["n"])
    if fewest > 1 and a["measurements"] == b["measurements"] == 1:
        return {"note": ONE_MEASUREMENT}
    if outliers := int(a["outliers"] + b["outliers"]):
        return {"note": kinds_words([True] * outliers + [False] * int(a["n"] + b["n"] - outliers))}
    if fewest < LEAST_RUNS:
        return {"note": f"{too_few_words(fewest)}, on each side"}
    variance, df = difference_variance([cell["sd"] ** 2 for cell in (a, b)], [cell["n"] for cell in (a, b)])
    difference = b["mean"] - a["mean"]
    half = math.sqrt(variance) * float(quantile((1 + confidence) / 2, df))
    return {"ci_low": difference - half, "ci_high": difference + half}
