"""The section on short flows: completion times and slowdowns, alone and beside long flows."""

from report_parts.data_tables import Column, interval_cell, number_cell
from report_parts.material import Finding
from topics.short_flows.beside import name_of
from topics.short_flows.groups_table import groups_table
from wording.number_format import number
from wording.sentence_words import cca_name, listed


def section(material) -> dict:
    """Return what the template needs."""
    columns = [
        (Column("n", "number"), lambda row: number_cell(row["n"], 0)),
        (Column("Objects", "number"), lambda row: number_cell(row["members"], 0)),
        (Column("Complete, %", "number"), lambda row: number_cell(row["complete_percent"], 2)),
        *(
            (Column(f"p{p}, ms", "number"), lambda row, p=p: number_cell(row[f"completion_p{p}_ms"], 1))
            for p in (50, 95, 99)
        ),
        (
            Column("Interval of p95", "short"),
            lambda row: interval_cell(row["completion_p95_ms_low"], row["completion_p95_ms_high"], 1),
        ),
        *(
            (Column(f"Slowdown p{p}", "number"), lambda row, p=p: number_cell(row[f"slowdown_p{p}"], 2))
            for p in (50, 95, 99)
        ),
    ]
    title = "Completion times and slowdowns by the long flows beside"
    server = [(Column("CCA", filtered=True), lambda row: cca_name(row["group_cca"]))]
    cells = material.tables.short_flow_cells
    return {"table": groups_table(cells, material.design, "short-flow-cells", title, columns, server)}


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
