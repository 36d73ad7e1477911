"""The analysis tables of the topic, column by column."""

from run_tables.table import Table, count_column, number_column, text_column
from topics.cells.tables import IN_UNIT, METRIC, NOTE, UNIT

#: The hypotheses that the paper tests.
HYPOTHESES = {
    "H0": "TCP performs equally well over IPv4 and IPv6",
    "H1": "TCP performs better over IPv4",
    "H2": "TCP performs better over IPv6",
}
_NAME = text_column("name", "Name of the metric.")
_TESTED = "there are fewer than three values, or all are equal"
POOLED = Table(
    "pooled",
    "a metric over one IP version",
    (
        METRIC,
        _NAME,
        UNIT,
        text_column("ip_version", "`ipv4` or `ipv6`."),
        count_column("n", "runs", "Number of valid runs of all scenarios and CCAs that have a value."),
        number_column("mean", IN_UNIT, "Mean of the values.", "there is no value"),
        number_column("median", IN_UNIT, "Median of the values.", "there is no value"),
        number_column(
            "mode",
            IN_UNIT,
            "Most frequent value, rounded to the decimals that the paper prints.",
            "several values are the most frequent",
        ),
        text_column(
            "mode_note", "Rounding of the values, and the frequency of the mode or the reason why there is none."
        ),
        number_column("sd", IN_UNIT, "Sample standard deviation of the values.", "there are fewer than two values"),
        number_column("shapiro_w", "", "Statistic W of the Shapiro-Wilk test of normality.", _TESTED),
        number_column("shapiro_p", "", "p-value of the Shapiro-Wilk test of normality.", _TESTED),
        NOTE,
    ),
)
_NO_TEST = "no test was made, for the reason in `note`"
POOLED_TESTS = Table(
    "pooled_tests",
    "a metric",
    (
        METRIC,
        _NAME,
        count_column("n_ipv4", "runs", "Number of valid runs over IPv4 that have a value."),
        count_column("n_ipv6", "runs", "Number of valid runs over IPv6 that have a value."),
        number_column("u", "", "U of the IPv4 values in the Mann-Whitney test.", _NO_TEST),
        number_column("p", "", "Two-sided p-value of the Mann-Whitney test.", _NO_TEST),
        text_column("conclusion", "Decision on the null hypothesis: `H0 kept` or `H0 rejected`.", _NO_TEST),
        text_column("hypothesis", "Hypothesis of the paper that the result supports.", _NO_TEST),
        text_column("note", "Reason why no test was made.", "a test was made"),
    ),
)
