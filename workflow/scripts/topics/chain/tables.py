"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, CONDITIONS, SCENARIO_LABEL, SETTING
from run_tables.table import Table, columns_with_intervals, count_column, number_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no valid run has a value"
_UNLIKE = "the bottlenecks differ, or the cross flows have another CCA"
CHAIN_CELLS = Table(
    "chain_cells",
    "a cell (scenario, CCA and IP version) of a chain, or of a dumbbell with two pairs of hosts, one bottleneck and no groups of flows",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        RUNS["platform"],
        SETTING,
        CONDITIONS,
        count_column("bottlenecks", "", "Number of bottlenecks in series."),
        count_column("long_flows", "", "Number of flows that cross all bottlenecks (in a dumbbell, the flows of the first pair)."),
        count_column("cross_flows", "", "Number of cross flows at each bottleneck."),
        count_column("n", "runs", "Number of valid runs."),
        *columns_with_intervals(
            number_column("long_share_percent", "%", "Share of the long flows in the goodput at a bottleneck, excluding start-up and averaged over bottlenecks.", _NO_RUN, least=0, most=100),
        ),
        number_column("long_goodput_mbps", "Mbit/s", "Mean goodput per long flow, excluding start-up.", _NO_RUN),
        number_column("cross_goodput_mbps", "Mbit/s", "Mean goodput per cross flow, excluding start-up.", _NO_RUN),
        number_column("used_percent", "%", "Goodput at a bottleneck as a percentage of the goodput of an always full bottleneck, averaged over bottlenecks.", _NO_RUN),
        number_column("long_rtt_ms", "ms", "Mean RTT of the long flows, including queues.", _NO_RUN),
        number_column("cross_rtt_ms", "ms", "Mean RTT of the cross flows, including queues.", _NO_RUN),
        number_column("long_retransmit_percent", "%", "Share of the long flows' segments that were retransmitted.", _NO_RUN),
        number_column("cross_retransmit_percent", "%", "Share of the cross flows' segments that were retransmitted.", _NO_RUN),
        number_column("queue_drop_percent", "%", "Share of the packets offered to a queue that were dropped, averaged over bottlenecks.", _NO_RUN),
        number_column("proportional_percent", "%", "Share of the long flows under proportional fairness: 1/(n + 1) for single flows.", _UNLIKE),
        number_column("minimum_delay_percent", "%", "Share of the long flows under minimum potential delay fairness: 1/(√n + 1) for single flows.", _UNLIKE),
        number_column("independent_percent", "%", "Theoretical share of long Reno flows at the measured RTTs if packets are lost independently.", f"{_UNLIKE}; the CCA isn't Reno; {_NO_RUN}"),
        number_column("synchronised_percent", "%", "Theoretical share of long Reno flows at the measured RTTs if an overflowing queue halves the windows of all its flows.", f"{_UNLIKE}; the CCA isn't Reno; {_NO_RUN}"),
    ),
)  # fmt: skip
