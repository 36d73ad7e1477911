"""The analysis tables of the topic, column by column."""

from dataclasses import replace

from run_tables.group_tables import GROUP_COLUMNS, GROUPS
from run_tables.run_keys import CELL_COLUMNS, CONDITIONS, SCENARIO_LABEL, SETTING
from run_tables.table import Table, columns_with_intervals, count_column, mean_of, number_column

_NO_RUN = "no valid run has a value"
_NOT_REACHED = "in a valid run too few objects were complete to reach the percentile, or no run is valid"
#: Minimum number of objects for which a 95th percentile is reported, in a finding or for a size class.
LEAST_OBJECTS = 20
#: Measures of a group that are estimated for each cell: columns of `GROUPS`.
MEASURES = tuple(
    mean_of(GROUPS[f"{name}_p{p}{unit}"], _NOT_REACHED)
    for name, unit in (("completion", "_ms"), ("slowdown", ""))
    for p in (50, 95, 99)
)
WORST = tuple(mean_of(GROUPS[f"completion_worst_p{p}_ms"]) for p in (50, 95, 99))
SHORT_FLOW_CELLS = Table(
    "short_flow_cells",
    "a group of web objects in a cell: scenario, CCA and IP version",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        SETTING,
        CONDITIONS,
        *GROUP_COLUMNS,
        count_column("n", "runs", "Number of valid runs."),
        number_column("members", "objects", "Mean number of objects requested in a run.", _NO_RUN),
        number_column("complete_percent", "%", "Share of the requested objects that were complete.", _NO_RUN),
        number_column(
            "watched_ms",
            "ms",
            "Longest time that a run waited for an object, averaged over runs. Percentiles that were not reached exceed this time.",
            _NO_RUN,
        ),
        *columns_with_intervals(*MEASURES),
        *(replace(column, empty=_NOT_REACHED) for column in WORST),
    ),
)
SHORT_FLOW_SIZES = Table(
    "short_flow_sizes",
    "web objects of one size class of a group in a cell, over all valid runs",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        SETTING,
        CONDITIONS,
        *GROUP_COLUMNS,
        number_column("from_bytes", "bytes", "Smallest size that belongs to the class, a power of 2."),
        number_column("to_bytes", "bytes", "Upper bound of the class (exclusive)."),
        count_column("n", "objects", "Number of requested objects in the class."),
        count_column(
            "complete",
            "objects",
            "Number of objects in the class that were complete; incomplete objects count as the slowest.",
        ),
        number_column(
            "slowdown_p50",
            "",
            "Median slowdown of the objects in the class.",
            "too few objects were complete to reach the median",
        ),
        number_column(
            "slowdown_p95",
            "",
            "95th percentile of the slowdown of the objects in the class.",
            "too few objects were complete to reach the percentile, or the class has fewer than 20 objects",
        ),
    ),
)
