"""The section on short flows: completion times and slowdowns, alone and in competition with long flows."""

from functools import partial

from report_parts.cells_table import N, PageTable, shown_cell, shown_interval, shown_number, shown_text
from report_parts.data_tables import Cell
from report_parts.material import Finding
from topics.short_flows.beside import lines_of
from topics.short_flows.groups_table import group_columns
from topics.short_flows.tables import LEAST_OBJECTS
from wording.number_format import is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed


def _completion(percentile, row):
    """Return a cell with a percentile of completion times; if the percentile wasn't reached, the cell states how long the run waited."""
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
CAPTION = "Completion times and slowdowns by the CCA of the competing long flows"
TABLES = {"table": PageTable("short-flow-cells", CAPTION, "short_flow_cells", SHOWN)}


def section(material) -> dict:
    """Return the template's variable ``incomplete``: whether any objects were incomplete."""
    return {"incomplete": bool((material.tables.short_flow_cells["complete_percent"] < 100).any())}


def findings(material) -> list[Finding]:
    """Return a finding about the 95th percentiles of completion times, in ascending order, for each panel with several lines."""
    cells, sentences = material.ranked(material.tables.short_flow_cells), []
    several = cells["ip_version"].nunique() > 1
    panel = ["setting", "conditions", "ip_version", "group", "group_cca"]
    for (_, conditions, ip_version, group, cca), here in cells.groupby(panel, sort=False):
        names = {key: line.name for key, line in lines_of(here).items()}
        rows = here[(here["n"] > 0) & (here["members"] >= LEAST_OBJECTS)]
        rows = rows.sort_values("completion_p95_ms", kind="stable").to_dict("records")
        shown, unreached = [], []
        for row in rows:
            name, late = names[row["scenario"], row["cca"]], row["completion_p95_ms"]
            if is_missing(late):
                unreached.append(name)
            else:
                shown.append(f"{number(late, 0)} ms ({name})")
        if shown and len(rows) > 1:
            tail = f"; it isn't reached before a run ends: {listed(unreached)}" if unreached else ""
            where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
            sentences.append(
                f"The 95th percentile of the completion times of web objects ({group}, {cca_name(cca)}; {where}) is {listed(shown)}{tail}."
            )
    return [Finding("Short flows", sentence, "short-flows") for sentence in sentences]
