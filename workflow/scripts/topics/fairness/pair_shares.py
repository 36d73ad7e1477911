"""Who beats whom: CCA against CCA in each scenario, over both orders of the mix where they are one condition."""

import numpy as np
import pandas as pd

from inference.mean_interval import mean_interval
from inference.multiple_tests import adjusted_within
from inference.paired_comparison import sentence
from inference.paired_contrasts import to_effect
from inference.paired_tests import is_constant, t_test
from inference.share_intervals import NOISE, bounded_estimate, expit
from topics.fairness.flow_shares import PLACE, matrix_cells
from topics.fairness.tables import SHARE_PAIRS

#: Whether both orders of a mix are taken together.
POOLED, ORDERED = "both", "as named"


def mixes_of(runs) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the runs of each mix by the CCAs of its positions: what `replication_balances` looks them up in.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `two_sided_runs` gives, of one scenario and IP version.

    Returns
    -------
    dict of (str, str) to pandas.DataFrame
        By replication: balance, jain_index, row_mbps, column_mbps, of the first position's CCA.
    """
    names = {"first_mbps": "row_mbps", "second_mbps": "column_mbps"}
    table = runs.dropna(subset=["balance"]).rename(columns=names).set_index("replication").sort_index()
    columns = ["balance", "jain_index", "row_mbps", "column_mbps"]
    return {pair: mix[columns].astype(float) for pair, mix in table.groupby(["first_cca", "second_cca"], sort=False)}


def replication_balances(mixes, row, column, pooled) -> pd.DataFrame:
    """Return the row CCA's balance in each replication: the logit of its share.

    Runs of one scenario and replication share a seed, so that flows start at the same moments
    whatever their CCAs: where ``a+b`` and ``b+a`` are one condition, a starts first in one of
    them and second in the other. Their mean is one value a replication, which is the unit.

    Parameters
    ----------
    mixes : dict
        As `mixes_of` gives.
    row, column : str
    pooled : bool
        Whether both orders of the mix are one condition.

    Returns
    -------
    pandas.DataFrame
        By replication: balance, jain_index, row_mbps, column_mbps, runs, and of each order alone
        forward (the row CCA first) and backward (second).
    """
    nothing = pd.DataFrame(columns=["balance", "jain_index", "row_mbps", "column_mbps"], dtype=float)
    forward = mixes.get((row, column), nothing)
    if not pooled or row == column:
        return forward.assign(forward=forward["balance"], backward=np.nan, runs=1)
    backward = mixes.get((column, row), nothing)
    backward = backward.assign(
        balance=-backward["balance"], row_mbps=backward["column_mbps"], column_mbps=backward["row_mbps"]
    )
    replications = forward.index.union(backward.index)
    forward, backward = forward.reindex(replications), backward.reindex(replications)
    # In place of an order that is missing stands the other.
    means = (forward.fillna(backward) + backward.fillna(forward)) / 2
    runs = forward["balance"].notna().astype(int) + backward["balance"].notna().astype(int)
    return means.assign(forward=forward["balance"], backward=backward["balance"], runs=runs)


def pair_row(values, flows, params) -> dict:
    """Return what the replications say of one pair.

    Parameters
    ----------
    values : pandas.DataFrame
        As `replication_balances` gives.
    flows : int
        Of a run.
    params : object
        With confidence.

    Returns
    -------
    dict
        The columns of `SHARE_PAIRS` from ``replications`` to ``note``, but for the adjusted p.
    """
    share = bounded_estimate(expit(values["balance"]), params.confidence)
    jain = bounded_estimate(values["jain_index"], params.confidence, 1 / flows, 1.0)
    row = {
        "replications": share.n, "runs": int(values["runs"].sum()), "share": share.value, "share_low": share.low,
        "share_high": share.high, "share_mean": share.mean, "share_min": share.smallest, "share_max": share.largest,
        "row_mbps": values["row_mbps"].mean(), "column_mbps": values["column_mbps"].mean(), "jain": jain.value,
        "jain_low": jain.low, "jain_high": jain.high, "jain_min": jain.smallest,
    }  # fmt: skip
    notes = [share.note] if share.note else []
    row |= balance_test(values["balance"])
    return row | order_columns(values, params, notes) | {"note": sentence(notes)}


def balance_test(balances) -> dict:
    """Test balances against 0, which is a fair share: Student's t, as the interval is.

    Whether five values are normal can't be seen in them, so no other test is chosen by what they
    look like; and a signed-rank test of five can't go below p = 0.06.

    Returns
    -------
    dict
        test, p; neither if there are fewer than two values, or all are equal.
    """
    balances = np.asarray(balances, float)
    balances = balances[np.isfinite(balances)]
    if len(balances) < 2 or np.ptp(balances) <= NOISE:
        return {}
    return {"test": "t of log-ratios", "p": t_test(balances)[1]}


def order_columns(values, params, notes) -> dict:
    """Compare the two orders of a mix within replications; append to `notes` what is missing."""
    differences = (values["forward"] - values["backward"]).dropna().to_numpy()
    differences = differences[np.isfinite(differences)]
    one_sided = int(values[["forward", "backward"]].isna().any(axis=1).sum()) if len(differences) else 0
    if one_sided:
        notes.append(f"{one_sided} of {len(values)} replications have one order only")
    if len(differences) < 2 or is_constant(differences):
        return {}
    _, low, high = mean_interval(differences, params.confidence)
    return {
        "order_effect": to_effect(differences.mean(), "ratio"), "order_low": to_effect(low, "ratio"),
        "order_high": to_effect(high, "ratio"), "order_p": t_test(differences)[1],
    }  # fmt: skip


def compare_pairs(runs, alike, ccas, params) -> pd.DataFrame:
    """Compare every CCA with every other in each scenario and IP version.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `two_sided_runs` gives.
    alike : dict of str to bool
        As `paths_alike` gives.
    ccas : list of str
        In the order of rows and columns.
    params : object
        With confidence.

    Returns
    -------
    pandas.DataFrame
        `SHARE_PAIRS`, a row for each row and column of a scenario's matrix. p is adjusted over
        the pairs of a scenario and IP version (Holm, 1979), each counted once.
    """
    rows = []
    for (scenario, ip_version), of_place in runs.groupby(PLACE, sort=False):
        pooled, done, mixes = alike[scenario], {}, mixes_of(of_place)
        for row, column in matrix_cells(mixes, pooled, ccas):
            head = {
                "scenario": scenario, "scenario_label": of_place["scenario_label"].iloc[0], "ip_version": ip_version,
                "row_cca": row, "column_cca": column, "orders": POOLED if pooled and row != column else ORDERED,
            }  # fmt: skip
            if (column, row) in done and pooled and row != column:
                rows.append(head | mirrored(done[column, row]))
                continue
            done[row, column] = pair_row(
                replication_balances(mixes, row, column, pooled), int(of_place["flows"].iloc[0]), params
            )
            rows.append(head | done[row, column])
    table = pd.DataFrame(rows).reindex(columns=SHARE_PAIRS.names)
    if table.empty:
        return table
    for name in ("p", "order_p"):
        table[f"{name}_holm"] = adjusted_once(table, name, alike)
    return table


def adjusted_once(table, name, alike) -> pd.Series:
    """Return p adjusted within scenarios and IP versions, mirrored cells counted once and given the same.

    Two flows of one CCA on the same path are no contest: their tests are not counted at all.
    """
    own = (table["row_cca"] == table["column_cca"]) & table["scenario"].map(alike).astype(bool)
    repeated = table["orders"].eq(POOLED) & pd.Series(
        [frozenset(pair) for pair in zip(table["row_cca"], table["column_cca"], strict=True)],
        index=table.index,
        dtype=object,
    ).groupby([table["scenario"], table["ip_version"]]).transform(lambda pairs: pairs.duplicated())
    adjusted = adjusted_within(table.assign(p=table[name].mask(repeated | own)), PLACE, "p", "holm")
    keys = [*PLACE, "row_cca", "column_cca"]
    other = table[keys].assign(adjusted=adjusted).rename(columns={"row_cca": "column_cca", "column_cca": "row_cca"})
    from_other = table[keys].merge(other, on=keys, how="left")["adjusted"].set_axis(table.index)
    return adjusted.where(~repeated, from_other)


def mirrored(row) -> dict:
    """Return a pair's row as the other CCA sees it."""
    result = dict(row)
    for name, other in (("share", "share"), ("share_low", "share_high"), ("share_high", "share_low"),
                        ("share_mean", "share_mean"), ("share_min", "share_max"), ("share_max", "share_min")):  # fmt: skip
        result[name] = None if row[other] is None else 1 - row[other]
    result["row_mbps"], result["column_mbps"] = row["column_mbps"], row["row_mbps"]
    # In b+a the other is on the first pair of hosts: the difference of the orders is the same for both.
    return result
