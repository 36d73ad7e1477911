"""The analysis tables of the topic, column by column."""

from run_tables.path_tables import PATHS
from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.scenario_table import SCENARIOS
from run_tables.table import Table, count_column, interval_columns, mean_of, number_column, text_column, truth_column
from run_tables.tidy_tables import RUNS

#: Columns of runs, and of a run's paths, that the tables average over a cell's valid runs.
RUN_MEANS = (
    "goodput_mbps", "transfer_s", "rtt_mean_ms", "packets_sent", "queue_drops", "retransmits", "out_of_order_segments",
    "out_of_order_mptcp", "reordering_events", "recoveries", "recoveries_undone", "spurious_retransmits",
    "cwnd_packets", "cpu_busy_percent", "cpu_seconds_per_gbyte",
)  # fmt: skip
PATH_MEANS = ("packets", "bytes", "queue_drops", "subflow_rtt_ms", "share_percent")


_NO_RATIO = "the scenario aggregates no paths, has no valid runs, or has no comparable single path with a valid run"
_NO_TIMES = f"no file was transferred, {_NO_RATIO}"
_NO_SINGLES = "all paths are alike, or a path has no comparable single path with a valid run"
_ONE_RUN = "fewer than 6 valid runs have a value, all give the same value, or some are outliers"
_ONE_RUN_EACH = "a ratio is missing, a side has fewer than 6 valid runs, all runs of each side give the same value, or some runs are outliers"

#: Columns that describe a cell's traffic and paths.
PLACE = (
    SCENARIO_LABEL,
    text_column(
        "environment",
        "The paper's name for the environment: `tun4_path6` means tunnels over IPv6 that carry IPv4; `mptcp4` and `baseline4` mean "
        "MPTCP and plain TCP over IPv4.",
    ),
    text_column("joined", "Method that aggregates the paths, in words."),
    text_column("by", "Method that aggregates the paths: `none`, `mptcp` or `gre`."),
    *(SCENARIOS[name] for name in ("distribution", "application", "rate_mbps", "paths")),
    truth_column("even", "Whether all paths are alike."),
    SCENARIOS["path_delay_ms"],
    text_column(
        "unlike", "Differences between the paths other than their delay, in words.", "there are no such differences"
    ),
    SCENARIOS["platform"],
    text_column(
        "conditions",
        "Conditions, in words, that distinguish the scenario from others with the same application, rate and platform.",
        "there are no such conditions",
    ),
)
AGGREGATION = Table(
    "aggregation",
    "a cell",
    (
        *CELL_COLUMNS,
        *PLACE,
        count_column("n", "", "Number of valid runs."),
        *(mean_of(RUNS[name]) for name in RUN_MEANS),
        *interval_columns("goodput_low", "goodput_high", "Mbit/s", "the mean goodput", _ONE_RUN, least=0),
        number_column(
            "goodput_sd_percent",
            "%",
            "Standard deviation of the goodput over the valid runs, relative to the mean.",
            "fewer than two runs are valid",
        ),
        *interval_columns(
            "transfer_low", "transfer_high", "s", "the mean duration of the file transfer", _ONE_RUN, least=0
        ),
        *interval_columns(
            "cpu_busy_low", "cpu_busy_high", "%", "the mean busy share of the cores", _ONE_RUN, least=0, most=100
        ),
        number_column(
            "ceiling_mbps",
            "Mbit/s",
            "Ideal goodput, averaged over the valid runs: the sum of the paths' rates, excluding headers.",
            "no run is valid",
        ),
        number_column("ceiling_percent", "%", "Mean goodput relative to `ceiling_mbps`.", "no run is valid"),
        text_column(
            "baseline",
            "Identifier of the scenario with a single path under the same conditions.",
            "there is no such scenario or more than one, no run is valid, or the paths differ in more than their delay",
        ),
        number_column(
            "factor", "", "Goodput divided by the goodput of `baseline`, as a ratio of geometric means.", _NO_RATIO
        ),
        *interval_columns("factor_low", "factor_high", "", "`factor`", _ONE_RUN_EACH),
        number_column("ceiling_factor", "", "`ceiling_mbps` divided by the ceiling of `baseline`.", _NO_RATIO),
        number_column(
            "time_factor",
            "",
            "Duration of a transfer in `baseline` divided by the duration in this cell, as a ratio of geometric means.",
            _NO_TIMES,
        ),
        *interval_columns("time_factor_low", "time_factor_high", "", "`time_factor`", _ONE_RUN_EACH),
        count_column(
            "best_path", "", "Number, from 1, of the path with the highest mean goodput as a single path.", _NO_SINGLES
        ),
        number_column("best_mbps", "Mbit/s", "Mean goodput over the best single path.", _NO_SINGLES),
        number_column("sum_mbps", "Mbit/s", "Sum of the mean goodputs of all single paths.", _NO_SINGLES),
        number_column(
            "best_factor",
            "",
            "Goodput divided by the goodput of the best single path, as a ratio of geometric means.",
            _NO_SINGLES,
            least=0,
        ),
        *interval_columns("best_factor_low", "best_factor_high", "", "`best_factor`", _ONE_RUN_EACH, least=0),
        number_column(
            "sum_factor",
            "",
            "Goodput divided by the sum of the single paths' goodputs, as a ratio of geometric means.",
            _NO_SINGLES,
            least=0,
        ),
        *interval_columns("sum_factor_low", "sum_factor_high", "", "`sum_factor`", _ONE_RUN_EACH, least=0),
        text_column(
            "equation",
            "Verdict on whether `time_factor` (for a file transfer) or `factor` equals the number of paths: `as the equation`, "
            "`not as the equation`, or `open`.",
            "there is no ratio",
        ),
        text_column(
            "note",
            "Reason why there is no ratio, no mean, or no interval.",
            "the row has all values that its scenario can have",
        ),
    ),
)
PATH_SHARES = Table(
    "path_shares",
    "a path in a cell",
    (
        *CELL_COLUMNS,
        *PLACE,
        PATHS["path"],
        count_column("n", "", "Number of valid runs."),
        *(mean_of(PATHS[name]) for name in PATH_MEANS),
        number_column(
            "share_lowest",
            "%",
            "Smallest share of the packets in a valid run.",
            "no packet left the sender in any valid run",
        ),
        number_column(
            "share_highest",
            "%",
            "Largest share of the packets in a valid run.",
            "no packet left the sender in any valid run",
        ),
    ),
)
