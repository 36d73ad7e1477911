"""The analysis table of the topic, column by column."""

from run_tables.group_tables import GROUP_COLUMNS, GROUPS
from run_tables.run_keys import CELL_COLUMNS, CONDITIONS, SCENARIO_LABEL, SETTING
from run_tables.table import Table, columns_with_intervals, count_column, mean_of, number_column

_NO_RUN = "no valid run has a value"
#: Measures of a group that are estimated for each cell: columns of `GROUPS`.
MEASURES = tuple(
    mean_of(GROUPS[name])
    for name in (
        "delay_p50_ms", "delay_p95_ms", "delay_p99_ms", "queueing_p50_ms", "queueing_p95_ms", "queueing_p99_ms", "jitter_ms",
        "lost_percent",
    )
)  # fmt: skip
REAL_TIME_CELLS = Table(
    "real_time_cells",
    "a group of real-time streams in a cell: scenario, CCA and IP version",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        SETTING,
        CONDITIONS,
        *(column for column in GROUP_COLUMNS if column.name != "group_cca"),
        count_column("n", "runs", "Number of valid runs."),
        number_column("packets", "packets", "Mean number of packets sent in a run.", _NO_RUN),
        *columns_with_intervals(*MEASURES),
    ),
)
