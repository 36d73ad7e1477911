"""The section on CCAs: one test over all, then each pair."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, p_cell, signed
from report_parts.test_cells import DIFFERS, OPEN, Scenarios, estimate_cell, first_metric, metric_cell
from wording.number_format import NONE, is_missing
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
        Column("Metric", filtered=True): metric_cell,
        Column("Scenario", filtered=True, header=True): Scenarios(scenarios).cell,
        Column("IP", filtered=True): lambda row: ip_words(row["ip_version"]),
        Column("CCAs", "number"): lambda row: number_cell(row["ccas"], 0),
        Column("Blocks (n)", "number"): lambda row: number_cell(row["blocks"], 0),
        Column("Test", filtered=True): lambda row: row["test"] or "none",
        Column("Statistic", "number"): lambda row: number_cell(row["statistic"]),
        Column("p", "number"): lambda row: p_cell(row["p"]),
        Column("p, Holm", "number"): lambda row: p_cell(row["p_holm"]),
        Column("Kendall's W", "number"): lambda row: number_cell(row["kendall_w"], 2),
        Column("Note", "note"): lambda row: row["note"],
    }
    rows = [[cell(row) for cell in columns.values()] for row in ccas.to_dict("records")]
    caption = f"Do the CCAs differ? One test over all of them in each {_place_words(ccas['ip_version'])}"
    return data_table("cca-tests", caption, list(columns), rows, first_metric(ccas))


def _pairs_table(pairs, scenarios, significance):
    columns = {
        Column("Metric", filtered=True): metric_cell,
        Column("Scenario", filtered=True, header=True): Scenarios(scenarios).cell,
        Column("IP", filtered=True): lambda row: ip_words(row["ip_version"]),
        Column("CCA", filtered=True): lambda row: row["cca_a"],
        Column("Against", filtered=True): lambda row: row["cca_b"],
        Column("Pairs (n)", "number"): lambda row: number_cell(row["pairs"], 0),
        Column("Mean", "number"): lambda row: number_cell(row["mean_a"]),
        Column("Other's mean", "number"): lambda row: number_cell(row["mean_b"]),
        Column("Difference", "number"): lambda row: effect_cells(row)[0],
        Column("Interval", "number"): lambda row: effect_cells(row)[1],
        Column("Hodges-Lehmann", "number"): estimate_cell,
        Column("Cliff's delta", "number"): lambda row: _delta_cell(row["cliffs_delta"]),
        Column("Test", filtered=True): lambda row: row["test"] or "none",
        Column("p, Holm", "number"): lambda row: p_cell(row["p_holm"]),
        Column("Differs", filtered=True): lambda row: _yes_no(row["p_holm"], significance),
        Column("Note", "note"): lambda row: row["note"],
    }
    rows = [[cell(row) for cell in columns.values()] for row in pairs.to_dict("records")]
    caption = f"Pairs of CCAs: the first against the other, in each {_place_words(pairs['ip_version'])}"
    return data_table("cca-pairs", caption, list(columns), rows, first_metric(pairs))


def _delta_cell(delta):
    return Cell(NONE) if is_missing(delta) else Cell(signed(delta, 2), delta)


def _yes_no(p, significance):
    if is_missing(p):
        return Cell("not tested", style=OPEN)
    return Cell("yes", style=DIFFERS) if p < significance else Cell("not shown", style=OPEN)
