"""The analysis table of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, number_column, text_column
from topics.cells.tables import IN_UNIT, NOTE

_TOO_FEW = "there are too few values, or all are equal"
DELAY_PERCENTILES = Table(
    "delay_percentiles",
    "a percentile of a delay over the replications of a cell",
    (
        text_column("metric", "Column of the delay or completion time in `runs.csv`."),
        text_column("unit", "Unit of the delay or completion time."),
        *LABELLED_CELL,
        number_column(
            "percentile",
            "%",
            "Share of all replications, including replications that were not run, at or below the value.",
        ),
        count_column("n", "runs", "Number of valid runs that have a value."),
        number_column(
            "value",
            IN_UNIT,
            "Estimate of the percentile: the smallest value at or below which `percentile` % of the runs lie.",
            "there are too few replications for one of them to lie above the percentile",
        ),
        text_column(
            "bounds",
            "Known bounds on the percentile: `interval` (both ends), `upper bound` (if there are too few values for both), or `none`. The "
            "bounds are order statistics, so they hold for any distribution.",
        ),
        number_column(
            "low", IN_UNIT, "Lower end of the percentile's interval.", f"there is only an upper bound, or {_TOO_FEW}"
        ),
        number_column(
            "high", IN_UNIT, "Upper end of the percentile's interval, or the upper bound on the percentile.", _TOO_FEW
        ),
        number_column(
            "held_percent",
            "%",
            "Coverage: exact probability that the percentile lies in the interval or below the bound; the study's confidence or slightly more.",
            _TOO_FEW,
        ),
        count_column("least_interval", "runs", "Smallest number of runs that gives an interval of the percentile."),
        count_column("least_upper", "runs", "Smallest number of runs that gives an upper bound on the percentile."),
        NOTE,
    ),
)
