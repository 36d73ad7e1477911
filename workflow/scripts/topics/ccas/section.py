"""The section on CCAs: one test over all, then each pair."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, p_cell, signed
from report_parts.test_cells import DIFFERS, OPEN, Scenarios, estimate_cell, first_metric, mean_cells, metric_cell
from wording.number_format import NONE, is_missing
from wording.scenario_words import ip_words


def section(material) -> dict[str, dict]:
    """Return the tables of CCA against CCA."""
    tables = material.tables
    return {
        "tests": cca_tests_table(tables.ccas, tables.scenarios),
        "pairs": cca_pairs_table(tables.cca_pairs, tables.scenarios, material.params["significance"]),
    }


def place_words(ip_versions) -> str:
    """Return where the CCAs of a column's rows meet: "scenario and IP version", or "scenario" if it has one IP version."""
    return "scenario and IP version" if ip_versions.nunique() > 1 else "scenario"


def cca_tests_table(ccas, scenarios) -> dict:
    """Return the table of tests over all CCAs, a row for each metric, scenario and IP version."""
    columns = [
        Column("Metric", filtered=True),
        Column("Scenario", filtered=True, header=True),
        Column("IP", filtered=True),
        Column("CCAs", "number"),
        Column("Blocks (n)", "number"),
        Column("Test", filtered=True),
        Column("Statistic", "number"),
        Column("p", "number"),
        Column("p, Holm", "number"),
        Column("Kendall's W", "number"),
        Column("Note", "note"),
    ]
    places = Scenarios(scenarios)
    rows = [
        [
            metric_cell(row),
            places.cell(row),
            ip_words(row["ip_version"]),
            number_cell(row["ccas"], 0),
            number_cell(row["blocks"], 0),
            row["test"] or "none",
            number_cell(row["statistic"]),
            p_cell(row["p"]),
            p_cell(row["p_holm"]),
            number_cell(row["kendall_w"], 2),
            row["note"],
        ]
        for row in ccas.to_dict("records")
    ]
    caption = f"Do the CCAs differ? One test over all of them in each {place_words(ccas['ip_version'])}"
    return data_table("cca-tests", caption, columns, rows, first_metric(ccas))


def cca_pairs_table(pairs, scenarios, significance) -> dict:
    """Return the table of CCA pairs, a row for each metric, scenario, IP version and pair."""
    columns = [
        Column("Metric", filtered=True),
        Column("Scenario", filtered=True, header=True),
        Column("IP", filtered=True),
        Column("CCA", filtered=True),
        Column("Against", filtered=True),
        Column("Pairs (n)", "number"),
        Column("Mean", "number"),
        Column("Other's mean", "number"),
        Column("Difference", "number"),
        Column("Interval", "number"),
        Column("Hodges-Lehmann", "number"),
        Column("Cliff's delta", "number"),
        Column("Test", filtered=True),
        Column("p, Holm", "number"),
        Column("Differs", filtered=True),
        Column("Note", "note"),
    ]
    places, rows = Scenarios(scenarios), []
    for row in pairs.to_dict("records"):
        difference, interval = effect_cells(row)
        rows.append(
            [
                metric_cell(row),
                places.cell(row),
                ip_words(row["ip_version"]),
                row["cca_a"],
                row["cca_b"],
                number_cell(row["pairs"], 0),
                *mean_cells(row, "mean_a", "mean_b"),
                difference,
                interval,
                estimate_cell(row),
                Cell(signed(row["cliffs_delta"], 2), row["cliffs_delta"])
                if not is_missing(row["cliffs_delta"])
                else Cell(NONE),
                row["test"] or "none",
                p_cell(row["p_holm"]),
                yes_no(row["p_holm"], significance),
                row["note"],
            ]
        )
    caption = f"Pairs of CCAs: the first against the other, in each {place_words(pairs['ip_version'])}"
    return data_table("cca-pairs", caption, columns, rows, first_metric(pairs))


def yes_no(p, significance) -> Cell:
    """Return whether a test found a difference, as a cell."""
    if is_missing(p):
        return Cell("not tested", style=OPEN)
    return Cell("yes", style=DIFFERS) if p < significance else Cell("not shown", style=OPEN)
