"""The section on real-time streams: delay, jitter and loss, alone and beside long flows."""

from report_parts.data_tables import Column, interval_cell, number_cell
from report_parts.material import Finding
from topics.short_flows.beside import name_of
from topics.short_flows.groups_table import groups_table
from wording.number_format import number
from wording.sentence_words import listed


def section(material) -> dict:
    """Return what the template needs."""
    columns = [
        (Column("n", "number"), lambda row: number_cell(row["n"], 0)),
        (Column("Packets", "number"), lambda row: number_cell(row["packets"], 0)),
        *(
            (Column(f"One-way p{p}, ms", "number"), lambda row, p=p: number_cell(row[f"delay_p{p}_ms"], 2))
            for p in (50, 95, 99)
        ),
        (
            Column("Interval of p95", "short"),
            lambda row: interval_cell(row["delay_p95_ms_low"], row["delay_p95_ms_high"], 2),
        ),
        (Column("Jitter, ms", "number"), lambda row: number_cell(row["jitter_ms"], 3)),
        (Column("Lost, %", "number"), lambda row: number_cell(row["lost_percent"], 3)),
    ]
    title = "Delay, jitter and loss by the long flows beside"
    cells = material.tables.real_time_cells
    return {"table": groups_table(cells, material.design, "real-time-cells", title, columns)}


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
