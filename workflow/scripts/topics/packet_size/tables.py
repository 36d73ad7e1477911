"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column
from run_tables.tidy_tables import RUNS

_NO_RUN = "no run of the cell is valid"
_NO_SERVER = f"there is no server, or {_NO_RUN}"
_NOT_CALCULATED = "headers alone don't say it, or there is no mean"
_ONE_SIDE = "a side has no valid run"
_NOT_COMPARABLE = "a side has none, or platforms are compared"

SIZE_CELLS = Table(
    "size_cells",
    "a cell",
    (
        *LABELLED_CELL,
        RUNS["platform"],
        RUNS["background"],
        text_column(
            "traffic",
            "What is sent: `tcp`, `tcp-segments` (held to segments of the message's size), `udp`; of round trips "
            "`tcp-rtt`, `udp-rtt`.",
        ),
        RUNS["protocol"],
        text_column("metric", "What is measured: `goodput_mbps`, of round trips `rtt_mean_ms`."),
        text_column("unit", "Unit of the metric's values here: Mbit/s, of round trips µs."),
        text_column(
            "agrees",
            "Whether the mean is what is calculated, to 0.5 % and, of round trips, later by up to the allowance.",
            _NOT_CALCULATED,
        ),
        text_column("failed_checks", "Names of the checks that runs failed, parted by blanks.", "all its runs are valid"),
        RUNS["message_bytes"],
        RUNS["rate_mbps"],
        count_column("runs", "", "Number of the cell's runs, valid or not."),
        count_column("n", "", "Number of its valid runs that have a value."),
        count_column("measurements", "", "What they are worth: 1 if all lie within the resolution of the measurement, else `n`."),
        number_column("mean", "", "Mean of the metric over these runs, in the row's unit.", _NO_RUN),
        *interval_columns("ci_low", "ci_high", "", "the mean", "there are fewer than 6 runs or one measurement, or some runs lie apart from the others"),
        number_column("sd", "", "Standard deviation of the metric.", "there are fewer than two values"),
        number_column(
            "packet_bytes", "bytes", "Data of a packet: what was sent over all packets, a connection's first included.",
            f"the cell is of round trips, there is a server, or {_NO_RUN}",
        ),
        number_column("background_mbps", "Mbit/s", "What the server's answers took of the cable, a mean.", _NO_SERVER),
        number_column("background_back_mbps", "Mbit/s", "The same of the requests, in the other direction.", _NO_SERVER),
        number_column("calculated", "", "What headers alone make of the metric.", _NOT_CALCULATED),
        number_column("excess", "", "By how much the mean is more than is calculated.", _NOT_CALCULATED),
        number_column("difference_percent", "%", "The same in percent of what is calculated.", _NOT_CALCULATED),
        number_column(
            "allowance", "µs",
            "What a round trip may take longer: for the guest's clock and the server's messages; 0 of throughput.",
            _NOT_CALCULATED,
        ),
        number_column(
            "cpu_us", "µs", "CPU time of both hosts for a full packet; a mean over the runs.",
            f"the clock is not a real one, the cell is of round trips, or {_NO_RUN}",
        ),
        number_column("printed_mean", "", "The mean that the paper prints.", "it prints none"),
        number_column("printed_sd", "", "The standard deviation that the paper prints.", "it prints none"),
    ),
)  # fmt: skip
SIZE_DIFFERENCES = Table(
    "size_differences",
    "two cells that are compared: the second with the first",
    (
        text_column("question", "What the two cells differ by, and nothing else: `IP version`, `environment` or `platform`."),
        SIZE_CELLS["traffic"],
        text_column("background", "What else is on the path of both: `none` or `server`.", "this is what is compared"),
        text_column("ip_version", "IP version of both.", "this is what is compared"),
        text_column("platform", "Platform of both.", "this is what is compared"),
        SIZE_CELLS["cca"],
        text_column("first", "What the first cell has of what is compared: `ipv4`, `none` (no server), or a platform."),
        text_column("second", "What the second one has: `ipv6`, `server`, or a platform."),
        SIZE_CELLS["unit"],
        text_column("note", "Why there is no difference, or no interval.", "there are both, or too few pairs of runs"),
        text_column(
            "failed_checks", "Names of the checks that failed in cells without a valid run, parted by blanks.",
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
            "Second less first: the mean over pairs of runs with one seed, or that of the means where there are none.",
            _ONE_SIDE,
        ),
        *interval_columns(
            "ci_low", "ci_high", "", "the difference (of IP versions that of the pairs, else Welch's)",
            "there are fewer than two pairs, or fewer than two runs on a side, or what is compared are single measurements",
        ),
        number_column("percent", "%", "The difference in percent of the first mean.", _ONE_SIDE),
        number_column("expected", "", "The difference of what is calculated for both.", _NOT_COMPARABLE),
        number_column("expected_percent", "%", "The same in percent of what is calculated for the first.", _NOT_COMPARABLE),
        number_column(
            "printed_percent", "%", "The difference of the means that the paper prints, in percent of the first.",
            "it lacks one of them",
        ),
        number_column(
            "cpu_us", "µs", "CPU time of both hosts for a full packet under the real clock.",
            "platforms are not compared, or it is unknown",
        ),
    ),
)  # fmt: skip
