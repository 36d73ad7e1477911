"""The analysis tables of the topic, column by column, and the methods that compare IP versions over the entire study."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column, verdict_column
from topics.cells.tables import (
    EFFECT_UNIT,
    IN_EFFECT_UNIT,
    IN_UNIT,
    METRIC,
    NO_TEST,
    NONE_KEPT,
    NOTE,
    PAIRED_TEST,
    TOO_FEW_PAIRS,
    UNIT,
)

POOLED = "Mann-Whitney, pooled"
BY_SCENARIO = "Mean over scenarios, one value each"
EQUAL = "equal"
MSS_RATIO = "ratio of the MSSs"
#: Method -> its `statistic`, and the units that the test treats as independent.
METHODS = {
    POOLED: "U of the IPv4 values. Every run counts as independent, regardless of scenario and CCA.",
    BY_SCENARIO: (
        "Student's t of the scenarios' mean paired differences. The scenario is the unit of analysis, so cells with the same seeds, "
        "and runs that give the same value, count once. p comes from sign flips, and is Holm-corrected over all tests by scenario."
    ),
}

_SCENARIO, _CCA, _ = CELL_COLUMNS
_NO_PAIR = "no replication has a value for both IP versions"
_UNDER_THREE = "there are fewer than three pairs, or all give the same values"
_NO_INTERVAL = "there are fewer than 6 pairs, all pairs give the same values, or some are outliers"
_TOO_LARGE = "the difference would be more than 50 standard deviations, or no test was made"
_NEEDED = "the number would be more than 10,000, or no test was made"
_NOT_EXPECTED = "the metric isn't goodput, or the segment size is unknown or not the same in all runs"
_UNTESTED = "the difference wasn't compared with an expected effect, or has no interval"
IP_VERSION_TESTS = Table(
    "ip_versions",
    "a metric in a scenario and CCA",
    (
        METRIC,
        UNIT,
        text_column(
            "scale", "Scale of the difference: `ratio`, `relative` (to the mean of both IP versions) or `points`."
        ),
        EFFECT_UNIT,
        _SCENARIO,
        SCENARIO_LABEL,
        _CCA,
        count_column("pairs", "replications", "Number of replications in which both IP versions have a value."),
        count_column(
            "n",
            "replications",
            "Number of independent pairs: 1 if all runs of each IP version give the same value within the measurement's resolution.",
        ),
        number_column("mean_ipv4", IN_UNIT, "Mean of the IPv4 values in the paired replications.", _NO_PAIR),
        number_column("mean_ipv6", IN_UNIT, "Mean of the IPv6 values in the paired replications.", _NO_PAIR),
        number_column(
            "effect", IN_EFFECT_UNIT, "Mean difference between IPv6 and IPv4; for ratios the geometric mean.", _NO_PAIR
        ),
        *interval_columns("ci_low", "ci_high", IN_EFFECT_UNIT, "the mean difference", _NO_INTERVAL),
        number_column(
            "ci90_low",
            IN_EFFECT_UNIT,
            "Lower end of the interval that corresponds to the two one-sided tests (confidence level 1 - 2 x significance).",
            _NO_INTERVAL,
        ),
        number_column(
            "ci90_high",
            IN_EFFECT_UNIT,
            "Upper end of the interval that corresponds to the two one-sided tests (confidence level 1 - 2 x significance).",
            _NO_INTERVAL,
        ),
        number_column("hl", IN_EFFECT_UNIT, "Hodges-Lehmann estimate of the difference.", _NO_PAIR),
        *interval_columns(
            "hl_low", "hl_high", IN_EFFECT_UNIT, "the Hodges-Lehmann estimate, by signed ranks", TOO_FEW_PAIRS
        ),
        number_column(
            "rank_biserial",
            "",
            "Rank-biserial correlation: 1 if IPv6 is higher in every pair, -1 if it is lower in every pair.",
            _NO_PAIR,
        ),
        number_column(
            "normality_p",
            "",
            "p-value of the Shapiro-Wilk test for the paired differences; the choice of `test` doesn't depend on this p-value.",
            _UNDER_THREE,
        ),
        *PAIRED_TEST,
        number_column("p", "", "p-value of the test of the null hypothesis that the IP versions are equal.", NO_TEST),
        number_column("p_holm", "", "p after Holm's correction for all cells and metrics.", NO_TEST),
        number_column("p_bh", "", "p after Benjamini and Hochberg's correction for all cells and metrics.", NO_TEST),
        number_column(
            "expected_effect",
            "%",
            "Difference expected from the longer header alone: the ratio of the MSSs.",
            _NOT_EXPECTED,
        ),
        number_column(
            "p_expected",
            "",
            "p-value of the two one-sided tests for a difference within the study's margin around the expected effect.",
            _UNTESTED,
        ),
        text_column(
            "as_expected",
            "`yes` if the difference is shown to be within the margin around the expected effect, `no` if it is shown to be outside, otherwise `open`.",
            _UNTESTED,
        ),
        count_column("apart_ipv4", "runs", "Number of IPv4 runs of the cell that are outliers.", _NO_PAIR),
        count_column("apart_ipv6", "runs", "Number of IPv6 runs of the cell that are outliers.", _NO_PAIR),
        count_column("apart_pairs", "replications", "Number of pairs whose difference is an outlier.", _NO_PAIR),
        number_column(
            "apart_possible_percent",
            "%",
            "Largest share of outliers among pairs that can't be ruled out: the exact one-sided upper confidence bound.",
            _NO_PAIR,
        ),
        number_column(
            "margin", IN_EFFECT_UNIT, "The study's margin of equivalence: differences up to this size count as none."
        ),
        number_column(
            "p_tost", "", "p-value of the two one-sided tests for a difference within the margin.", _NO_INTERVAL
        ),
        text_column(
            "equivalent", "`yes` if the difference is shown to be within the margin, otherwise `no`.", _NO_INTERVAL
        ),
        number_column(
            "smallest_margin", IN_EFFECT_UNIT, "The smallest margin at which equivalence would be shown.", _NO_INTERVAL
        ),
        number_column(
            "detectable",
            IN_EFFECT_UNIT,
            "The smallest true difference that the test of `pairs` pairs detects with the study's power, if differences are normally distributed. "
            "The significance level is the level of the first test in Holm's procedure over all cells and metrics.",
            _TOO_LARGE,
        ),
        *interval_columns(
            "detectable_low",
            "detectable_high",
            IN_EFFECT_UNIT,
            "the detectable difference, from the interval of the standard deviation",
            _TOO_LARGE,
        ),
        count_column(
            "pairs_needed",
            "replications",
            "Number of pairs needed to detect the difference that the study specifies; never less than the number with which a test can be significant.",
            _NEEDED,
        ),
        count_column(
            "pairs_needed_low",
            "replications",
            "Lower end of the range of `pairs_needed`, from the interval of the standard deviation.",
            _NEEDED,
        ),
        count_column(
            "pairs_needed_high",
            "replications",
            "Upper end of the range of `pairs_needed`, from the interval of the standard deviation.",
            _NEEDED,
        ),
        verdict_column("verdict", "Conclusion; the report explains each verdict.", unmeasured=("no test",)),
        text_column("verdict_kept", "The verdict if excluded runs are kept.", NONE_KEPT),
        NOTE,
    ),
)
_NOT_BY_SCENARIO = "the method isn't the test by scenario, or there are fewer than 6 scenarios"
IP_OVERALL = Table(
    "ip_overall",
    "a test of a metric: for one CCA or all CCAs, with one null hypothesis and one method",
    (
        METRIC,
        text_column("cca", "The CCA whose cells are included.", "all CCAs are included"),
        text_column("method", "Name of the test over all cells."),
        text_column("null", "Null hypothesis: the IP versions are `equal`, or goodput has the `ratio of the MSSs`."),
        count_column(
            "scenarios",
            "",
            "Number of scenarios, each with one value (the mean of the scenario's cells); 1 if all runs are pooled.",
        ),
        count_column("n_ipv4", "runs", "Number of runs over IPv4 that are included."),
        count_column("n_ipv6", "runs", "Number of runs over IPv6 that are included."),
        number_column(
            "statistic",
            "",
            "Test statistic: U of the IPv4 values for the pooled test, Student's t for the test by scenario.",
            NO_TEST,
        ),
        number_column("p", "", "The two-sided p-value.", NO_TEST),
        number_column("p_holm", "", "p after Holm's correction for all tests by scenario.", _NOT_BY_SCENARIO),
        text_column("direction", "`IPv4 higher` or `IPv6 higher`.", "no test was made, or neither is higher"),
        text_column("effect_unit", "Unit of the difference: `%` or `points`."),
        number_column(
            "effect",
            IN_EFFECT_UNIT,
            "Difference between IPv6 and the value under the null hypothesis, averaged over scenarios.",
            _NOT_BY_SCENARIO,
        ),
        *interval_columns("ci_low", "ci_high", IN_EFFECT_UNIT, "the mean over scenarios", _NOT_BY_SCENARIO),
        number_column(
            "margin",
            IN_EFFECT_UNIT,
            "Largest difference that counts as none: the study's margin of equivalence or, for the ratio of the MSSs, the study's "
            "margin for the header.",
            _NOT_BY_SCENARIO,
        ),
        number_column(
            "p_tost", "", "p-value of the two one-sided tests for a mean within the margin.", _NOT_BY_SCENARIO
        ),
        text_column(
            "within",
            "Position of the mean's interval (confidence level 1 - 2 x significance) relative to the margin: `inside`, `outside` or "
            "`across`.",
            _NOT_BY_SCENARIO,
        ),
        text_column("within_kept", "Value of `within` if excluded runs are kept.", f"{_NOT_BY_SCENARIO}; {NONE_KEPT}"),
        number_column("p_kept", "", "Value of `p` if excluded runs are kept.", f"{NO_TEST}; {NONE_KEPT}"),
        NOTE,
    ),
)
