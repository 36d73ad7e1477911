"""Compare the shares of flows that compete on a link: by mix, by pair of CCAs, and by starting order."""

import pandas as pd

from inference.cell_estimates import cell_estimate, estimate_columns
from inference.multiple_tests import adjusted_within
from inference.share_intervals import bounded_estimate, logit
from run_tables.resolution import RTT_RESOLUTION_MS, jain_resolution
from run_tables.run_keys import CELL
from topics.fairness.flow_shares import PLACE, numbered, pairs_of
from topics.fairness.pair_shares import balance_mean, bounded_columns, coarsest_known, compare_pairs, tested_share
from topics.fairness.start_order import compare_start_order
from topics.fairness.tables import SHARES

# Column of the flow table -> prefix of the columns that contain this column's mean.
MEANS = {"goodput_mbps": "goodput", "rtt_mean_ms": "rtt", "retransmits": "retransmits"}


def _sides_of_runs(shares):
    """Return totals over the flows at each position in each valid run, by `CELL`, position and replication.

    Columns include share (sum over the flows), first (whether one of the flows was scheduled to start first) and `MEANS` (means per flow).
    """
    sides = shares[shares["valid"]].groupby([*CELL, "position", "replication"], sort=False)
    table = sides.agg(
        share=("share", "sum"), known=("share", "count"), size=("share", "size"), first=("first", "any"),
        **{name: (name, "mean") for name in MEANS}, jain_index=("jain_index", "first"), finely=("resolution_mbps", "first"),
    )  # fmt: skip
    whole = shares.groupby([*CELL, "replication"])["goodput_mbps"].sum().rename("whole")
    return table.assign(share=table["share"].where(table["known"] == table["size"])).join(whole)


def _describe_position(flows, sides, total, params):
    """Return the columns of `SHARES` from ``position`` on (except p_holm) for the flows at one position of a mix.

    `flows` are the position's flows in all replications, and `total` is the number of all flows in a run. `sides` contains one row per
    replication, which is the unit of analysis.
    """
    flow, flows_of_run = flows.iloc[0], int((flows["replication"] == flows["replication"].iloc[0]).sum())
    fair, part = flows_of_run / total, sides["finely"] / sides["whole"].where(sides["whole"] > 0)
    # If each of k goodputs is off by r, the share s of m flows is off by (m (1 - s) + (k - m) s) r divided by the total.
    step = part * (flows_of_run * (1 - sides["share"]) + (total - flows_of_run) * sides["share"])
    share, tested = bounded_estimate(sides["share"], params.confidence, resolution=coarsest_known(step)), {}
    if fair < 1:
        logit_step = coarsest_known(step / (sides["share"] * (1 - sides["share"])).where(lambda spread: spread > 0))
        test = balance_mean(logit(sides["share"].dropna()) - logit(fair), logit_step)
        share, tested = tested_share(test, share, params.confidence, fair)
    jain_step = coarsest_known(jain_resolution(sides["jain_index"], total * part))
    jain = bounded_estimate(sides["jain_index"], params.confidence, 1 / total, 1.0, jain_step)
    row = {
        "position": flow["position"], "flow_cca": flow["flow_cca"], "flows": flows_of_run,
        "pair": " ".join(f"{pair:g}" for pair in flows["pair"].unique()), "rtt_path_ms": flows["rtt_path_ms"].mean(),
        "n": share.n, **bounded_columns("share", share), **bounded_columns("jain", jain),
        "started_first": int(sides["first"].sum()), **tested, "note": share.note,
    }  # fmt: skip
    for name in ("", "_low", "_high"):
        value = row[f"share{name}"]
        row[f"fair_ratio{name}"] = None if value is None else value / fair
    for column, name in MEANS.items():
        finely = {"goodput_mbps": coarsest_known(sides["finely"]), "rtt_mean_ms": RTT_RESOLUTION_MS}.get(column, 0.0)
        bounds = SHARES[column].least, SHARES[column].most
        mean = cell_estimate(sides[column].astype(float), params.confidence, *bounds, finely)
        row |= estimate_columns(mean, column, name)
    return row


def describe_shares(shares, params) -> pd.DataFrame:
    """Describe every position of every mix in each scenario and IP version.

    Returns `SHARES`, given `FLOW_SHARES`. The p-value of the test against the fair share is adjusted over the tests of a scenario and
    IP version (Holm, 1979). The two sides of a pair are one test: only the first side is counted, and the second side is given the same
    p-value.
    """
    rows, sides = [], _sides_of_runs(shares)
    by_position, nothing = dict(iter(sides.groupby(level=[*CELL, "position"], sort=False))), sides[:0]
    totals = shares.groupby(CELL)["flow"].nunique()
    for (*cell, position), flows in shares.groupby([*CELL, "position"], sort=False):
        head = dict(zip(CELL, cell, strict=True)) | {"scenario_label": flows["scenario_label"].iloc[0]}
        of_flows = by_position.get((*cell, position), nothing)
        rows.append(head | _describe_position(flows, of_flows, int(totals[tuple(cell)]), params))
    table = pd.DataFrame(rows).reindex(columns=SHARES.names)
    second = (table["position"] == 1) & (table.groupby(CELL)["position"].transform("size") == 2)
    holm = adjusted_within(table.assign(p=table["p"].mask(second)), PLACE, "p", "holm")
    return table.assign(p_holm=holm.where(~second, holm.shift()))


def compare_shares(flow_shares, params) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return `SHARES`, `SHARE_PAIRS` and `START_ORDER`."""
    shares = numbered(flow_shares)
    pairs = pairs_of(shares)
    return describe_shares(shares, params), compare_pairs(pairs, params), compare_start_order(pairs, params)
