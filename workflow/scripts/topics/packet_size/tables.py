"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no run of the cell is valid"
_NO_SERVER = f"there is no server, or {_NO_RUN}"
_NOT_CALCULATED = "headers alone don't determine the value, or there is no mean"
_ONE_SIDE = "a side has no valid run"
_NOT_COMPARABLE = "a side has no calculated value, or platforms are compared"

SIZE_CELLS = Table(
    "size_cells",
    "a cell",
    (
        *LABELLED_CELL,
        RUNS["platform"],
        RUNS["background"],
        text_column(
            "traffic",
            "Kind of traffic: `tcp`, `tcp-segments` (limited to segments of the message's size), `udp`; for round trips "
            "`tcp-rtt`, `udp-rtt`.",
        ),
        RUNS["protocol"],
        text_column("metric", "Measured metric: `goodput_mbps`, or `rtt_mean_ms` for round trips."),
        text_column("unit", "Unit of the metric's values in this table: Mbit/s, or µs for round trips."),
        text_column(
            "agrees",
            "Whether the mean agrees with the calculated value within 0.5 %; a round trip may also be longer by the `allowance`.",
            _NOT_CALCULATED,
        ),
        text_column("failed_checks", "Names of the checks that runs of the cell failed, separated by spaces.", "all runs of the cell are valid"),
        RUNS["message_bytes"],
        RUNS["rate_mbps"],
        count_column("runs", "", "Number of the cell's runs, valid or not."),
        count_column("n", "", "Number of the cell's valid runs that have a value."),
        count_column("measurements", "", "Number of independent measurements: 1 if all values lie within the resolution of the measurement, otherwise `n`."),
        count_column("outliers", "runs", "Number of outliers among the values; if there are any, neither the mean nor a difference between independent cells has an interval."),
        number_column("mean", "", "Mean of the metric over the valid runs, in the row's unit.", _NO_RUN),
        *interval_columns("ci_low", "ci_high", "", "the mean", "there are fewer than 6 runs, all give the same value, or some are outliers"),
        number_column("sd", "", "Standard deviation of the metric.", "there are fewer than two values"),
        number_column(
            "packet_bytes", "bytes", "Mean data per packet: bytes sent divided by the number of all packets, including packets that set up connections.",
            f"the cell measures round trips, there is a server, or {_NO_RUN}",
        ),
        number_column("background_mbps", "Mbit/s", "Mean rate of the server's answers on the cable.", _NO_SERVER),
        number_column("background_back_mbps", "Mbit/s", "Mean rate of the requests to the server, in the other direction of the cable.", _NO_SERVER),
        number_column("calculated", "", "Value of the metric calculated from the headers alone, in the row's unit.", _NOT_CALCULATED),
        number_column("excess", "", "Excess of the mean over the calculated value, in the row's unit.", _NOT_CALCULATED),
        number_column("difference_percent", "%", "Excess of the mean over the calculated value, as a percentage of the calculated value.", _NOT_CALCULATED),
        number_column(
            "allowance", "µs",
            "Additional time that a round trip may take, because of the guest's clock and the server's messages; 0 for throughput.",
            _NOT_CALCULATED,
        ),
        number_column(
            "cpu_us", "µs", "CPU time of both hosts for a full packet, averaged over the runs.",
            f"the clock is virtual, the cell measures round trips, or {_NO_RUN}",
        ),
        number_column("printed_mean", "", "The mean that the paper prints.", "the paper prints none"),
        number_column("printed_sd", "", "The standard deviation that the paper prints.", "the paper prints none"),
    ),
)  # fmt: skip
SIZE_DIFFERENCES = Table(
    "size_differences",
    "two cells, the second compared with the first",
    (
        text_column("question", "The only factor in which the two cells differ: `IP version`, `environment` or `platform`."),
        SIZE_CELLS["traffic"],
        text_column("background", "Background traffic of both cells: `none` or `server`.", "environments are compared"),
        text_column("ip_version", "IP version of both cells.", "IP versions are compared"),
        text_column("platform", "Platform of both cells.", "platforms are compared"),
        SIZE_CELLS["cca"],
        text_column("first", "Level of the compared factor in the first cell: `ipv4`, `none` (no server), or a platform."),
        text_column("second", "Level of the compared factor in the second cell: `ipv6`, `server`, or a platform."),
        SIZE_CELLS["unit"],
        text_column("note", "Reason why there is no difference, or no interval; for pairs of runs, also the number of incomplete pairs.", "the difference and its interval are known, and no pair of runs is incomplete"),
        text_column(
            "failed_checks", "Names of the checks that failed in cells without a valid run, separated by spaces.",
            "both cells have a valid run",
        ),
        SIZE_CELLS["message_bytes"],
        SIZE_CELLS["rate_mbps"],
        count_column("n_first", "", "Number of valid runs of the first cell."),
        count_column("n_second", "", "Number of valid runs of the second cell."),
        number_column("mean_first", "", "Mean of the first cell, in the row's unit.", _NO_RUN),
        number_column("mean_second", "", "Mean of the second cell, in the row's unit.", _NO_RUN),
        number_column(
            "difference", "",
            "Second cell minus first: the mean over pairs of runs with the same seed, or the difference of the means if there are no pairs.",
            _ONE_SIDE,
        ),
        *interval_columns(
            "ci_low", "ci_high", "", "the difference (paired for IP versions, otherwise Welch's)",
            "there are fewer than 6 pairs or fewer than 6 runs on a side, some pairs or runs are outliers, or all runs give the same value",
        ),
        number_column("percent", "%", "`difference` as a percentage of `mean_first`.", _ONE_SIDE),
        number_column("expected", "", "Difference between the two calculated values.", _NOT_COMPARABLE),
        number_column("expected_percent", "%", "Difference between the two calculated values, as a percentage of the first cell's value.", _NOT_COMPARABLE),
        number_column(
            "printed_percent", "%", "Difference between the two means that the paper prints, as a percentage of the first cell's mean.",
            "the paper doesn't print both means",
        ),
        number_column(
            "cpu_us", "µs", "CPU time of both hosts for a full packet under the real clock.",
            "platforms are not compared, or the CPU time is unknown",
        ),
    ),
)  # fmt: skip
