"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import (
    Table,
    count_column,
    interval_columns,
    number_column,
    text_column,
    truth_column,
    verdict_column,
)
from topics.cells.tables import (
    EFFECT_UNIT,
    IN_EFFECT_UNIT,
    IN_UNIT,
    METRIC,
    NO_SPREAD,
    NO_TEST,
    NOTE,
    PAIRED_TEST,
    UNIT,
)

#: The comparisons of a study that are also applied to cells and their control runs.
OF_IP_VERSIONS, OF_CCAS = "IPv6 against IPv4", "CCA against CCA"
COMPARISON = text_column("comparison", f"Comparison whose tests were made: `{OF_IP_VERSIONS}` or `{OF_CCAS}`.")
_NO_PAIR = "there is no pair in which both runs have a value"
AA_TESTS = Table(
    "aa_tests",
    "a metric in a cell that is compared with itself by the tests of one comparison",
    (
        COMPARISON,
        METRIC,
        UNIT,
        EFFECT_UNIT,
        *LABELLED_CELL,
        count_column("pairs", "replications", "Number of pairs of a run and a control run that both have a value."),
        count_column("n", "replications", "Number of independent pairs: 1 if, within the measurement's resolution, all runs give the same value and so do all control runs."),
        number_column("mean", IN_UNIT, "Mean of the metric over the runs.", _NO_PAIR),
        number_column("mean_control", IN_UNIT, "Mean of the metric over the control runs.", _NO_PAIR),
        number_column("effect", IN_EFFECT_UNIT, "Mean difference between the control runs and the runs; the sign depends on the comparison.", _NO_PAIR),
        *interval_columns("ci_low", "ci_high", IN_EFFECT_UNIT, "the mean difference", NO_SPREAD),
        *PAIRED_TEST,
        number_column("p", "", "p-value for the hypothesis that runs and control runs are alike, which is true here.", NO_TEST),
        number_column("p_holm", "", "`p` after the correction for multiple tests that the comparison makes.", NO_TEST),
        truth_column("different", "Whether the comparison finds a difference after the study's correction. Such a difference is a false alarm."),
        NOTE,
    ),
)  # fmt: skip
AA_SUMMARY = Table(
    "aa_summary",
    "a metric of a comparison, or all metrics together",
    (
        COMPARISON,
        text_column("metric", "Column of the metric in `runs.csv`, or `all`."),
        count_column("comparisons", "", "Number of cells compared with themselves."),
        count_column("tests", "", "Number of cells compared with themselves for which a test was made."),
        count_column("scenarios", "", "Number of scenarios with a test; tests in one scenario share seeds and are not independent."),
        count_column("below", "", "Number of tests whose uncorrected p is below the significance level."),
        number_column("expected", "", "Number of tests expected to have an uncorrected p below the significance level by chance: the level times the number of tests."),
        number_column("share_percent", "%", "Share of tests whose uncorrected p is below the significance level.", "no test was made"),
        *interval_columns("share_low", "share_high", "%", "the share, with scenarios as clusters", "no test was made"),
        number_column("findable_percent", "%", "Smallest true share that would get the verdict `more than chance` with a probability of 80 % for these numbers of tests and scenarios, assuming independence.", "no test was made, or no share is that large"),
        verdict_column("verdict", "`consistent with chance`, `more than chance` or `fewer than chance`, by the position of the interval relative to the significance level.", "no test was made"),
        count_column("different", "", "Number of comparisons that find a difference after the correction: false alarms by the rule for the study's findings."),
        count_column("families", "", "Number of families of tests for which p was corrected together."),
        count_column("families_different", "", "Number of families with at least one false alarm; chance would explain at most the significance level times the number of families."),
    ),
)  # fmt: skip
