"""The analysis table of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, number_column, text_column
from topics.cells.tables import IN_UNIT, NOTE

_TOO_FEW = "there are too few values, or they are one measurement"
DELAY_PERCENTILES = Table(
    "delay_percentiles",
    "a percentile of a delay over the replications of a cell",
    (
        text_column("metric", "Column of the delay or completion time in `runs.csv`."),
        text_column("unit", "Its unit."),
        *LABELLED_CELL,
        number_column(
            "percentile", "%", "So much of all replications, of those that weren't run too, is at or below it."
        ),
        count_column("n", "runs", "Valid runs that have a value."),
        number_column(
            "value",
            IN_UNIT,
            "The smallest value that so much of them is at or below.",
            "there are too few for one to be above it",
        ),
        text_column(
            "bounds",
            "What is known of it: `interval` (both ends), `upper bound` (where there are too few values for both), or `none`. All "
            "by order statistics, whatever the distribution.",
        ),
        number_column("low", IN_UNIT, "Lower end.", f"it has an upper bound alone, or {_TOO_FEW}"),
        number_column("high", IN_UNIT, "Upper end.", _TOO_FEW),
        number_column(
            "held_percent",
            "%",
            "Exact chance that interval or bound holds it; that of the study's confidence or a little more.",
            _TOO_FEW,
        ),
        count_column("least_interval", "runs", "That an interval takes."),
        count_column("least_upper", "runs", "That an upper bound takes."),
        NOTE,
    ),
)
