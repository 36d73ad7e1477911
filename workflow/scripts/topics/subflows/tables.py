"""The analysis table of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, CONDITIONS, SCENARIO_LABEL, SETTING
from run_tables.table import Table, columns_with_intervals, count_column, number_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no valid run has a value"
SUBFLOW_SHARES = Table(
    "subflow_shares",
    "a cell (scenario, CCA and IP version) in which subflows of MPTCP share a bottleneck with other flows",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        RUNS["platform"],
        SETTING,
        CONDITIONS,
        count_column("subflows", "", "Number of subflows of each flow of the first pair of hosts."),
        count_column("mptcp_flows", "", "Number of flows of the first pair of hosts."),
        count_column("other_flows", "", "Number of flows of the other pairs of hosts; each of these flows has one subflow."),
        count_column("n", "runs", "Number of valid runs."),
        *columns_with_intervals(
            number_column("share_percent", "%", "The first pair's share of the goodput of all flows, excluding start-up.", _NO_RUN, least=0, most=100),
        ),
        number_column("uncoupled_percent", "%", "Theoretical share of the first pair's flows if each subflow got as much as one of the other flows."),
        number_column("coupled_percent", "%", "Theoretical share of the first pair's flows if all subflows of a flow together got as much as one of the other flows. RFC 6356 allows no larger share."),
        number_column("mptcp_goodput_mbps", "Mbit/s", "Mean goodput per flow of the first pair, excluding start-up.", _NO_RUN),
        number_column("other_goodput_mbps", "Mbit/s", "Mean goodput per flow of the other pairs, excluding start-up.", _NO_RUN),
        number_column("mptcp_retransmit_percent", "%", "Share of the first pair's segments that were retransmitted; if a host has several flows, only retransmissions before the last reading of the sockets count.", _NO_RUN),
        number_column("other_retransmit_percent", "%", "Share of the other flows' segments that were retransmitted; if a host has several flows, only retransmissions before the last reading of the sockets count.", _NO_RUN),
    ),
)  # fmt: skip
