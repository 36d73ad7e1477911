"""The section on short flows: completion times and slowdowns, alone and beside long flows."""

from functools import partial

from report_parts.cells_table import N, PageTable, shown_cell, shown_interval, shown_number, shown_text
from report_parts.data_tables import Cell
from report_parts.material import Finding
from topics.short_flows.beside import name_of
from topics.short_flows.groups_table import group_columns
from wording.number_format import is_missing, number
from wording.sentence_words import cca_name, listed


def _completion(percentile, row):
    """Return a percentile of completion times, or that it is longer than objects were waited for."""
    value, waited = row[f"completion_p{percentile}_ms"], row["watched_ms"]
    if is_missing(value) and not is_missing(waited):
        return Cell(f"not reached in {number(waited / 1e3, 0)} s", waited)
    return Cell(number(value, 1), value)


SHOWN = (
    *group_columns(shown_text("CCA", "group_cca", cca_name, filtered=True)), N, shown_number("Objects", "members", 0), shown_number("Complete, %", "complete_percent", 2),
    *(shown_cell(f"p{p}, ms", partial(_completion, p), "number") for p in (50, 95, 99)),
    *(shown_number(f"If worst p{p}, ms", f"completion_worst_p{p}_ms", 1) for p in (50, 95)),
    shown_interval("Interval of p95", "completion_p95_ms", 1),
    *(shown_number(f"Slowdown p{p}", f"slowdown_p{p}", 2) for p in (50, 95, 99)),
)  # fmt: skip
CAPTION = "Completion times and slowdowns by the long flows beside"
TABLES = {"table": PageTable("short-flow-cells", CAPTION, "short_flow_cells", SHOWN)}


def section(material) -> dict:
    """Return what the template needs: whether there were objects that were not complete."""
    return {"incomplete": bool((material.tables.short_flow_cells["complete_percent"] < 100).any())}


def findings(material) -> list[Finding]:
    """Return a sentence for each conditions and group with several CCAs beside: 95th percentiles of completion times, shortest first."""
    cells, sentences = material.ranked(material.tables.short_flow_cells), []
    for (conditions, group, cca), here in cells.groupby(["conditions", "group", "group_cca"], sort=False):
        by_cca = here.groupby("beside", sort=False)["completion_p95_ms"]
        late = by_cca.mean()[by_cca.apply(lambda times: times.notna().all())].sort_values()
        unreached = [name_of(beside) for beside in by_cca.groups if beside not in late.index]
        if len(late) > 1 or (len(late) and unreached):
            shown = [f"{number(value, 0)} ms ({name_of(beside)})" for beside, value in late.items()]
            tail = f"; fewer are complete at the end in a run {listed(unreached)}" if unreached else ""
            sentences.append(
                f"Of web objects ({group}, {cca_name(cca)}; {conditions}) 95 % are complete within {listed(shown)}{tail}."
            )
    return [Finding("Short flows", sentence, "short-flows") for sentence in sentences]
