"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, columns_with_intervals, count_column, number_column, text_column

_NO_RUN = "no valid run has a value"
_NO_SUM = f"flows of the direction send at different times, for an amount of data or with pauses, or {_NO_RUN}"
#: Measures of one direction in a cell, each estimated with an interval.
MEASURES = (
    number_column("goodput_mbps", "Mbit/s", "Sum of the goodputs of all long flows in this direction, each averaged over the flow's lifetime.", _NO_SUM, least=0),
    number_column("used_percent", "%", "Goodput in this direction divided by the path's mean capacity in this direction, which includes headers.", f"nothing limits the rate, {_NO_SUM}", least=0, most=100),
    number_column("rtt_mean_ms", "ms", "Mean RTT of the flows in this direction.", _NO_RUN, least=0),
)  # fmt: skip
DIRECTION_CELLS = Table(
    "direction_cells",
    "a direction of a cell (scenario, CCA and IP version) whose long flows send both ways",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        text_column("direction", "Direction of the data: `forward` or `reverse`."),
        count_column("n", "runs", "Number of valid runs."),
        count_column("flows", "flows", "Number of long flows in this direction."),
        number_column("rtt_path_ms", "ms", "RTT of the empty path."),
        *columns_with_intervals(*MEASURES),
    ),
)
