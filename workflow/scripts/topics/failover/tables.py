"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.scenario_table import SCENARIOS
from run_tables.table import Table, columns_with_intervals, count_column, number_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no valid run has a value"
_NOT_BACK = "the path was not used again in any run, or no run is valid"
FAILOVERS = Table(
    "failovers",
    "a cell (scenario, CCA and IP version) with a path that goes down",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        RUNS["platform"],
        SCENARIOS["paths"],
        SCENARIOS["outage_path"],
        SCENARIOS["outage_at_s"],
        SCENARIOS["outage_for_s"],
        count_column("n", "runs", "Number of valid runs."),
        number_column("path_ideal_mbps", "Mbit/s", "Goodput over the path that goes down, if it were always full and never down.", _NO_RUN),
        number_column("before_mbps", "Mbit/s", "Rate of acknowledged data on all paths in the second half of the time before the outage.", _NO_RUN),
        number_column("during_mbps", "Mbit/s", "Rate of acknowledged data on all paths in the second half of the outage.", _NO_RUN),
        number_column("after_mbps", "Mbit/s", "Rate of acknowledged data on all paths in the last quarter of the traffic's duration, or after the outage if it ends later.", _NO_RUN),
        *columns_with_intervals(
            number_column("standstill_s", "s", "Longest time without an acknowledgement on any path, between the start of the outage and the next use of the path.", _NO_RUN, least=0),
            number_column("return_s", "s", "Time from the end of the outage until data were acknowledged on the path, to the resolution of the samples.", _NOT_BACK, least=0),
        ),
        count_column("returned", "runs", "Number of valid runs in which the path was used again after the outage."),
        number_column("outage_drops", "packets", "Mean number of packets lost in the data's direction because the path was down.", _NO_RUN),
    ),
)  # fmt: skip
