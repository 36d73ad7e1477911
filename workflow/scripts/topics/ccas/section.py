"""The section on CCAs: one test over all, then each pair."""

from report_parts.data_tables import Cell, Column, number_cell, p_cell
from report_parts.test_cells import DIFFERS, EFFECT_COLUMNS, OPEN, signed_cell, tests_table
from topics.cells.page_tables import n_words
from wording.number_format import is_missing
from wording.scenario_words import ip_words


def section(material) -> dict[str, dict]:
    """Return the tables of CCA against CCA."""
    tables = material.tables
    return {
        "tests": _tests_table(tables.ccas, tables.scenarios),
        "pairs": _pairs_table(tables.cca_pairs, tables.scenarios, material.params["significance"]),
    }


def _place_words(ip_versions):
    return "scenario and IP version" if ip_versions.nunique() > 1 else "scenario"


def _tests_table(ccas, scenarios):
    columns = {
        Column("IP", filtered=True): lambda row: ip_words(row["ip_version"]),
        Column("CCAs", "number"): lambda row: number_cell(row["ccas"], 0),
        Column("Blocks (n)", "number"): lambda row: number_cell(row["blocks"], 0),
        Column("Test", filtered=True): lambda row: row["test"] or "none",
        Column("Statistic", "number"): lambda row: number_cell(row["statistic"]),
        Column("p", "number"): lambda row: p_cell(row["p"]),
        Column("p, Holm", "number"): lambda row: p_cell(row["p_holm"]),
        Column("Kendall's W", "number"): lambda row: number_cell(row["kendall_w"], 2),
    }
    caption = f"Do the CCAs differ? One test over all of them in each {_place_words(ccas['ip_version'])}"
    return tests_table("cca-tests", caption, ccas, scenarios, columns)


def _pairs_table(pairs, scenarios, significance):
    columns = {
        Column("IP", filtered=True): lambda row: ip_words(row["ip_version"]),
        Column("CCA", filtered=True): lambda row: row["cca_a"],
        Column("Against", filtered=True): lambda row: row["cca_b"],
        Column("Pairs (n)", "number"): lambda row: Cell(n_words(row["pairs"], row["n"]), row["pairs"]),
        Column("Mean", "number"): lambda row: number_cell(row["mean_a"]),
        Column("Other's mean", "number"): lambda row: number_cell(row["mean_b"]),
        **EFFECT_COLUMNS,
        Column("Cliff's delta", "number"): lambda row: signed_cell(row["cliffs_delta"]),
        Column("Test", filtered=True): lambda row: row["test"] or "none",
        Column("p, Holm", "number"): lambda row: p_cell(row["p_holm"]),
        Column("Differs", filtered=True): lambda row: _differs_cell(row, significance),
    }
    caption = f"Pairs of CCAs: the first against the other, in each {_place_words(pairs['ip_version'])}"
    return tests_table("cca-pairs", caption, pairs, scenarios, columns)


def _differs_cell(row, significance):
    if row["pairs"] > 1 and row["n"] == 1:
        return Cell("one measurement", style=OPEN)
    if is_missing(row["p_holm"]):
        return Cell("not tested", style=OPEN)
    return Cell("yes", style=DIFFERS) if row["p_holm"] < significance else Cell("not shown", style=OPEN)
