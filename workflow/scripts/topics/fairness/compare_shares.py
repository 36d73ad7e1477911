"""Compare the shares of flows that meet on a link: by mix, CCA against CCA, and by the order of starting."""

import pandas as pd

from inference.mean_interval import mean_interval
from inference.multiple_tests import adjusted
from inference.share_intervals import bounded_estimate, logit
from rule_script import run_rule
from run_tables.tidy_tables import CELL
from topics.fairness.flow_shares import PLACE, ccas_in_order, ccas_of, paths_alike, read_flow_shares, two_sided_runs
from topics.fairness.pair_shares import balance_test, compare_pairs
from topics.fairness.start_order import compare_start_order
from topics.fairness.tables import SHARES

# Of each flow, with the start of its columns' names.
MEANS = {"goodput_mbps": "goodput", "rtt_mean_ms": "rtt", "retransmits": "retransmits"}


def sides_of_runs(shares) -> pd.DataFrame:
    """Return what the flows of each position got together in each valid run.

    Parameters
    ----------
    shares : pandas.DataFrame
        `FLOW_SHARES`.

    Returns
    -------
    pandas.DataFrame
        By `CELL`, position and replication: share and fair (sums), size (flows), first (whether one
        of them was to start first), goodput_mbps, rtt_mean_ms and retransmits (means of a flow), jain_index.
    """
    sides = shares[shares["valid"]].groupby([*CELL, "position", "replication"], sort=False)
    table = sides.agg(
        share=("share", "sum"), known=("share", "count"), fair=("fair_share", "sum"), size=("share", "size"),
        first=("first", "any"), goodput_mbps=("goodput_mbps", "mean"), rtt_mean_ms=("rtt_mean_ms", "mean"),
        retransmits=("retransmits", "mean"), jain_index=("jain_index", "first"), source=("source", "first"),
    )  # fmt: skip
    return table.assign(share=table["share"].where(table["known"] == table["size"]))


def describe_position(flows, sides, total, params) -> dict:
    """Describe what the flows of one position of a mix got.

    Parameters
    ----------
    flows : pandas.DataFrame
        Their rows of `FLOW_SHARES`, of all replications.
    sides : pandas.DataFrame
        Their rows of `sides_of_runs`: the replication is the unit.
    total : int
        Flows of a run.
    params : object
        With confidence and significance.

    Returns
    -------
    dict
        `SHARES` from ``position`` on, but for p_holm.
    """
    share = bounded_estimate(sides["share"], params.confidence)
    jain = bounded_estimate(sides["jain_index"], params.confidence, 1 / total, 1.0)
    flow, flows_of_run = flows.iloc[0], int((flows["replication"] == flows["replication"].iloc[0]).sum())
    fair = flows_of_run / total
    row = {
        "position": flow["position"], "flow_cca": flow["flow_cca"], "flows": flows_of_run,
        "pair": " ".join(f"{pair:g}" for pair in flows["pair"].unique()), "rtt_path_ms": flows["rtt_path_ms"].mean(),
        "n": share.n, "share": share.value, "share_low": share.low, "share_high": share.high,
        "jain": jain.value, "jain_low": jain.low, "jain_high": jain.high, "started_first": int(sides["first"].sum()),
        "source": "; ".join(sides["source"].unique()), "note": share.note,
    }  # fmt: skip
    for name in ("", "_low", "_high"):
        value = row[f"share{name}"]
        row[f"fair_ratio{name}"] = None if value is None else value / fair
    for column, name in MEANS.items():
        values = sides[column].dropna().to_numpy(float)
        row[column] = values.mean() if len(values) else None
        if len(values) > 1:
            row[f"{name}_low"], row[f"{name}_high"] = mean_interval(values, params.confidence)[1:]
    if fair < 1:
        row |= balance_test(logit(sides["share"].dropna()) - logit(fair))
    return row


def describe_shares(shares, params) -> pd.DataFrame:
    """Describe every position of every mix in each scenario and IP version.

    Parameters
    ----------
    shares : pandas.DataFrame
        `FLOW_SHARES`.
    params : object
        As `main`'s.

    Returns
    -------
    pandas.DataFrame
        `SHARES`. p, of a share against the fair one, is adjusted over the tests of a
        scenario and IP version (Holm, 1979); of the two sides of a pair, which are one test, the
        first counts and the second has the same.
    """
    rows, sides = [], sides_of_runs(shares)
    by_position, nothing = dict(iter(sides.groupby(level=[*CELL, "position"], sort=False))), sides[:0]
    totals = shares.groupby(CELL)["flow"].nunique()
    for (*cell, position), flows in shares.groupby([*CELL, "position"], sort=False):
        head = dict(zip(CELL, cell, strict=True)) | {"scenario_label": flows["scenario_label"].iloc[0]}
        of_flows = by_position.get((*cell, position), nothing)
        rows.append(head | describe_position(flows, of_flows, int(totals[tuple(cell)]), params))
    table = pd.DataFrame(rows).reindex(columns=SHARES.names)
    second = (table["position"] == 1) & (table.groupby(CELL)["position"].transform("size") == 2)
    for _, family in table[~second].groupby(PLACE, sort=False):
        table.loc[family.index, "p_holm"] = adjusted(family["p"], "holm")
    table.loc[second, "p_holm"] = table["p_holm"].shift()[second]
    return table


def main(inputs, outputs, params) -> None:
    """Read the flows' shares, write the comparisons."""
    shares = read_flow_shares(inputs.flow_shares)
    pairs = shares[shares["cca"].map(lambda mix: len(ccas_of(mix)) == 2)]
    runs, alike, ccas = two_sided_runs(pairs), paths_alike(pairs), ccas_in_order(pairs)
    tables = {
        outputs.shares: describe_shares(shares, params),
        outputs.share_pairs: compare_pairs(runs, alike, ccas, params),
        outputs.start_order: compare_start_order(runs, alike, ccas, params),
    }
    for path, table in tables.items():
        table.to_csv(path, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
