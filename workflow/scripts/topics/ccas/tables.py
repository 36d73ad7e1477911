"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, count_column, interval_columns, number_column, text_column
from topics.cells.tables import (
    EFFECT_UNIT,
    IN_EFFECT_UNIT,
    IN_UNIT,
    MEAN_INTERVAL,
    METRIC,
    NO_TEST,
    NONE_KEPT,
    NOTE,
    PAIRED_TEST,
    TOO_FEW_PAIRS,
    UNIT,
)

_SCENARIO, _, _IP_VERSION = CELL_COLUMNS
CCA_TESTS = Table(
    "ccas",
    "a metric in a scenario and IP version",
    (
        METRIC,
        UNIT,
        _SCENARIO,
        SCENARIO_LABEL,
        _IP_VERSION,
        count_column("ccas", "CCAs", "Number of CCAs that have a value."),
        count_column(
            "blocks",
            "replications",
            "Number of complete replications, in which every CCA counted in `ccas` has a value.",
        ),
        text_column(
            "test", "Name of the test: `Friedman` over the blocks, or `Kruskal-Wallis` over all values.", NO_TEST
        ),
        number_column("statistic", "", "Friedman's Q or Kruskal and Wallis's H, corrected for ties.", NO_TEST),
        number_column("p", "", "p-value for the hypothesis that all CCAs are alike.", NO_TEST),
        number_column("p_holm", "", "p after Holm's correction for all such tests in the study.", NO_TEST),
        number_column(
            "kendall_w",
            "",
            "Kendall's coefficient of concordance: 1 if all blocks rank the CCAs alike, 0 if their ranks cancel out.",
            "the test isn't Friedman's",
        ),
        number_column("p_holm_kept", "", "`p_holm` with excluded runs kept.", f"{NO_TEST}; {NONE_KEPT}"),
        NOTE,
    ),
)
_NO_PAIR = "no replication has a value for both CCAs"
CCA_PAIRS = Table(
    "cca_pairs",
    "a metric of a pair of CCAs, in one scenario and IP version",
    (
        METRIC,
        UNIT,
        EFFECT_UNIT,
        _SCENARIO,
        SCENARIO_LABEL,
        _IP_VERSION,
        text_column("cca_a", "The first CCA of the pair."),
        text_column("cca_b", "The second CCA of the pair, with which the first is compared."),
        count_column("pairs", "replications", "Number of replications in which both CCAs have a value."),
        count_column(
            "n",
            "replications",
            "Number of independent pairs: 1 if all runs of each CCA give the same value within the measurement's resolution.",
        ),
        number_column(
            "mean_a", IN_UNIT, "Mean of `cca_a` in the replications in which both CCAs have a value.", _NO_PAIR
        ),
        number_column(
            "mean_b", IN_UNIT, "Mean of `cca_b` in the replications in which both CCAs have a value.", _NO_PAIR
        ),
        number_column("effect", IN_EFFECT_UNIT, "Mean difference between `cca_a` and `cca_b`.", _NO_PAIR),
        *MEAN_INTERVAL,
        number_column("hl", IN_EFFECT_UNIT, "Hodges-Lehmann estimate of the difference.", _NO_PAIR),
        *interval_columns("hl_low", "hl_high", IN_EFFECT_UNIT, "the Hodges-Lehmann estimate", TOO_FEW_PAIRS),
        number_column(
            "cliffs_delta",
            "",
            "Cliff's delta, from -1 to 1: over all combinations of values, the share in which `cca_a` is larger minus the share in which `cca_b` is larger.",
            _NO_PAIR,
        ),
        *PAIRED_TEST,
        number_column("p", "", "p-value for the hypothesis that both CCAs are alike.", NO_TEST),
        number_column(
            "p_holm",
            "",
            "p after Holm's correction for all pairs in the study; 1 if the joint test of all CCAs in the same scenario and IP version finds no difference.",
            NO_TEST,
        ),
        number_column("p_holm_kept", "", "`p_holm` with excluded runs kept.", f"{NO_TEST}; {NONE_KEPT}"),
        number_column("effect_kept", IN_EFFECT_UNIT, "`effect` with excluded runs kept.", f"{_NO_PAIR}; {NONE_KEPT}"),
        NOTE,
    ),
)
