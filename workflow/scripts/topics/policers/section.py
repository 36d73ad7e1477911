"""The section on policers: loss and goodput by CCA."""

from report_parts.data_tables import Column, data_table, interval_cell, number_cell
from report_parts.material import Finding
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    return {"table": _table(material.tables.policer_cells, material.design)}


def _table(cells, design):
    def mean(name, decimals):
        return lambda row: number_cell(row[name], decimals)

    def ends(name, decimals):
        return lambda row: interval_cell(row[f"{name}_low"], row[f"{name}_high"], decimals)

    columns = [
        (Column("Scenario", header=True, filtered=True), lambda row: row["scenario_label"]),
        (Column("Policer", filtered=True), lambda row: row["policer"] or "none"),
        (Column("CCA", filtered=True), lambda row: cca_name(row["cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), mean("n", 0)),
        (Column("Policed, %", "number"), mean("policed_percent", 2)),
        (Column("Interval", "short"), ends("policed_percent", 2)),
        (Column("Lost in all, %", "number"), mean("loss_percent", 2)),
        (Column("Goodput, %", "number"), mean("goodput_percent", 1)),
        (Column("Policer's drops", "number"), mean("policer_drops", 1)),
        (Column("Queue's drops", "number"), mean("queue_drops", 1)),
        (Column("Sent again", "number"), mean("retransmits", 1)),
    ]
    if not design.ip_versions_compared:
        del columns[3]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    return data_table("policer-cells", "Loss and goodput behind policers, by CCA", [c for c, _ in columns], rows)


def findings(material) -> list[Finding]:
    """Return a sentence for each scenario with a policer: what each CCA loses to it, and gets."""
    cells = material.tables.policer_cells
    policed = cells[cells["policed_percent"].notna()]
    sentences = []
    for (label, words), group in policed.groupby(["scenario_label", "policer"], sort=False):
        means = group.groupby("cca", sort=False)[["policed_percent", "goodput_percent"]].mean()
        shown = [
            f"{number(row['policed_percent'], 2)} % with {cca_name(cca)} (goodput {number(row['goodput_percent'], 1)} %)"
            for cca, row in means.sort_values("policed_percent").iterrows()
        ]
        sentences.append(f"{label}: the policer ({words}) drops {listed(shown)}.")
    return [Finding("Policers", sentence, "policers") for sentence in sentences]
