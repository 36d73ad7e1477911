"""The section on short flows: completion times and slowdowns, alone and beside long flows."""

from report_parts.cells_table import N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from topics.short_flows.beside import name_of
from topics.short_flows.groups_table import group_columns
from wording.number_format import number
from wording.sentence_words import cca_name, listed

SHOWN = (
    *group_columns(shown_text("CCA", "group_cca", cca_name, filtered=True)), N, shown_number("Objects", "members", 0), shown_number("Complete, %", "complete_percent", 2),
    *(shown_number(f"p{p}, ms", f"completion_p{p}_ms", 1) for p in (50, 95, 99)),
    shown_interval("Interval of p95", "completion_p95_ms", 1),
    *(shown_number(f"Slowdown p{p}", f"slowdown_p{p}", 2) for p in (50, 95, 99)),
)  # fmt: skip
CAPTION = "Completion times and slowdowns by the long flows beside"
TABLES = {"table": PageTable("short-flow-cells", CAPTION, "short_flow_cells", SHOWN)}


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
