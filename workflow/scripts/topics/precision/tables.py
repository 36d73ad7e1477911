"""The analysis table of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, number_column, text_column, verdict_column
from topics.cells.tables import IN_UNIT, METRIC, UNIT

_NO_INTERVAL = "the verdict gives the reason"

PRECISION = Table(
    "precision",
    "a metric with a required precision, in a cell",
    (
        *LABELLED_CELL,
        METRIC,
        UNIT,
        count_column(
            "replications", "replications", "Number of runs in the cell; all cells of a scenario have the same number."
        ),
        count_column("n", "runs", "Number of runs that are valid and have a value."),
        number_column(
            "level_percent",
            "%",
            "Confidence level of the interval. The level is raised so that the final interval contains the true mean with the "
            "study's confidence.",
        ),
        number_column("mean", IN_UNIT, "Mean of the values.", "there is no value"),
        number_column("low", IN_UNIT, "Lower end of the mean's interval.", _NO_INTERVAL),
        number_column("high", IN_UNIT, "Upper end of the mean's interval.", _NO_INTERVAL),
        number_column(
            "half_width", "as `precision_unit` says", "Larger half-width of the mean's interval.", _NO_INTERVAL
        ),
        number_column("wanted", "as `precision_unit` says", "Largest half-width that the study accepts."),
        text_column("precision_unit", "Unit of half-widths: `%` of the mean, or `points` (percentage points)."),
        verdict_column(
            "verdict",
            "`precise`: the interval is no wider than required; `one measurement`: all values lie within the resolution of the "
            "measurement, in every metric; `equal values`: all values of this metric do, and there are enough of them that at most a tenth of all runs have "
            "another value; `too wide`, `two kinds of run`, `too few values`, `equal so far`: the mean isn't precise enough, so the scenario continues "
            "unless this was the last look; `no value`.",
            unmeasured=("no value",),
        ),
    ),
)
