"""The section on real-time streams: delay, jitter and loss, alone and beside long flows."""

from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.material import Finding
from topics.short_flows.beside import ALONE, name_of
from wording.number_format import NONE, is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    return {"table": _cells_table(material.tables.real_time_cells, material.design)}


def _cells_table(cells, design):
    """Return the table of all cells and groups."""

    def mean(name, decimals):
        return lambda row: number_cell(row[name], decimals)

    columns = [
        (Column("Conditions", filtered=True), lambda row: row["conditions"]),
        (
            Column("Long flows", header=True, filtered=True),
            lambda row: "none" if row["beside"] == ALONE else cca_name(row["beside"]),
        ),
        (Column("Group", filtered=True), lambda row: row["group"]),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), mean("n", 0)),
        (Column("Packets", "number"), mean("packets", 0)),
        *((Column(f"One-way p{p}, ms", "number"), mean(f"delay_p{p}_ms", 2)) for p in (50, 95, 99)),
        (Column("Interval of p95", "short"), lambda row: _interval_cell(row, "delay_p95_ms", 2)),
        (Column("Jitter, ms", "number"), mean("jitter_ms", 3)),
        (Column("Lost, %", "number"), mean("lost_percent", 3)),
    ]
    if not design.ip_versions_compared:
        del columns[3]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    return data_table(
        "real-time-cells", "Delay, jitter and loss by the long flows beside", [column for column, _ in columns], rows
    )


def _interval_cell(row, name, decimals):
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return Cell(NONE) if is_missing(low) else Cell(f"{number(low, decimals)} to {number(high, decimals)}", float(low))


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions and group with several CCAs beside: 95th percentiles of the queueing delay and losses."""
    cells = material.tables.real_time_cells
    known, sentences = cells[cells["queueing_p95_ms"].notna()], []
    for (conditions, group), here in known.groupby(["conditions", "group"], sort=False):
        means = (
            here.groupby("beside", sort=False)[["queueing_p95_ms", "lost_percent"]]
            .mean()
            .sort_values("queueing_p95_ms")
        )
        if len(means) > 1:
            waits = [f"{number(row.queueing_p95_ms, 1)} ms ({name_of(row.Index)})" for row in means.itertuples()]
            losses = [f"{number(row.lost_percent, 2)} %" for row in means.itertuples()]
            sentences.append(
                f"Of real-time packets ({group}; {conditions}) 95 % wait in the queue for at most {listed(waits)}; "
                f"lost are, in this order, {listed(losses)}."
            )
    return [Finding("Real-time streams", sentence, "real-time") for sentence in sentences]
