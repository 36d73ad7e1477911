"""The section on real-time streams: delay, jitter and loss, alone and in competition with long flows."""

from report_parts.cells_table import N, PageTable, shown_interval, shown_number
from report_parts.material import Finding
from topics.short_flows.beside import lines_of
from topics.short_flows.groups_table import group_columns
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import listed

SHOWN = (
    *group_columns(), N, shown_number("Packets", "packets", 0),
    *(shown_number(f"One-way p{p}, ms", f"delay_p{p}_ms", 2) for p in (50, 95, 99)),
    shown_interval("Interval of p95", "delay_p95_ms", 2), shown_number("Jitter, ms", "jitter_ms", 3),
    shown_number("Lost, %", "lost_percent", 3),
)  # fmt: skip
CAPTION = "Delay, jitter and loss by the CCA of the competing long flows"
TABLES = {"table": PageTable("real-time-cells", CAPTION, "real_time_cells", SHOWN)}


def findings(material) -> list[Finding]:
    """Return a finding about the 95th percentiles of queueing delay, and about losses, for each panel with several slots."""
    cells = material.ranked(material.tables.real_time_cells)
    known, sentences = cells[cells["queueing_p95_ms"].notna()], []
    several = known["ip_version"].nunique() > 1
    for (_, conditions, ip_version, group), here in known.groupby(
        ["setting", "conditions", "ip_version", "group"], sort=False
    ):
        lines = lines_of(here)
        if len(lines) > 1:
            rows = here.sort_values("queueing_p95_ms", kind="stable").to_dict("records")
            waits = [
                f"{number(row['queueing_p95_ms'], 1)} ms ({lines[row['scenario'], row['cca']].name})" for row in rows
            ]
            losses = [f"{number(row['lost_percent'], 2)} %" for row in rows]
            where = f"{conditions}, {ip_words(ip_version)}" if several else conditions
            sentences.append(
                f"The 95th percentile of the queueing delay of the real-time packets that arrive ({group}; {where}) is {listed(waits)}; "
                f"in the same order, the losses are {listed(losses)}."
            )
    return [Finding("Real-time streams", sentence, "real-time") for sentence in sentences]
