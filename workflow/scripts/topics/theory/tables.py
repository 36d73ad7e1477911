"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, LABELLED_CELL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column
from topics.cells.tables import IN_UNIT, NOTE

_NO_VALUE = "no valid run has both the model's inputs and a measurement, or the cell is not comparable"
_NO_INTERVAL = (
    "fewer than 6 runs have values, all have the same ratio, some are outliers, or the cell is not comparable"
)
_NO_LINE = "there is no regression, for the reason in `note`"
MODELS = Table(
    "models",
    "a model in a cell",
    (
        *LABELLED_CELL,
        text_column("model", "Model with which the cell is compared."),
        text_column(
            "quantity",
            "Modelled quantity: `goodput`, `goodput after start-up`, or the time that packets wait, which is called `Queueing delay` if the queue was sampled and `RTT above the path's shortest` otherwise.",
        ),
        text_column("unit", "Unit of the modelled quantity."),
        count_column("n", "runs", "Number of valid runs with both the model's inputs and a measurement."),
        number_column(
            "measured",
            IN_UNIT,
            "Mean of the measured values over the `n` runs, or over all valid runs if the cell can't be compared with the model.",
            "no valid run has a measurement",
        ),
        *interval_columns("ratio_low", "ratio_high", "", "`ratio`", _NO_INTERVAL),
        number_column("modelled", IN_UNIT, "Mean of the modelled values over the `n` runs.", _NO_VALUE),
        number_column("ratio", "", "`measured` divided by `modelled`.", _NO_VALUE),
        NOTE,
    ),
)
REGRESSIONS = Table(
    "regressions",
    "an exponent for a CCA and IP version",
    (
        text_column("response", "Quantity modelled as a power of `term`: goodput per flow after start-up."),
        *CELL_COLUMNS[1:],
        count_column("flows", "", "Number of flows under test."),
        number_column(
            "loss_configured_percent",
            "%",
            "Configured random loss in the scenarios of the fit.",
            "the configured loss varies",
        ),
        text_column(
            "term",
            "Quantity to which the exponent applies: `RTT` or `loss`, both measured after start-up; loss is the share of segments that were retransmitted.",
        ),
        number_column(
            "expected",
            "",
            "Exponent that the CCA's model predicts.",
            "no model gives an exponent for all fitted scenarios",
        ),
        number_column(
            "margin",
            "",
            "Largest difference from the expected exponent that counts as agreement.",
            "no exponent is expected, or no exponent was fitted",
        ),
        text_column(
            "expected_source", "Source of the expected exponent.", "no model gives an exponent for all fitted scenarios"
        ),
        number_column("estimate", "", "Fitted exponent.", _NO_LINE),
        *interval_columns("ci_low", "ci_high", "", "the exponent", _NO_LINE),
        number_column("r2", "", "Share of the logarithms' variance that the fit explains.", _NO_LINE),
        count_column("n", "runs", "Number of runs whose means were fitted."),
        count_column("scenarios", "scenarios", "Number of fitted scenarios, one point each."),
        text_column(
            "agrees",
            "`yes` if the whole interval lies within `margin` of the expected exponent, `no` if the whole interval lies outside.",
            "the interval crosses an edge of the margin, or no exponent is expected or fitted",
        ),
        NOTE,
    ),
)
