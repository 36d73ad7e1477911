"""The section on queues: delay, drops and marks behind each discipline."""

from report_parts.data_tables import Column, data_table, interval_cell, number_cell
from report_parts.material import Finding
from testbed.qdisc import DROP_TAIL
from wording.discipline_words import DISCIPLINE_WORDS
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    cells = material.tables.queue_cells
    return {
        "table": _cells_table(cells, material.design),
        "disciplines": [
            (name, DISCIPLINE_WORDS[name]) for name in dict.fromkeys(cells["discipline"]) if name in DISCIPLINE_WORDS
        ],
    }


def _cells_table(cells, design):
    """Return the table of all cells."""

    def mean(name, decimals):
        return lambda row: number_cell(row[name], decimals)

    def ends(name, decimals):
        return lambda row: interval_cell(row[f"{name}_low"], row[f"{name}_high"], decimals)

    columns = [
        (Column("Conditions", filtered=True), lambda row: row["conditions"]),
        (Column("Queue", header=True, filtered=True), lambda row: row["discipline"]),
        (Column("ECN", filtered=True), lambda row: row["ecn"]),
        (Column("CCA", filtered=True), lambda row: cca_name(row["cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), mean("n", 0)),
        (Column("Queueing, ms", "number"), mean("queueing_ms", 2)),
        (Column("Interval", "short"), ends("queueing_ms", 2)),
        (Column("Goodput, %", "number"), mean("goodput_percent", 1)),
        (Column("Jain", "number"), mean("jain_index", 3)),
        (Column("Drops", "number"), mean("queue_drops", 1)),
        (Column("by a full queue", "number"), mean("overflow_drops", 1)),
        (Column("Marks", "number"), mean("queue_marks", 1)),
        (Column("CE arrived", "number"), mean("ce_received", 1)),
        (Column("CE echoed", "number"), mean("ce_echoed", 1)),
        (Column("Sent again", "number"), mean("retransmits", 1)),
    ]
    if not design.ip_versions_compared:
        del columns[4]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    return data_table("queue-cells", "Drops and marks by queue, ECN and CCA", [column for column, _ in columns], rows)


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions and CCA that meets drop-tail and other queues, both without ECN; and one on marks."""
    cells = material.tables.queue_cells
    known = cells[cells["queueing_ms"].notna()]
    sentences = []
    for (conditions, cca), group in known[known["ecn"] == "off"].groupby(["conditions", "cca"], sort=False):
        means = group.groupby("discipline", sort=False)["queueing_ms"].mean()
        others = means.drop(DROP_TAIL, errors="ignore").sort_values()
        if DROP_TAIL in means and len(others):
            shown = [f"{number(value, 1)} ms behind {name}" for name, value in others.items()]
            sentences.append(
                f"{cca_name(cca)} ({conditions}) waits {number(means[DROP_TAIL], 1)} ms in the mean behind drop-tail, {listed(shown)}."
            )
    marked = known[(known["ecn"] != "off") & (known["queue_marks"] > 0)]
    if len(marked):
        lossless = int((marked["queue_drops"] == 0).sum())
        sentences.append(
            f"With ECN, {lossless} of {len(marked)} cells in which the queue marked packets lost none to it."
        )
    return [Finding("Queues", sentence, "queues") for sentence in sentences]
