"""The analysis table of the topic, column by column."""

from run_tables.condition_columns import DISCIPLINE_COLUMNS
from run_tables.run_keys import CELL_COLUMNS, CONDITIONS, SCENARIO_LABEL, SETTING
from run_tables.scenario_table import SCENARIOS
from run_tables.table import Table, columns_with_intervals, count_column, number_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no valid run has a value"
_UNCOUNTED = "no valid run has a count"
#: Measures of a cell, each estimated with an interval.
MEASURES = (
    number_column("queueing_ms", "ms", "Mean queueing delay: the time that the waiting packets take to leave the queue, from samples of the queue.", "no valid run has samples", least=0),
    number_column("rtt_above_ms", "ms", RUNS["rtt_above_ms"].meaning, _NO_RUN, least=0),
    number_column("goodput_percent", "%", "Goodput relative to the goodput of a path that is always full.", _NO_RUN, least=0, most=100),
    number_column("drop_percent", "%", "Share of the packets offered to the queue that were dropped.", _NO_RUN, least=0, most=100),
    number_column("mark_percent", "%", "Share of the packets offered to the queue that were marked CE.", _UNCOUNTED, least=0, most=100),
    number_column("jain_index", "", "Jain's index of the flows' goodputs.", _NO_RUN, least=0, most=1),
)  # fmt: skip
QUEUE_CELLS = Table(
    "queue_cells",
    "a cell: scenario, CCA and IP version",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        RUNS["platform"],
        SETTING,
        CONDITIONS,
        *DISCIPLINE_COLUMNS,
        SCENARIOS["queue_parameters"],
        count_column("n", "runs", "Number of valid runs."),
        *columns_with_intervals(*MEASURES),
        number_column("queue_drops", "packets", "Mean number of packets that the queue dropped in a run.", _NO_RUN),
        number_column("overflow_drops", "packets", "Mean number of packets dropped in a run because the queue was full.", f"{_UNCOUNTED}, or the queue is drop-tail"),
        number_column("queue_marks", "packets", "Mean number of packets that the queue marked CE in a run.", _UNCOUNTED),
        number_column("ce_received", "packets", "Mean number of packets that arrived with a CE mark.", "flows have no ECN"),
        number_column("ce_echoed", "segments", "Mean number of segments delivered while receivers reported CE.", "flows have no ECN, or a program over UDP is under test"),
        number_column("retransmits", "segments", "Mean number of segments retransmitted in a run.", _NO_RUN),
    ),
)  # fmt: skip
