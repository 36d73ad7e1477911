"""The section on paths that change: how soon their rate is used, and queue, losses and beliefs meanwhile."""

from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.material import Finding
from topics.path_changes.responses import LEAST_RTT
from wording.number_format import NONE, is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    return {"table": _table(material.tables.change_cells, material.design)}


def _table(cells, design):
    columns = [
        (Column("Scenario", filtered=True), lambda row: row["scenario_label"]),
        (Column("From, s", "number"), lambda row: number_cell(row["begin_s"], 1)),
        (Column("Change", "words", header=True, filtered=True), lambda row: row["change"]),
        (Column("CCA", filtered=True), lambda row: cca_name(row["cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), lambda row: number_cell(row["n"], 0)),
        (Column("Used after, s", "number"), _used_cell),
        (Column("Delivered, %", "number"), lambda row: number_cell(row["utilisation_percent"], 1)),
        (Column("Queue, ms", "number"), lambda row: number_cell(row["queue_mean_ms"], 1)),
        (Column("at most", "number"), lambda row: number_cell(row["queue_max_ms"], 1)),
        (Column("Queue drops", "number"), lambda row: number_cell(row["queue_drops"], 1)),
        (Column("Sent again", "number"), lambda row: number_cell(row["retransmits"], 1)),
        (Column("Believed after, s", "number"), lambda row: number_cell(row["believed_s"], 1)),
    ]
    if not design.ip_versions_compared:
        del columns[4]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    return data_table("change-cells", "Phases of paths that change, by CCA", [column for column, _ in columns], rows)


def _used_cell(row):
    never = int(row["n"] - row["n_used"])
    if is_missing(row["used_s"]):
        return Cell(NONE)
    return Cell(f"{number(row['used_s'], 2)}{f' ({never} never)' if never else ''}", float(row["used_s"]))


def findings(material) -> list[Finding]:
    """Return a sentence for each change of a scenario after which CCAs differ, and one on what they believe of a longer path."""
    cells = material.tables.change_cells
    sentences = []
    for (label, begin_s, change), group in cells[cells["phase"] > 1].groupby(
        ["scenario_label", "begin_s", "change"], sort=False
    ):
        used = group[group["n_used"] > 0].groupby("cca", sort=False)["used_s"].mean().sort_values()
        if len(used) > 1 and used.iloc[-1] > 2 * used.iloc[0]:
            shown = [f"{cca_name(cca)} after {number(value, 2)} s" for cca, value in used.items()]
            never = [cca_name(cca) for cca in dict.fromkeys(group["cca"]) if cca not in used.index]
            tail = f"; {listed(never)} never" if never else ""
            sentences.append(f"{label}, {change} at {begin_s:g} s: 90 % of the rate is used by {listed(shown)}{tail}.")
    asked = cells[cells["cca"].isin(LEAST_RTT) & (cells["n_believed"] > 0)]
    for (label, cca), group in asked.groupby(["scenario_label", "cca"], sort=False):
        row = group.iloc[0]
        sentences.append(
            f"{label}: {cca_name(cca)} takes {number(row['believed_s'], 1)} s to believe that the path became longer ({row['change']})."
        )
    return [Finding("Changes", sentence, "path-changes") for sentence in sentences]
