"""Shares of two CCAs against each other in every scenario.

If the two orders of a mix are one condition, their runs are pooled.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from inference.mean_interval import repeats_one_measurement
from inference.multiple_tests import adjusted
from inference.paired_comparison import sentence
from inference.paired_contrasts import to_effect
from inference.paired_tests import LEAST_PAIRS, FlippedMean, StudentMean, mean_test
from inference.share_intervals import NOISE, BoundedEstimate, bounded_estimate, expit, logit
from topics.fairness.flow_shares import PLACE, matrix_cells
from topics.fairness.tables import SHARE_PAIRS

#: How the two orders of a mix are treated: pooled, or kept separate as named.
POOLED, ORDERED = "both", "as named"
_COLUMNS = ["balance", "jain_index", "row_mbps", "column_mbps", "step", "jain_step"]


def mixes_of(runs) -> dict[tuple[str, str], pd.DataFrame]:
    """Return, for `replication_balances`, a dict that maps the CCAs at a mix's two positions to the mix's runs.

    ``runs`` come from `two_sided_runs` and belong to one scenario and IP version. Each table is indexed by replication and has the
    columns balance, jain_index, row_mbps and column_mbps (the row's CCA is the one at the first position), step and jain_step.
    """
    names = {"first_mbps": "row_mbps", "second_mbps": "column_mbps"}
    table = runs.dropna(subset=["balance"]).rename(columns=names).set_index("replication").sort_index()
    return {pair: mix[_COLUMNS].astype(float) for pair, mix in table.groupby(["first_cca", "second_cca"], sort=False)}


def replication_balances(mixes, row, column, pooled) -> pd.DataFrame:
    """Return the balance (logit of the share) of the row's CCA in each replication.

    Runs of one scenario and replication share a seed, so flows start at the same times regardless of their CCAs. If ``a+b`` and
    ``b+a`` are one condition (`pooled`), a starts first in one of the two runs and second in the other. The mean of both runs is the
    replication's value; the replication is the unit of analysis.

    Returns a table indexed by replication with the columns of `mixes_of`, runs (the number of runs), and the balance in each order: forward
    (the row's CCA is at the first position) and backward (the column's CCA is).
    """
    nothing = pd.DataFrame(columns=_COLUMNS, dtype=float)
    forward = mixes.get((row, column), nothing)
    if not pooled or row == column:
        return forward.assign(forward=forward["balance"], backward=np.nan, runs=1)
    backward = mixes.get((column, row), nothing)
    backward = backward.assign(
        balance=-backward["balance"], row_mbps=backward["column_mbps"], column_mbps=backward["row_mbps"]
    )
    forward, backward = forward.align(backward, axis=0)
    # If the run of one order is missing, use only the other order.
    means = (forward.fillna(backward) + backward.fillna(forward)) / 2
    runs = forward["balance"].notna().astype(int) + backward["balance"].notna().astype(int)
    return means.assign(forward=forward["balance"], backward=backward["balance"], runs=runs)


def bounded_columns(name, estimate) -> dict:
    """Return an estimate and its interval as columns whose names begin with `name`."""
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def pair_row(values, flows, params) -> dict:
    """Return a pair's result: the columns ``replications`` to ``note`` of `SHARE_PAIRS`, without adjusted p-values.

    Parameters
    ----------
    values : pandas.DataFrame
        Result of `replication_balances`.
    flows : int
        Number of flows per run.
    """
    shares, step = expit(values["balance"]), coarsest_known(values["step"])
    share_step = coarsest_known(values["step"] * shares * (1 - shares))
    share, tested = tested_share(
        balance_mean(values["balance"], step),
        bounded_estimate(shares, params.confidence, resolution=share_step),
        params.confidence,
    )
    jain = bounded_estimate(
        values["jain_index"], params.confidence, 1 / flows, 1.0, coarsest_known(values["jain_step"])
    )
    differences = values["forward"] - values["backward"]
    differences = differences[np.isfinite(differences)].to_numpy()
    one_sided = int(values[["forward", "backward"]].isna().any(axis=1).sum()) if len(differences) else 0
    notes = [share.note, f"{one_sided} of {len(values)} replications have only one of the orders" if one_sided else ""]
    return {
        "replications": share.n, "runs": int(values["runs"].sum()), **bounded_columns("share", share),
        "share_mean": share.mean, "share_min": share.smallest, "share_max": share.largest,
        "row_mbps": values["row_mbps"].mean(), "column_mbps": values["column_mbps"].mean(),
        **bounded_columns("jain", jain), "jain_min": jain.smallest, **tested,
        **_order_columns(differences, 2 * step, params), "note": sentence(filter(None, notes)),
    }  # fmt: skip


def coarsest_known(steps) -> float:
    """Return the coarsest known resolution, or 0 if none is known."""
    known = np.asarray(steps, float)
    known = known[np.isfinite(known)]
    return float(known.max()) if len(known) else 0.0


def balance_mean(balances, step=0.0) -> FlippedMean | StudentMean | None:
    """Return the `mean_test` of balances against 0, which is the balance at the fair share.

    If the two sides are exchangeable, a balance and its negative are equally likely, whatever their distribution.
    The result is None if there are fewer than `LEAST_PAIRS` values or if all values repeat one measurement (with resolution `step`).
    """
    balances = np.asarray(balances, float)
    balances = balances[np.isfinite(balances)]
    if len(balances) < LEAST_PAIRS or repeats_one_measurement(balances, max(step, NOISE)):
        return None
    return mean_test(balances, step)


def tested_share(test, share, confidence, fair=0.5) -> tuple[BoundedEstimate, dict]:
    """Return a share, and the columns test and p.

    If both an interval for the share and a test are possible, the test's interval replaces the share's interval.

    ``test`` is the test of balances, which are logits of the share minus the logit of the ``fair`` share.
    """
    if test is None:
        return share, {}
    if share.low is not None:
        low, high = (float(expit(end + logit(fair))) for end in test.interval(confidence))
        share = replace(share, low=low, high=high)
    return share, {"test": f"{test.name}, log-ratios", "p": test.p()}


def _order_columns(differences, step, params):
    """Return the columns of the paired test between the two orders of a mix.

    ``step`` is the resolution of a difference.
    """
    if len(differences) < LEAST_PAIRS:
        return {"order_effect": to_effect(float(differences.mean()), "ratio")} if len(differences) else {}
    effect = {"order_effect": to_effect(float(differences.mean()), "ratio")}
    if repeats_one_measurement(differences, step):
        return effect
    test = mean_test(differences, step)
    low, high = (to_effect(end, "ratio") for end in test.interval(params.confidence))
    return effect | {"order_low": low, "order_high": high, "order_p": test.p()}


def compare_pairs(pairs, params) -> pd.DataFrame:
    """Compare every CCA with every other in each scenario and IP version.

    Returns `SHARE_PAIRS`, with one row for each cell of a scenario's matrix. p is adjusted over the pairs of a scenario and IP
    version (Holm, 1979), with each pair counted once. A CCA against itself on the same path isn't counted, because neither flow can win.
    """
    rows = []
    for (scenario, ip_version), of_place in pairs.runs.groupby(PLACE, sort=False):
        pooled, mixes, first = pairs.alike[scenario], mixes_of(of_place), of_place.iloc[0]
        cells = matrix_cells(mixes, pooled, pairs.ccas)
        known = {}
        for row, column in cells:
            if not pooled or (column, row) not in known:
                values = replication_balances(mixes, row, column, pooled)
                known[row, column] = pair_row(values, int(first["flows"]), params)
        contests = [(row, column) for row, column in known if not pooled or row != column]
        for name in ("p", "order_p"):
            p = pd.Series([known[pair].get(name) for pair in contests], dtype=float)
            for pair, holm in zip(contests, adjusted(p, "holm"), strict=True):
                known[pair][f"{name}_holm"] = holm
        for row, column in cells:
            head = {
                "scenario": scenario, "scenario_label": first["scenario_label"], "ip_version": ip_version,
                "row_cca": row, "column_cca": column, "orders": POOLED if pooled and row != column else ORDERED,
            }  # fmt: skip
            rows.append(head | (known.get((row, column)) or _mirrored(known[column, row])))
    return pd.DataFrame(rows).reindex(columns=SHARE_PAIRS.names)


def once(pairs) -> pd.DataFrame:
    """Return the rows of `SHARE_PAIRS` without mirrored rows: if the two orders are one condition, each pair is listed once."""
    named = zip(*(pairs[name] for name in ("scenario", "ip_version", "row_cca", "column_cca", "orders")), strict=True)
    keys = [(*of, *(sorted((a, b)) if orders == POOLED else (a, b))) for *of, a, b, orders in named]
    return pairs[~pd.Series(keys, index=pairs.index, dtype=object).duplicated()]


def _mirrored(row):
    """Return a pair's row from the other CCA's point of view."""
    # In b+a the other CCA uses the first pair of hosts, so the difference between the orders is the same for both CCAs.
    result = row | {"row_mbps": row["column_mbps"], "column_mbps": row["row_mbps"]}
    for name, other in (("share", "share"), ("share_low", "share_high"), ("share_high", "share_low"),
                        ("share_mean", "share_mean"), ("share_min", "share_max"), ("share_max", "share_min")):  # fmt: skip
        result[name] = None if row[other] is None else 1 - row[other]
    return result
