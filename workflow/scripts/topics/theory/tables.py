"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, LABELLED_CELL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column
from topics.cells.tables import IN_UNIT, NOTE

_NO_VALUE = "no valid run has what the model needs and a measurement, or the cell is not comparable"
_NO_INTERVAL = "there are fewer than two such runs"
_NO_LINE = "there is no regression, for the reason in `note`"
MODELS = Table(
    "models",
    "a model in a cell",
    (
        *LABELLED_CELL,
        text_column("model", "Model that the cell is held against."),
        text_column(
            "quantity",
            "What it is of: `goodput`, `goodput after start-up`, or how long packets waited: `Queueing delay` where the queue was sampled, else `RTT above the path's shortest`.",
        ),
        text_column("unit", "Unit of this quantity."),
        count_column("n", "runs", "Valid runs that have what the model needs and a measurement."),
        number_column(
            "measured",
            IN_UNIT,
            "Mean over these runs of what was measured; over all valid ones of a cell that is not comparable.",
            "no valid run has a measurement",
        ),
        *interval_columns("ratio_low", "ratio_high", "", "`ratio`", _NO_INTERVAL),
        number_column("modelled", IN_UNIT, "Mean over these runs of what the model gives.", _NO_VALUE),
        number_column("ratio", "", "Measured over modelled.", _NO_VALUE),
        NOTE,
    ),
)
REGRESSIONS = Table(
    "regressions",
    "an exponent of a CCA and IP version",
    (
        text_column("response", "What goes with a power of `term`: goodput per flow after start-up."),
        *CELL_COLUMNS[1:],
        count_column("flows", "", "Number of flows under test."),
        number_column(
            "loss_configured_percent", "%", "Random loss that is set in the scenarios of the fit.", "it is what varies"
        ),
        text_column(
            "term",
            "What the exponent is of: `RTT` or `loss`, both as measured after start-up; loss is the share of segments that were retransmitted.",
        ),
        number_column(
            "expected", "", "Exponent that the CCA's model has.", "no model gives one for all of these scenarios"
        ),
        number_column(
            "margin",
            "",
            "Largest distance from it that counts as agreement.",
            "no exponent is expected, or none fitted",
        ),
        text_column("expected_source", "Where this exponent is from.", "no model gives one for all of these scenarios"),
        number_column("estimate", "", "Fitted exponent.", _NO_LINE),
        *interval_columns("ci_low", "ci_high", "", "the exponent", _NO_LINE),
        number_column("r2", "", "Share of the logarithms' variance that the fit explains.", _NO_LINE),
        count_column("n", "runs", "Runs whose means were fitted."),
        count_column("scenarios", "scenarios", "Scenarios that were fitted, a point each."),
        text_column(
            "agrees",
            "`yes` if the whole interval lies within `margin` of the expected exponent, `no` if all of it lies outside.",
            "it reaches both sides, so that it is too imprecise to say, or no exponent is expected or fitted",
        ),
        NOTE,
    ),
)
