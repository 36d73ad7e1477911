"""The section on short flows: completion times and slowdowns, alone and beside long flows."""

from report_parts.data_tables import Cell, Column, data_table, number_cell
from report_parts.material import Finding
from topics.short_flows.beside import ALONE, name_of
from wording.number_format import NONE, is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    return {"table": _cells_table(material.tables.short_flow_cells, material.design)}


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
        (Column("CCA", filtered=True), lambda row: cca_name(row["group_cca"])),
        (Column("IP version", filtered=True), lambda row: ip_words(row["ip_version"])),
        (Column("n", "number"), mean("n", 0)),
        (Column("Objects", "number"), mean("members", 0)),
        (Column("Complete, %", "number"), mean("complete_percent", 2)),
        *((Column(f"p{p}, ms", "number"), mean(f"completion_p{p}_ms", 1)) for p in (50, 95, 99)),
        (Column("Interval of p95", "short"), lambda row: _interval_cell(row, "completion_p95_ms", 1)),
        *((Column(f"Slowdown p{p}", "number"), mean(f"slowdown_p{p}", 2)) for p in (50, 95, 99)),
    ]
    if not design.ip_versions_compared:
        del columns[4]
    rows = [[of_cell(row) for _, of_cell in columns] for row in cells.to_dict("records")]
    title = "Completion times and slowdowns by the long flows beside"
    return data_table("short-flow-cells", title, [column for column, _ in columns], rows)


def _interval_cell(row, name, decimals):
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return Cell(NONE) if is_missing(low) else Cell(f"{number(low, decimals)} to {number(high, decimals)}", float(low))


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions and group with several CCAs beside: 95th percentiles of completion times, shortest first."""
    cells = material.tables.short_flow_cells
    known, sentences = cells[cells["completion_p95_ms"].notna()], []
    for (conditions, group, cca), here in known.groupby(["conditions", "group", "group_cca"], sort=False):
        late = here.groupby("beside", sort=False)["completion_p95_ms"].mean().sort_values()
        if len(late) > 1:
            shown = [f"{number(value, 0)} ms ({name_of(beside)})" for beside, value in late.items()]
            sentences.append(
                f"Of web objects ({group}, {cca_name(cca)}; {conditions}) 95 % are complete within {listed(shown)}."
            )
    return [Finding("Short flows", sentence, "short-flows") for sentence in sentences]
