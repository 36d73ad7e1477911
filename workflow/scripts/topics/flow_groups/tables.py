"""The analysis table of the topic, column by column."""

from dataclasses import replace

from run_tables.group_tables import GROUP_COLUMNS, GROUPS
from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, columns_with_intervals, count_column, mean_of, number_column

_NO_RUN = "no valid run has a value"
_SHARE = number_column(
    "share_percent",
    "%",
    "The group's share of the total goodput of long flows and programs in the same direction, averaged over the valid runs.",
    f"the groups send at different times, a group pauses, or {_NO_RUN}",
    least=0,
    most=100,
)
GROUP_CELLS = Table(
    "group_cells",
    "a group of long flows or programs in a cell: scenario, CCA and IP version",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        *GROUP_COLUMNS,
        *(GROUPS[name] for name in ("start_s", "stop_s", "members")),
        count_column("n", "runs", "Number of valid runs."),
        *columns_with_intervals(replace(mean_of(GROUPS["goodput_mbps"]), least=0), _SHARE),
        number_column("flow_mbps", "Mbit/s", "Mean goodput of the group divided by the number of its flows.", _NO_RUN),
    ),
)
