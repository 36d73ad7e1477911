"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, RUN_KEYS, SCENARIO_LABEL
from run_tables.table import Table, count_column, interval_columns, number_column, ordinal_column, text_column
from run_tables.tidy_tables import RUNS
from topics.buffers.kato_table import STARVED_SHARE
from topics.cells.tables import IN_UNIT, NOTE

#: Number that identifies a group of comparable scenarios, from `scenario_series.with_series`.
CONDITIONS = ordinal_column(
    "conditions", "Number of a set of conditions; scenarios with the same number differ only in buffer or platform."
)
BUFFER = text_column("buffer", "Limit of the bottleneck's queue as configured: `10 packets`, `0.5 BDP`.")
_PLACE_COLUMNS = (
    SCENARIO_LABEL,
    RUNS["platform"],
    CONDITIONS,
    BUFFER,
    number_column(
        "bdp_percent", "%", "The buffer's size divided by the path's bandwidth-delay product.",
        "the rate, the RTT or the size of a segment isn't known",
    ),
)  # fmt: skip
_NO_RATE = "nothing limits the rate, or other flows share the link"
_NO_SPREAD = "there is one flow"
#: Statistics of a run's flows. For each statistic, the mean over replications is estimated.
STATISTICS = (
    number_column("mean_mbps", "Mbit/s", "Mean goodput of the flows.", least=0),
    number_column("sd_mbps", "Mbit/s", "Standard deviation of the flows' goodputs, with the divisor n - 1.", _NO_SPREAD, least=0),
    number_column("min_mbps", "Mbit/s", "Goodput of the slowest flow.", least=0),
    number_column("q1_mbps", "Mbit/s", "First quartile of the flows' goodputs, interpolated linearly.", least=0),
    number_column("median_mbps", "Mbit/s", "Median of the flows' goodputs.", least=0),
    number_column("q3_mbps", "Mbit/s", "Third quartile of the flows' goodputs, interpolated linearly.", least=0),
    number_column("max_mbps", "Mbit/s", "Goodput of the fastest flow.", least=0),
    number_column("total_mbps", "Mbit/s", "Goodput of all flows under test together.", least=0),
    number_column("mean_percent", "%", "Mean goodput of the flows divided by the link's rate.", _NO_RATE, least=0, most=100),
    number_column(
        "sd_percent", "%", "Standard deviation of the flows' goodputs divided by the link's rate.",
        f"{_NO_SPREAD}, or {_NO_RATE}", least=0, most=100,
    ),
    number_column("total_percent", "%", "Goodput of all flows under test together divided by the link's rate.", _NO_RATE, least=0, most=100),
    number_column(
        "jain_index", "", "Jain's fairness index of the flows' goodputs: 1 if all are equal, 1/n if one flow gets everything.",
        "no flow delivered anything", least=0, most=1,
    ),
    count_column("starved", "flows", f"Number of flows that get less than {100 * STARVED_SHARE:.1f} % of their fair share."),
)  # fmt: skip
FLOW_GOODPUT = Table(
    "flow_goodput",
    "a valid run",
    (
        *RUN_KEYS,
        *_PLACE_COLUMNS,
        count_column("flows", "flows", "Number of flows under test."),
        number_column(
            "fair_share_mbps", "Mbit/s",
            "Fair share of a flow: an equal part of the link's rate, or of the total goodput if nothing limits the rate or other flows share the link.",
        ),
        *STATISTICS,
    ),
)  # fmt: skip
_NO_RUN = "no valid run has a value"
FLOW_GOODPUT_CELLS = Table(
    "flow_goodput_cells",
    "a statistic of a run's flows in a cell",
    (
        *CELL_COLUMNS,
        *_PLACE_COLUMNS,
        text_column("statistic", "Name of a column of `flow_goodput.csv`."),
        text_column("unit", "The statistic's unit.", "the statistic has no unit"),
        count_column("n", "runs", "Number of valid runs that have a value of the statistic."),
        number_column("mean", IN_UNIT, "Mean of the statistic over the valid runs that have a value.", _NO_RUN),
        *interval_columns(
            "ci_low", "ci_high", IN_UNIT, "the mean, clipped to possible values",
            "there are fewer than 6 values, all give the same value, or some are outliers",
        ),
        number_column("lowest", IN_UNIT, "Smallest value of the statistic in a valid run.", _NO_RUN),
        number_column("highest", IN_UNIT, "Largest value of the statistic in a valid run.", _NO_RUN),
        NOTE,
    ),
)  # fmt: skip
