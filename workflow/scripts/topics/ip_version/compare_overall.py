"""Compare IPv6 with IPv4 over the whole study: pooled as published, and by cells.

Pooling takes runs of all scenarios and CCAs for one sample, so that the spread between scenarios
drowns any difference between IP versions. By cells each scenario and CCA counts one value, the mean difference of its pairs:
what is asked is whether the IP versions differ over such cells, and runs of a cell that repeat each other
can't make a few cells look like many.
"""

import math

import pandas as pd

from inference.equivalence import bounds, place, tost, tost_interval
from inference.paired_contrasts import contrasts, from_effect, to_effect, usable_scale
from inference.paired_tests import mean_test
from inference.pooled_tests import mann_whitney
from run_tables.exclusions import runs_with_exclusions, with_kept
from run_tables.metrics import METRICS
from topics.ip_version.run_pairs import IPV4, IPV6, pairs_of
from topics.ip_version.tables import BY_CELL, EQUAL, IP_OVERALL, MSS_RATIO, POOLED
from wording.number_format import count

# The metric whose expected ratio is that of the segment sizes.
MSS_METRIC = "goodput_mbps"


def _direction(higher):
    if not higher:
        return ""
    return "IPv6 higher" if higher > 0 else "IPv4 higher"


def _compare_metric(runs: pd.DataFrame, metric, params) -> list[dict]:
    """Return a metric's rows of `IP_OVERALL`, of valid runs."""
    values = runs.rename(columns={metric.column: "value"})
    values = values[values["value"].notna() & values["ip_version"].isin([IPV4, IPV6])]
    cells, notes = _cells(runs, metric)
    rows = [
        _pooled(values, params.significance),
        _by_cell(cells, EQUAL, metric, params.margins[metric.column], params, notes),
    ]
    if metric.column == MSS_METRIC:
        known = cells.dropna(subset="expected")
        left = len(cells) - len(known)
        if left:
            notes = [*notes, f"{count(left, 'cell')} left out: the segment size is unknown or not the same in all runs"]
        rows.append(_by_cell(known, MSS_RATIO, metric, params.header_margin, params, notes))
    return [{"metric": metric.column, "effect_unit": metric.effect_unit, **row} for row in rows]


def _cells(runs, metric):
    """Return a row for each cell with pairs, and what was left out.

    contrast is the mean contrast of its pairs, expected that of the segment sizes (nan if they aren't known), pairs their number.
    """
    pairs = pairs_of(runs, metric.column)
    complete = pairs[pairs[[IPV4, IPV6]].notna().all(axis=1)]
    alone = int(pairs[[IPV4, IPV6]].notna().any(axis=1).sum()) - len(complete)
    notes = [f"{count(alone, 'run')} without a partner"] if alone else []
    rows, zeros = [], 0
    for _, cell in complete.groupby(["scenario", "cca"], sort=False):
        ipv4, ipv6 = cell[IPV4].to_numpy(), cell[IPV6].to_numpy()
        if metric.scale == "ratio" and usable_scale(ipv6, ipv4, "ratio") != "ratio":
            zeros += 1
            continue
        sizes = cell[["mss_ipv4", "mss_ipv6"]].drop_duplicates()
        known = len(sizes) == 1 and (sizes > 0).all(axis=None)
        expected = math.log(sizes["mss_ipv6"].iloc[0] / sizes["mss_ipv4"].iloc[0]) if known else math.nan
        rows.append(
            {"contrast": float(contrasts(ipv6, ipv4, metric.scale).mean()), "expected": expected, "pairs": len(cell)}
        )
    if zeros:
        notes.append(f"{count(zeros, 'cell')} left out: no ratio with a value of 0")
    return pd.DataFrame(rows, columns=["contrast", "expected", "pairs"]), notes


def _by_cell(cells, null, metric, margin, params, notes) -> dict:
    """Return the row of the mean over cells: its test, its interval, and how that lies to the margin."""
    values = cells["contrast"].to_numpy(float)
    row = {"method": BY_CELL, "null": null, "cells": len(values), "n_ipv4": int(cells["pairs"].sum()), "margin": margin}
    row |= {"n_ipv6": row["n_ipv4"], "direction": "", "within": ""}
    if len(values) == 0:
        return row | {"note": "; ".join(["no test: no cell has a value of both IP versions", *notes])}
    # Cells that differ by rounding only are equal.
    values = contrasts(values, cells["expected"].to_numpy() if null == MSS_RATIO else 0 * values, "points")
    effect = float(values.mean())
    row |= {"effect": to_effect(effect, metric.scale), "direction": _direction(effect)}
    test = mean_test(values, 1, params.significance)
    if test is None:
        reason = "one cell" if len(values) == 1 else "all cells show the same"
        return row | {"note": "; ".join([f"no test: {reason}", *notes])}
    row["ci_low"], row["ci_high"] = (to_effect(end, metric.scale) for end in test.interval(params.confidence))
    if null == EQUAL:
        low, high = bounds(margin, metric.scale)
    else:  # the margin is one of goodput, and the null isn't where goodputs are equal
        ratio = 100 * math.expm1(float(cells["expected"].mean()))
        low, high = (
            from_effect(ratio + side * margin, metric.scale) - from_effect(ratio, metric.scale) for side in (-1, 1)
        )
    return row | {
        "statistic": test.statistic, "p": test.p(), "p_tost": tost(test, low, high),
        "within": place(tost_interval(test, params.significance), low, high), "note": "; ".join(notes),
    }  # fmt: skip


def _pooled(values, significance):
    first, second = (values.loc[values["ip_version"] == ip, "value"] for ip in ("ipv4", "ipv6"))
    u, p, note = mann_whitney(first, second, significance)
    return {
        "method": POOLED, "null": EQUAL, "cells": 1, "n_ipv4": len(first), "n_ipv6": len(second),
        "statistic": u, "p": p, "note": note, "within": "",
        "direction": "" if u is None else _direction(len(first) * len(second) / 2 - u),
    }  # fmt: skip


def compare_valid(runs, params) -> pd.DataFrame:
    """Compare the IP versions in every metric over all cells; return `IP_OVERALL`.

    ``params``: confidence, significance, margins (by metric) and header_margin, in percent.
    """
    valid = runs[runs["valid"]]
    rows = [row for metric in METRICS for row in _compare_metric(valid, metric, params)]
    return pd.DataFrame(rows, columns=IP_OVERALL.names)


def compare_overall(runs, params) -> pd.DataFrame:
    """Return `IP_OVERALL`."""
    table, kept = compare_valid(runs, params), runs_with_exclusions(runs)
    if kept is not None:
        table = with_kept(table, compare_valid(kept, params), ["metric", "method", "null"], ["within", "p"])
    return table
