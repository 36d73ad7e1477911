"""The tables of the section on fairness: sorted and filtered in the page."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, p_cell, round_trip, signed
from topics.fairness.pair_shares import POOLED
from topics.fairness.scenario_factors import FACTORS
from wording.number_format import NONE, is_missing, plain
from wording.scenario_words import ip_words

SCENARIO = Column("Scenario", "short", filtered=True)


def share_cells(row, name="share", decimals=3) -> tuple[Cell, Cell]:
    """Return two cells: a value between 0 and 1, and its interval."""
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if is_missing(value):
        return Cell(NONE), Cell(NONE)
    shown = Cell(f"{value:.{decimals}f}", round_trip(value))
    if is_missing(low):
        return shown, Cell(NONE)
    return shown, Cell(f"{low:.{decimals}f} to {high:.{decimals}f}", round_trip(low))


def with_ip_version(table) -> bool:
    """Return whether a table has several IP versions, so that rows must name theirs."""
    return table["ip_version"].nunique() > 1


def place(row, both) -> list[str]:
    """Return the cells of a row's scenario, and IP version if there are both."""
    return [row["scenario_label"], *([ip_words(row["ip_version"])] if both else [])]


def place_columns(both) -> list[Column]:
    """Return the columns for `place`."""
    return [SCENARIO, *([Column("IP version", "short", filtered=True)] if both else [])]


def pair_table(pairs) -> dict:
    """Return the table of CCA against CCA: each pair once where both orders are one condition."""
    both, rows, seen = with_ip_version(pairs), [], set()
    for row in pairs.to_dict("records"):
        pair = frozenset((row["row_cca"], row["column_cca"]))
        key = (row["scenario"], row["ip_version"], pair, row["orders"] == POOLED or row["row_cca"])
        if key in seen:
            continue
        seen.add(key)
        swapped = effect_cells({**row, "effect_unit": "%"}, "order_effect", "order_low", "order_high")
        rows.append(
            [*place(row, both), row["row_cca"], row["column_cca"], number_cell(row["replications"], 0), *share_cells(row),
             p_cell(row["p_holm"]), *share_cells(row, "jain"), number_cell(row["row_mbps"]), number_cell(row["column_mbps"]),
             *swapped, p_cell(row["order_p_holm"]), row["note"]]
        )  # fmt: skip
    columns = [
        *place_columns(both), Column("CCA", filtered=True, header=True), Column("against", filtered=True), Column("n", "number"),
        Column("Share", "number"), Column("Interval", "number"), Column("p (Holm)", "number"), Column("Jain", "number"),
        Column("Its interval", "number"), Column("Mbit/s", "number"), Column("Other's", "number"), Column("Orders differ", "number"),
        Column("By", "number"), Column("p (Holm), orders", "number"), Column("Note", "note"),
    ]  # fmt: skip
    return data_table("fairness-pairs", "CCA against CCA in each scenario", columns, rows)


def factor_table(factors) -> dict:
    """Return the table of each factor's levels against the base."""
    factor_of, both, rows = {factor.name: factor for factor in FACTORS}, with_ip_version(factors), []
    for row in factors[factors["effect"].notna()].to_dict("records"):
        factor = factor_of[row["factor"]]
        rows.append(
            [factor.title, *([ip_words(row["ip_version"])] if both else []), Cell(factor.words(row["level"]), row["level"]),
             row["row_cca"], row["column_cca"], number_cell(row["replications"], 0), *share_cells(row),
             number_cell(row["base_share"], 3), *effect_cells({**row, "effect_unit": "%"}, "effect", "effect_low", "effect_high"),
             p_cell(row["p"]), p_cell(row["p_holm"])]
        )  # fmt: skip
    columns = [
        Column("Factor", "words", filtered=True), *([Column("IP version", "short", filtered=True)] if both else []),
        Column("Level", "number"), Column("CCA", filtered=True, header=True), Column("against", filtered=True), Column("n", "number"),
        Column("Share", "number"), Column("Interval", "number"), Column("In the base", "number"),
        Column("Goodputs' ratio", "number"), Column("Its interval", "number"), Column("p", "number"), Column("p (Holm)", "number"),
    ]  # fmt: skip
    return data_table("fairness-factors-table", "Each level of each factor against the base scenario", columns, rows)


def order_table(orders) -> dict:
    """Return the table of what starting first and the pair of hosts are worth."""
    both, rows = with_ip_version(orders), []
    for row in orders.to_dict("records"):
        pair = f"{row['cca_a']} and {row['cca_b']}" if row["cca_a"] else "all, their mean"
        rows.append(
            [row["effect"], *([ip_words(row["ip_version"])] if both else []), pair, number_cell(row["units"], 0), *share_cells(row),
             *effect_cells({**row, "effect_unit": "%"}, "ratio_percent", "ratio_low", "ratio_high"),
             number_cell(row["smallest_margin"], 1, " %"), row["test"] or NONE, p_cell(row["p"]), p_cell(row["p_holm"]), row["note"]]
        )  # fmt: skip
    columns = [
        Column("Advantage of", "words", filtered=True), *([Column("IP version", "short", filtered=True)] if both else []),
        Column("Pair", header=True), Column("Draws", "number"), Column("Share", "number"), Column("Interval", "number"),
        Column("Goodputs' ratio", "number"), Column("Its interval", "number"), Column("Equal within", "number"), Column("Test"),
        Column("p", "number"), Column("p (Holm)", "number"), Column("Note", "note"),
    ]  # fmt: skip
    return data_table("fairness-orders", "What starting first, and the pair of hosts, are worth", columns, rows)


def theory_table(theory) -> dict:
    """Return the table of shares beside theory."""
    both, rows = with_ip_version(theory), []
    for row in theory.to_dict("records"):
        back = f"{row['reno_s']:.1f} s, {row['cubic_s']:.1f} s" if not is_missing(row["reno_s"]) else NONE
        rows.append(
            [row["model"], *place(row, both), row["row_cca"], row["column_cca"], number_cell(row["buffer_bdp"]), back,
             row["expected"], number_cell(row["replications"], 0), *share_cells(row),
             Cell(NONE) if is_missing(row["off"]) else Cell(signed(row["off"], 3), row["off"]), row["agrees"] or NONE]
        )  # fmt: skip
    columns = [
        Column("Model", "words", filtered=True), *place_columns(both), Column("CCA", header=True), Column("against"),
        Column("Buffer, BDP", "number"), Column("As Reno, as CUBIC", "short"), Column("Expected", "number"), Column("n", "number"),
        Column("Share", "number"), Column("Interval", "number"), Column("Off by", "number"),
        Column("Agrees", "short", filtered=True),
    ]  # fmt: skip
    return data_table("fairness-theory", "Measured shares beside theory", columns, rows)


def mix_table(shares) -> dict:
    """Return the table of every flow of every mix."""
    both, rows = with_ip_version(shares), []
    for row in shares.to_dict("records"):
        rows.append(
            [*place(row, both), Cell(row["cca"]), row["flow_cca"], number_cell(row["position"] + 1, 0),
             Cell(plain(float(f"{row['rtt_path_ms']:.6g}")), row["rtt_path_ms"]), number_cell(row["n"], 0),
             number_cell(row["goodput_mbps"]), *share_cells(row), number_cell(row["fair_ratio"], 2), p_cell(row["p_holm"]),
             number_cell(row["jain"], 3), number_cell(row["rtt_mean_ms"]), number_cell(row["retransmits"]), row["note"]]
        )  # fmt: skip
    columns = [
        *place_columns(both), Column("Mix", filtered=True, header=True), Column("CCA", filtered=True), Column("Place", "number"),
        Column("Empty path, ms", "number"), Column("n", "number"), Column("Mbit/s", "number"), Column("Share", "number"),
        Column("Interval", "number"), Column("Over fair", "number"), Column("p (Holm)", "number"), Column("Jain", "number"),
        Column("RTT, ms", "number"), Column("Retransmissions", "number"), Column("Note", "note"),
    ]  # fmt: skip
    return data_table("fairness-mixes-table", "Every flow of every mix", columns, rows)
