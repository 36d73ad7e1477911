"""The topic's analysis table, column by column, and the columns that tables of metrics share."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column

#: Units of numbers whose unit differs from row to row.
IN_UNIT, IN_EFFECT_UNIT = "as `unit` says", "as `effect_unit` says"

#: A metric counts as steady if, after start-up, it changes by at most this percentage from the first half of the time to the second.
CHANGING_PERCENT = 10
METRIC = text_column("metric", "Column of the metric in `runs.csv`.")
UNIT = text_column("unit", "Unit of the metric.")
EFFECT_UNIT = text_column("effect_unit", "Unit of differences: `%`, `points`, or the unit of the metric.")
NOTE = text_column(
    "note", "Remarks on the row, such as the reason why a value can't be computed.", "there are no remarks"
)

#: Reasons for missing numbers in tables that compare pairs, and the columns for the test.
NO_TEST = "no test was made"
NO_SPREAD = "there are fewer than 6 pairs, some are outliers, all runs of each side give the same value, or all pairs have the same difference"
TOO_FEW_PAIRS = "there are too few pairs for a test, all runs of each side give the same value, or all pairs have the same difference"
MEAN_INTERVAL = interval_columns("ci_low", "ci_high", IN_EFFECT_UNIT, "the mean difference", NO_SPREAD)
PAIRED_TEST = (
    text_column(
        "test", "Test of the mean difference: `sign flips of the mean`, or `paired t` for more than 200 pairs.", NO_TEST
    ),
    number_column("statistic", "", "Statistic of the test: Student's t.", NO_TEST),
)

#: Reason why the columns for values that include excluded runs are empty.
NONE_KEPT = "no excluded run of the study has measured values"
_TESTED = "there are fewer than three values, or all are equal"
DESCRIPTIVE = Table(
    "descriptive",
    "a metric in a cell",
    (
        *LABELLED_CELL,
        METRIC,
        UNIT,
        count_column("runs", "runs", "Number of all runs in the cell."),
        count_column("n", "runs", "Number of valid runs that have a value."),
        count_column(
            "measurements",
            "",
            "Number of independent measurements: 1 if all values lie within the resolution of the measurement, otherwise `n`.",
            "there is no value",
        ),
        number_column("mean", IN_UNIT, "Mean of the values.", "there is no value"),
        *interval_columns(
            "ci_low",
            "ci_high",
            IN_UNIT,
            "the mean of runs like these, clipped to possible values",
            "there are fewer than 6 runs, all give the same value, or some are outliers",
        ),
        count_column(
            "apart",
            "runs",
            "Number of outliers on either side. Normally distributed values show a gap this wide in only 1 of 100 cells.",
            "there is no value",
        ),
        number_column(
            "mean_worst",
            IN_UNIT,
            "Mean if each run without a value had the worst possible value (a goodput of 0, a loss of 100 %). The mean of all runs lies between "
            "`mean_worst` and `mean` if the missing runs would not have been better on average than the other runs. They need not be missing at random.",
            "no run is missing, or the metric has no worst value",
        ),
        number_column("median", IN_UNIT, "Median of the values.", "there is no value"),
        number_column("sd", IN_UNIT, "Sample standard deviation of the values.", "there are fewer than two values"),
        number_column("min", IN_UNIT, "Smallest value.", "there is no value"),
        number_column("max", IN_UNIT, "Largest value.", "there is no value"),
        number_column("shapiro_w", "", "Statistic W of the Shapiro-Wilk test of normality.", _TESTED),
        number_column("shapiro_p", "", "p-value of the Shapiro-Wilk test of normality.", _TESTED),
        number_column(
            "mean_kept",
            IN_UNIT,
            "Mean of the values of all runs, including excluded runs that have a value.",
            f"there is no value, or {NONE_KEPT}",
        ),
        NOTE,
    ),
)
_NO_STEADY = "no run has a steady part"
STEADY = Table(
    "steady",
    "a metric in a cell, with and without start-up",
    (
        text_column("metric", "Column of `runs.csv` with the metric over the whole run."),
        text_column("steady_metric", "Column of `runs.csv` with the metric over the steady part."),
        text_column("unit", "Unit of `metric` and `steady_metric`."),
        *LABELLED_CELL,
        count_column("valid", "runs", "Number of valid runs with a value for the whole run."),
        count_column(
            "n",
            "runs",
            "Number of valid runs with values for the whole run and for the steady part; the following columns cover only these runs.",
        ),
        number_column(
            "left_out_percent", "%", "Mean share of the flows' common time that is left out as start-up.", _NO_STEADY
        ),
        number_column("whole_mean", IN_UNIT, "Mean of the metric over whole runs, including start-up.", _NO_STEADY),
        number_column("steady_mean", IN_UNIT, "Mean of the metric over the steady parts of the runs.", _NO_STEADY),
        EFFECT_UNIT,
        number_column(
            "effect", IN_EFFECT_UNIT, "Mean difference between the steady part and the whole run.", _NO_STEADY
        ),
        *interval_columns(
            "ci_low",
            "ci_high",
            IN_EFFECT_UNIT,
            "the mean difference",
            "there are fewer than 6 runs, some are outliers, all give the same value, or all differ by the same amount",
        ),
        NOTE,
    ),
)
