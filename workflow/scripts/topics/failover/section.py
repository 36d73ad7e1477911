"""The section on fail-over: rates while a path is down, standstill and return."""

from report_parts.data_tables import Column, data_table, interval_cell, number_cell
from report_parts.material import Finding
from wording.number_format import count, number, plain
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name


def section(material) -> dict:
    """Return what the template needs."""
    cells = material.tables.failovers
    return {"table": _cells_table(cells, material.design), "paths": int(cells["paths"].max())}


def _cells_table(cells, design):
    """Return the table of all cells."""

    def plain_number(name, decimals):
        return lambda row: number_cell(row[name], decimals)

    def ends(name):
        return lambda row: interval_cell(row[f"{name}_low"], row[f"{name}_high"], 2)

    columns = [
        (Column("Scenario", header=True, filtered=True), lambda row: row["scenario_label"]),
        (Column("Path down", "short"), _when),
        (Column("CCA", filtered=True), lambda row: cca_name(row["cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), plain_number("n", 0)),
        (Column("Before, Mbit/s", "number"), plain_number("before_mbps", 2)),
        (Column("Meanwhile, Mbit/s", "number"), plain_number("during_mbps", 2)),
        (Column("After, Mbit/s", "number"), plain_number("after_mbps", 2)),
        (Column("A path's ideal, Mbit/s", "number"), plain_number("path_ideal_mbps", 2)),
        (Column("Standstill, s", "number"), plain_number("standstill_s", 2)),
        (Column("Interval", "short"), ends("standstill_s")),
        (Column("Used again after, s", "number"), plain_number("return_s", 2)),
        (Column("Interval", "short"), ends("return_s")),
        (Column("Runs with return", "number"), plain_number("returned", 0)),
        (Column("Lost packets", "number"), plain_number("outage_drops", 1)),
    ]
    if not design.ip_versions_compared:
        del columns[3]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    return data_table("failovers", "Rates, standstill and return by CCA", [column for column, _ in columns], rows)


def _when(row):
    end_s = plain(row["outage_at_s"] + row["outage_for_s"])
    return f"{row['outage_path']:.0f}, {plain(row['outage_at_s'])} to {end_s} s"


def findings(material) -> list[Finding]:
    """Return a sentence for each scenario: standstill and return over its cells."""
    cells = material.tables.failovers
    known = cells[cells["standstill_s"].notna()]
    sentences = []
    for label, group in known.groupby("scenario_label", sort=False):
        row = group.iloc[0]
        stood = _range(group["standstill_s"])
        sentence = (
            f"Where path {row['outage_path']:.0f} of {count(int(row['paths']), 'path')} is down for {plain(row['outage_for_s'])} s ({label}) "
            f"nothing is acknowledged for {stood} s in the mean of a cell"
        )
        returned = group["return_s"].dropna()
        if len(returned):
            sentence += f"; once it is up again it takes {_range(returned)} s until it is used"
        sentences.append(f"{sentence}.")
    return [Finding("Fail-over", sentence, "failover") for sentence in sentences]


def _range(values):
    low, high = number(values.min(), 2), number(values.max(), 2)
    return low if low == high else f"{low} to {high}"
