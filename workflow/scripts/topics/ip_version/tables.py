"""The analysis tables of the topic, column by column, and the methods that compare IP versions over the whole study."""

from run_tables.table import Table, count, interval, number, text
from run_tables.tidy_tables import CELL_COLUMNS, SCENARIO_LABEL
from topics.cells.tables import (
    EFFECT_UNIT,
    IN_EFFECT_UNIT,
    IN_UNIT,
    MEAN_INTERVAL,
    METRIC,
    NO_TEST,
    NOTE,
    PAIRED_TEST,
    TOO_FEW_PAIRS,
    UNIT,
)

POOLED = "Mann-Whitney, pooled"
VAN_ELTEREN = "van Elteren, by cell"
ALIGNED = "aligned ranks, by pair and cell"
EQUAL = "equal"
MSS_RATIO = "ratio of the MSSs"
#: Method -> what `statistic` is, and what the test takes for independent.
METHODS = {
    POOLED: "U of the IPv4 values; every run counts as independent, whatever its scenario and CCA",
    VAN_ELTEREN: (
        "z, positive where IPv6 ranks higher; runs of a cell count as independent, so with common "
        "seeds it rejects less often than it may"
    ),
    ALIGNED: ("z, positive where IPv6 ranks higher; compares runs of the same seed, as the experiment was designed"),
}

_SCENARIO, _CCA, _ = CELL_COLUMNS
_NO_PAIR = "no replication has a value of both IP versions"
_UNDER_THREE = "there are fewer than three pairs, or all differ by the same"
_NO_BOOTSTRAP = "there are too few pairs for a bootstrap, or all differ by the same"
_ONE_SIGN = f"{_NO_BOOTSTRAP}, or have the same sign"
_NOT_EXPECTED = "the metric isn't goodput, or the segment size is unknown or not the same in all runs"
_UNTESTED = "there is no such test"
IP_VERSION_TESTS = Table(
    "ip_versions",
    "a metric in a scenario and CCA",
    (
        METRIC,
        UNIT,
        text("scale", "How values are compared: `ratio`, `relative` (to the mean of both) or `points`."),
        EFFECT_UNIT,
        _SCENARIO,
        SCENARIO_LABEL,
        _CCA,
        count("pairs", "replications", "Replications in which both IP versions have a value."),
        number("mean_ipv4", IN_UNIT, "Mean over IPv4 in these replications.", _NO_PAIR),
        number("mean_ipv6", IN_UNIT, "Mean over IPv6 in these replications.", _NO_PAIR),
        number("effect", IN_EFFECT_UNIT, "Mean difference of IPv6 from IPv4.", _NO_PAIR),
        *MEAN_INTERVAL,
        number(
            "ci90_low",
            IN_EFFECT_UNIT,
            "Lower end of the interval of the two one-sided tests, whose confidence is 1 - 2 x significance.",
            TOO_FEW_PAIRS,
        ),
        number("ci90_high", IN_EFFECT_UNIT, "Upper end of this interval.", TOO_FEW_PAIRS),
        number("hl", IN_EFFECT_UNIT, "Hodges-Lehmann estimate of the difference.", _NO_PAIR),
        *interval("hl_low", "hl_high", IN_EFFECT_UNIT, "the Hodges-Lehmann estimate, by bootstrap", _NO_BOOTSTRAP),
        number(
            "rank_biserial",
            "",
            "Rank-biserial correlation: 1 if IPv6 is higher in every pair, -1 if it is lower in every pair.",
            _NO_PAIR,
        ),
        *interval(
            "rank_biserial_low", "rank_biserial_high", "", "the rank-biserial correlation, by bootstrap", _ONE_SIGN
        ),
        number("normality_p", "", "The p value of Shapiro-Wilk's test of the pairs' differences.", _UNDER_THREE),
        *PAIRED_TEST,
        number("p", "", "The p value of the test that the IP versions are alike.", NO_TEST),
        number("p_holm", "", "This p after Holm's correction for all cells of the metric.", NO_TEST),
        number("p_bh", "", "This p after Benjamini and Hochberg's correction for all cells of the metric.", NO_TEST),
        number(
            "expected_effect",
            "%",
            "Difference that the longer header alone makes: the ratio of the MSSs.",
            _NOT_EXPECTED,
        ),
        number("p_expected", "", "The p value of the test against this ratio instead of equality.", _UNTESTED),
        number("p_expected_holm", "", "This p after Holm's correction for all cells of the metric.", _UNTESTED),
        number(
            "margin", IN_EFFECT_UNIT, "Differences up to this one count as none: the study's margin of equivalence."
        ),
        number(
            "p_tost", "", "The p value of the two one-sided tests that the difference is within the margin.", NO_TEST
        ),
        text("equivalent", "`yes` if it is shown to be within the margin, else `no`.", NO_TEST),
        number("smallest_margin", IN_EFFECT_UNIT, "The smallest margin at which equivalence would be shown.", NO_TEST),
        number(
            "detectable",
            IN_EFFECT_UNIT,
            "The smallest true difference that a paired t test of so many pairs shows with the study's power.",
            _UNDER_THREE,
        ),
        count(
            "pairs_needed",
            "replications",
            "Pairs that such a test needs to show the study's difference to detect.",
            "it would be more than 10,000, or the pairs there are have no spread",
        ),
        text("verdict", "What can be concluded; the report says what each verdict means."),
        NOTE,
    ),
)
IP_OVERALL = Table(
    "ip_overall",
    "a metric, null hypothesis and method",
    (
        METRIC,
        text("method", "Name of the test over all cells."),
        text("null", "Null hypothesis: the IP versions are `equal`, or goodput has the `ratio of the MSSs`."),
        count("strata", "", "Cells that the test ranks within; 1 where all runs are pooled."),
        count("n_ipv4", "runs", "Runs over IPv4 that take part."),
        count("n_ipv6", "runs", "Runs over IPv6 that take part."),
        number(
            "statistic",
            "",
            "U of the IPv4 values of the pooled test, else z, positive where IPv6 ranks higher.",
            NO_TEST,
        ),
        number("p", "", "The p value, two-sided.", NO_TEST),
        text("direction", "`IPv4 higher` or `IPv6 higher`.", "no test was made, or neither ranks higher"),
        NOTE,
    ),
)
