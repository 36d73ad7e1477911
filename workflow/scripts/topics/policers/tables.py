"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, columns_with_intervals, count_column, number_column, text_column

_NO_RUN = "no valid run has a value"
#: Measures of a cell, each estimated with an interval.
MEASURES = (
    number_column("goodput_percent", "%", "Goodput relative to the rate that policer and bottleneck pass in the long term.", _NO_RUN, least=0, most=100),
    number_column(
        "policed_percent", "%", "Share of dropped packets among all packets that arrived at the policer.", "there is no policer",
        least=0, most=100,
    ),
    number_column("loss_percent", "%", "Share of all packets that were dropped by the policer, by the queue or as random loss.", _NO_RUN, least=0, most=100),
)  # fmt: skip
POLICER_CELLS = Table(
    "policer_cells",
    "a cell: scenario, CCA and IP version",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        text_column("policer", "The policer in words.", "there is no policer"),
        count_column("n", "runs", "Number of valid runs."),
        *columns_with_intervals(*MEASURES),
        number_column(
            "policer_drops",
            "packets",
            "Mean number of packets that the policer dropped in a run.",
            "there is no policer",
        ),
        number_column(
            "queue_drops", "packets", "Mean number of packets that the bottleneck's queue dropped in a run.", _NO_RUN
        ),
        number_column("retransmits", "segments", "Mean number of segments retransmitted in a run.", _NO_RUN),
    ),
)
