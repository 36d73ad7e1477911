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
            "replications", "replications", "Number of the cell's runs, the same for each cell of its scenario."
        ),
        count_column("n", "runs", "Number of these that are valid and have a value."),
        number_column(
            "level_percent",
            "%",
            "Level of the interval, chosen so that the final interval contains the mean in 95 % of studies.",
        ),
        number_column("mean", IN_UNIT, "Mean of the values.", "there is no value"),
        number_column("low", IN_UNIT, "Lower end of its interval.", _NO_INTERVAL),
        number_column("high", IN_UNIT, "Upper end of its interval.", _NO_INTERVAL),
        number_column("half_width", "as `precision_unit` says", "Half-width of the interval.", _NO_INTERVAL),
        number_column("wanted", "as `precision_unit` says", "Largest half-width that the study accepts."),
        text_column("precision_unit", "`%` of the mean, or `points`: percentage points."),
        verdict_column(
            "verdict",
            "`precise`: no wider than required; `one measurement`: all values lie within the resolution of the measurement; "
            "`too wide`, `two kinds of run`, `too few values`: runs ended with the last look, or continue; `no value`.",
            unmeasured=("no value",),
        ),
    ),
)
