"""The section on CCAs: one test of all CCAs in each scenario and IP version, then a test of each pair."""

from report_parts.cells_table import IP_KEY, shown_cell, shown_number, shown_p, shown_signed, shown_text
from report_parts.data_tables import Cell
from report_parts.hypothesis_cells import DIFFERS, EFFECT, ESTIMATE, OPEN, TEST, tests_table
from topics.cells.page_tables import PAIRS
from wording.number_format import is_missing

TESTS = (
    IP_KEY, shown_number("CCAs", "ccas", 0), shown_number("Blocks (n)", "blocks", 0), TEST,
    shown_number("Statistic", "statistic"), shown_p("p", "p"), shown_p("p, Holm", "p_holm"),
    shown_number("Kendall's W", "kendall_w", 2),
)  # fmt: skip
PAIR = (
    IP_KEY, shown_text("CCA", "cca_a", filtered=True), shown_text("Against", "cca_b", filtered=True), PAIRS,
    shown_number("Mean", "mean_a"), shown_number("Other's mean", "mean_b"), *EFFECT, ESTIMATE,
    shown_signed("Cliff's delta", "cliffs_delta", 2), TEST, shown_p("p, Holm", "p_holm"),
)  # fmt: skip


def section(material) -> dict[str, dict]:
    """Return the tables that compare CCAs with each other."""
    tables = material.tables
    return {
        "tests": _tests_table(tables.ccas, tables.scenarios),
        "pairs": _pairs_table(tables.cca_pairs, tables.scenarios, material.params["significance"]),
    }


def _place_words(ip_versions):
    return "scenario and IP version" if ip_versions.nunique() > 1 else "scenario"


def _tests_table(ccas, scenarios):
    caption = f"Do the CCAs differ? One test of all of them in each {_place_words(ccas['ip_version'])}"
    return tests_table("cca-tests", caption, ccas, scenarios, TESTS)


def _pairs_table(pairs, scenarios, significance):
    differs = shown_cell("Differs", lambda row: _differs_cell(row, significance), filtered=True)
    caption = f"Pairs of CCAs: the first compared with the second, in each {_place_words(pairs['ip_version'])}"
    return tests_table("cca-pairs", caption, pairs, scenarios, (*PAIR, differs))


def _differs_cell(row, significance):
    if row["pairs"] > 1 and row["n"] == 1:
        return Cell("one measurement", style=OPEN)
    if is_missing(row["p_holm"]):
        return Cell("not tested", style=OPEN)
    return Cell("yes", style=DIFFERS) if row["p_holm"] < significance else Cell("not shown", style=OPEN)
