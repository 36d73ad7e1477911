"""The tables of the section on fairness: sorted and filtered in the page."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, p_cell, round_trip, signed
from topics.fairness.pair_shares import once
from topics.fairness.scenario_factors import FACTORS
from wording.number_format import NONE, is_missing, plain
from wording.scenario_words import ip_words

IP_VERSION = Column("IP version", "short", filtered=True)
PLACE = [Column("Scenario", "short", filtered=True), IP_VERSION]
CCAS = [Column("CCA", filtered=True, header=True), Column("against", filtered=True)]
NOTE = Column("Note", "note")


def _numbers(*headings):
    return [Column(heading, "number") for heading in headings]


def _table(name, caption, table, columns, cells):
    """Return a table of the page, with what `cells` gives of a row; a lone IP version has no column."""
    rows = [cells(row) for row in table.to_dict("records")]
    shown = [place for place, column in enumerate(columns) if column != IP_VERSION or table["ip_version"].nunique() > 1]
    return data_table(
        name, caption, [columns[place] for place in shown], [[row[place] for place in shown] for row in rows]
    )


def _place(row):
    return [row["scenario_label"], ip_words(row["ip_version"])]


def _share_cells(row, name="share"):
    """Return two cells: a value between 0 and 1, and its interval."""
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if is_missing(value):
        return Cell(NONE), Cell(NONE)
    ends = Cell(NONE) if is_missing(low) else Cell(f"{low:.3f} to {high:.3f}", round_trip(low))
    return Cell(f"{value:.3f}", round_trip(value)), ends


def _percent_cells(row, *names):
    return effect_cells({**row, "effect_unit": "%"}, *names)


def pair_table(pairs) -> dict:
    """Return the table of CCA against CCA: each pair once where both orders are one condition."""
    columns = [
        *PLACE, *CCAS, *_numbers("n", "Share", "Interval", "p (Holm)", "Jain", "Its interval", "Mbit/s", "Other's"),
        *_numbers("Orders differ", "By", "p (Holm), orders"), NOTE,
    ]  # fmt: skip
    return _table("fairness-pairs", "CCA against CCA in each scenario", once(pairs), columns, lambda row: [
        *_place(row), row["row_cca"], row["column_cca"], number_cell(row["replications"], 0), *_share_cells(row),
        p_cell(row["p_holm"]), *_share_cells(row, "jain"), number_cell(row["row_mbps"]), number_cell(row["column_mbps"]),
        *_percent_cells(row, "order_effect", "order_low", "order_high"), p_cell(row["order_p_holm"]), row["note"],
    ])  # fmt: skip


def factor_table(factors) -> dict:
    """Return the table of each factor's levels against the base."""
    factor_of, compared = {factor.name: factor for factor in FACTORS}, factors[factors["effect"].notna()]
    columns = [
        Column("Factor", "words", filtered=True), IP_VERSION, *_numbers("Level"), *CCAS,
        *_numbers("n", "Share", "Interval", "In the base", "Goodputs' ratio", "Its interval", "p", "p (Holm)"),
    ]  # fmt: skip
    return _table("fairness-factors-table", "Each level of each factor against the base scenario", compared, columns, lambda row: [
        factor_of[row["factor"]].title, ip_words(row["ip_version"]),
        Cell(factor_of[row["factor"]].words(row["level"]), row["level"]), row["row_cca"], row["column_cca"],
        number_cell(row["replications"], 0), *_share_cells(row), number_cell(row["base_share"], 3),
        *_percent_cells(row, "effect", "effect_low", "effect_high"), p_cell(row["p"]), p_cell(row["p_holm"]),
    ])  # fmt: skip


def order_table(orders) -> dict:
    """Return the table of what starting first and the pair of hosts are worth."""
    columns = [
        Column("Advantage of", "words", filtered=True), IP_VERSION, Column("Pair", header=True),
        *_numbers("Draws", "Share", "Interval", "Goodputs' ratio", "Its interval", "Equal within"), Column("Test"),
        *_numbers("p", "p (Holm)"), NOTE,
    ]  # fmt: skip
    return _table("fairness-orders", "What starting first, and the pair of hosts, are worth", orders, columns, lambda row: [
        row["effect"], ip_words(row["ip_version"]),
        f"{row['cca_a']} and {row['cca_b']}" if row["cca_a"] else "all, their mean",
        number_cell(row["units"], 0), *_share_cells(row), *_percent_cells(row, "ratio_percent", "ratio_low", "ratio_high"),
        number_cell(row["smallest_margin"], 1, " %"), row["test"] or NONE, p_cell(row["p"]), p_cell(row["p_holm"]), row["note"],
    ])  # fmt: skip


def theory_table(theory) -> dict:
    """Return the table of shares beside theory."""
    columns = [
        Column("Model", "words", filtered=True), *PLACE, Column("CCA", header=True), Column("against"),
        *_numbers("Buffer, BDP"), Column("As Reno, as CUBIC", "short"),
        *_numbers("Expected", "n", "Share", "Interval", "Off by"), Column("Agrees", "short", filtered=True),
    ]  # fmt: skip
    return _table("fairness-theory", "Measured shares beside theory", theory, columns, lambda row: [
        row["model"], *_place(row), row["row_cca"], row["column_cca"], number_cell(row["buffer_bdp"]),
        NONE if is_missing(row["reno_s"]) else f"{row['reno_s']:.1f} s, {row['cubic_s']:.1f} s",
        row["expected"], number_cell(row["replications"], 0), *_share_cells(row),
        Cell(NONE) if is_missing(row["off"]) else Cell(signed(row["off"], 3), row["off"]), row["agrees"] or NONE,
    ])  # fmt: skip


def mix_table(shares) -> dict:
    """Return the table of every flow of every mix."""
    columns = [
        *PLACE, Column("Mix", filtered=True, header=True), Column("CCA", filtered=True),
        *_numbers("Place", "Empty path, ms", "n", "Mbit/s", "Share", "Interval", "Over fair", "p (Holm)", "Jain"),
        *_numbers("RTT, ms", "Retransmissions"), NOTE,
    ]  # fmt: skip
    return _table("fairness-mixes-table", "Every flow of every mix", shares, columns, lambda row: [
        *_place(row), row["cca"], row["flow_cca"], number_cell(row["position"] + 1, 0),
        Cell(plain(float(f"{row['rtt_path_ms']:.6g}")), row["rtt_path_ms"]), number_cell(row["n"], 0),
        number_cell(row["goodput_mbps"]), *_share_cells(row), number_cell(row["fair_ratio"], 2), p_cell(row["p_holm"]),
        number_cell(row["jain"], 3), number_cell(row["rtt_mean_ms"]), number_cell(row["retransmits"]), row["note"],
    ])  # fmt: skip
