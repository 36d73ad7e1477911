"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, count, interval, number, text
from run_tables.tidy_tables import DISCIPLINE_COLUMNS, RUNS, SCENARIOS

_NO_RUN = "no valid run has a value"
_UNCOUNTED = "no valid run counts it"
#: What is estimated of a cell, each with its interval: (column, unit, meaning, what it means if there is none).
MEASURES = (
    number("queueing_ms", "ms", "Mean RTT less that of the empty path.", _NO_RUN),
    number("goodput_percent", "%", "Goodput over what a path that is always full gives.", _NO_RUN),
    number("drop_percent", "%", "Packets that the queue dropped, of those offered to it.", _NO_RUN),
    number("mark_percent", "%", "Packets that the queue marked CE, of those offered to it.", _UNCOUNTED),
    number("jain_index", "", "Jain's index of the flows' goodputs.", _NO_RUN),
)
QUEUE_CELLS = Table(
    "queue_cells",
    "a cell: scenario, CCA and IP version",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        RUNS["platform"],
        text("conditions", "What scenarios share that differ in their queue and ECN only, in words."),
        *DISCIPLINE_COLUMNS,
        SCENARIOS["queue_parameters"],
        count("n", "runs", "Valid runs."),
        *(
            column
            for measure in MEASURES
            for column in (
                measure,
                *interval(
                    f"{measure.name}_low", f"{measure.name}_high", measure.unit, "the mean, cut off at what is possible"
                ),
            )
        ),
        number("queue_drops", "packets", "Mean number that the queue dropped in a run.", _NO_RUN),
        number("overflow_drops", "packets", "Of these, because it was full.", f"{_UNCOUNTED}, or the queue is drop-tail"),
        number("queue_marks", "packets", "Mean number that it marked CE in a run.", _UNCOUNTED),
        number("ce_received", "packets", "Mean number that arrived with a CE mark.", "flows have no ECN"),
        number("ce_echoed", "segments", "Mean number delivered while receivers told of CE.", "flows have no ECN"),
        number("retransmits", "segments", "Mean number sent again in a run.", _NO_RUN),
    ),
)  # fmt: skip
