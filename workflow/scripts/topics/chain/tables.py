"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, CONDITIONS, SCENARIO_LABEL, SETTING
from run_tables.table import Table, columns_with_intervals, count_column, number_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no valid run has a value"
_UNLIKE = "the bottlenecks are not alike, or the cross flows have a CCA of their own"
CHAIN_CELLS = Table(
    "chain_cells",
    "a cell, scenario, CCA and IP version, of a chain, or of a dumbbell with two pairs of hosts: one bottleneck",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        RUNS["platform"],
        SETTING,
        CONDITIONS,
        count_column("bottlenecks", "", "Number of bottlenecks in a row."),
        count_column("long_flows", "", "Number of flows that pass all of them (of a dumbbell: those of the first pair)."),
        count_column("cross_flows", "", "Number of flows that cross each single one."),
        count_column("n", "runs", "Valid runs."),
        *columns_with_intervals(
            number_column("long_share_percent", "%", "Share of the long flows in what a bottleneck delivers, without start-up; the mean over bottlenecks.", _NO_RUN, least=0, most=100),
        ),
        number_column("long_goodput_mbps", "Mbit/s", "Mean goodput of a long flow without start-up.", _NO_RUN),
        number_column("cross_goodput_mbps", "Mbit/s", "Mean goodput of a cross flow without start-up.", _NO_RUN),
        number_column("used_percent", "%", "Goodput at a bottleneck over what it would be if it were always full; the mean over bottlenecks.", _NO_RUN),
        number_column("long_rtt_ms", "ms", "Mean RTT of the long flows, queues included.", _NO_RUN),
        number_column("cross_rtt_ms", "ms", "Mean RTT of the cross flows, queues included.", _NO_RUN),
        number_column("long_retransmit_percent", "%", "Retransmits of the long flows over their segments.", _NO_RUN),
        number_column("cross_retransmit_percent", "%", "Retransmits of the cross flows over their segments.", _NO_RUN),
        number_column("queue_drop_percent", "%", "Packets that a queue dropped, of those offered to it; the mean over bottlenecks.", _NO_RUN),
        number_column("proportional_percent", "%", "The long flows' share by proportional fairness: 1/(n + 1) for single flows.", _UNLIKE),
        number_column("minimum_delay_percent", "%", "By minimum potential delay fairness: 1/(√n + 1) for single flows.", _UNLIKE),
        number_column("independent_percent", "%", "Of Reno, where packets are lost on their own, with the RTTs that were measured.", f"{_UNLIKE}; another CCA; {_NO_RUN}"),
        number_column("synchronised_percent", "%", "Of Reno, where a queue's overflow halves all windows of its flows, with the RTTs that were measured.", f"{_UNLIKE}; another CCA; {_NO_RUN}"),
    ),
)  # fmt: skip
