"""The section on short flows: completion times and slowdowns, alone and beside long flows."""

from report_parts.cells_table import N, PageTable, shown_interval, shown_number, shown_text
from report_parts.material import Finding
from topics.short_flows.beside import lines_of
from topics.short_flows.groups_table import group_columns
from wording.number_format import number
from wording.scenario_words import ip_words
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
    """Return a sentence for each panel with several lines: 95th percentiles of completion times, shortest first."""
    cells = material.tables.short_flow_cells
    known, sentences = cells[cells["completion_p95_ms"].notna()], []
    several = known["ip_version"].nunique() > 1
    panel = ["setting", "conditions", "ip_version", "group", "group_cca"]
    for (_, conditions, ip_version, group, cca), here in known.groupby(panel, sort=False):
        lines = lines_of(here)
        if len(lines) > 1:
            late = here.sort_values("completion_p95_ms", kind="stable").to_dict("records")
            shown = [
                f"{number(row['completion_p95_ms'], 0)} ms ({lines[row['scenario'], row['cca']].name})" for row in late
            ]
            where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
            sentences.append(
                f"Of web objects ({group}, {cca_name(cca)}; {where}) 95 % are complete within {listed(shown)}."
            )
    return [Finding("Short flows", sentence, "short-flows") for sentence in sentences]
