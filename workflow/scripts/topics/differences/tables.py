"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import SCENARIO_LABEL
from run_tables.table import (
    Table,
    count_column,
    interval_columns,
    number_column,
    text_column,
    truth_column,
    verdict_column,
)

#: Verdicts on a difference, at one place (see `compare_levels`) or over all places.
MORE, LESS, ALIKE, OPEN = "more", "less", "alike", "open"
#: Kinds of evidence that a difference isn't due to chance.
BY_FLIPS, BY_T, BY_SPREAD, BY_SOME_SPREAD, BY_REPEATS = (
    "sign flips",
    "Student's t",
    "spread",
    "spread in some places",
    "repeats",
)
_FACTOR = text_column(
    "factor",
    "Factor whose levels are compared: `cca`, or `scenario` (scenarios that differ in only one condition; if more than two differ only in the same condition, each is compared with the first).",
)
_LEVELS = (
    text_column("level_a", "The first level: a CCA, or the condition of the first scenario in words."),
    text_column("level_b", "The other level, with which the first is compared."),
)
_MEASURE = (
    text_column("measure", "Column of `runs.csv` in which the levels are compared."),
    text_column(
        "effect_unit", "Unit of differences: `%` of the other level's value, or the unit of the measure itself."
    ),
    number_column(
        "margin",
        "as `effect_unit` says",
        "Smallest difference that counts: one of the study's margins, or the default.",
    ),
)
_IN_EFFECT_UNIT = "as `effect_unit` says"
_NO_PAIR = "no runs of both levels have a value"
DIFFERENCES = Table(
    "differences",
    "a measure, compared between two levels at one place (a scenario for CCAs, a CCA for scenarios)",
    (
        _FACTOR, *_LEVELS, *_MEASURE,
        text_column("scenario", "Scenario of the first level's runs."),
        text_column("other_scenario", "Scenario of the other level's runs; equal to `scenario` if CCAs are compared."),
        SCENARIO_LABEL,
        text_column("cca", "CCA of the first level's runs."),
        text_column("other_cca", "CCA of the other level's runs; equal to `cca` if scenarios are compared."),
        count_column("n", "replications", "Number of pairs of runs with the same seed; for independent samples, number of runs in the smaller sample. The runs of a replication over both IP versions count as one."),
        truth_column("repeats", "Whether all runs of each level give the same values within the measurement's resolution, in this measure and in every metric with a known resolution."),
        number_column("value", "unit of `measure`", "Mean of the first level's values.", _NO_PAIR),
        number_column("other_value", "unit of `measure`", "Mean of the other level's values.", _NO_PAIR),
        number_column("difference", _IN_EFFECT_UNIT, "Mean difference between the first level and the other.", _NO_PAIR),
        *interval_columns("difference_low", "difference_high", _IN_EFFECT_UNIT, "the mean difference", "there are fewer than 6 pairs, all of them give the same values, or some are outliers"),
        number_column("largest", _IN_EFFECT_UNIT, "Largest difference within a pair of runs; for independent samples, the difference between the means.", _NO_PAIR),
        count_column("lost", "replications", "Number of replications that were run but form no pair because a run was excluded for a sender's behaviour; they count against any verdict."),
        count_column("left_out", "runs", "Number of runs of both levels that have a value but no counterpart, and are left out: no run of the other level with the same seed and IP version; for independent samples, an IP version without a value on the other side, or a replication in which another IP version has no value."),
        verdict_column("verdict", "`more` or `less` if the first level's mean is higher or lower by at least the margin and 19 of 20 pairs (all pairs if there are fewer than 20) differ in this direction; `alike` if no pair differs by the margin (for independent samples: if the means don't); otherwise `open`.", "", (OPEN,)),
    ),
)  # fmt: skip
COMPARISONS = Table(
    "comparisons",
    "a measure, compared between two levels over all places that have both",
    (
        _FACTOR, *_LEVELS, *_MEASURE,
        count_column("places", "", "Number of places (scenarios, or CCAs if scenarios are compared) with values of both levels."),
        *(count_column(verdict, "", f"Number of places whose verdict is `{verdict}`.") for verdict in (MORE, LESS, ALIKE, OPEN)),
        number_column("least", _IN_EFFECT_UNIT, "Smallest absolute mean difference among the places with the majority verdict.", "no place has the verdict `more` or `less`"),
        number_column("most", _IN_EFFECT_UNIT, "Largest absolute mean difference among the places with the majority verdict.", "no place has the verdict `more` or `less`"),
        number_column("bound", _IN_EFFECT_UNIT, "Largest absolute difference within a pair of runs at any place; for scenarios, between means."),
        number_column("p", "", "p-value of the null hypothesis that no place with the majority verdict has a difference in this direction; 1 if no place has one: one-sided sign flips of each place's pairs, corrected for the choice of places and direction, combined by Fisher's method, or by Bonferroni's if scenarios share seeds.", "scenarios are compared, or all runs give the same value"),
        number_column("p_holm", "", "`p` after Holm's correction for all rows.", "`p` is empty"),
        number_column("t_p_holm", "", "The same by Student's t (for scenarios by Welch's t) at places with at least 6 pairs, combined by Fisher's method (for scenarios, or if scenarios share seeds, by Bonferroni's) and corrected for all rows (Holm).", "no place has 6 pairs, or all runs give the same value"),
        text_column("evidence", "Evidence that the difference isn't due to chance: `sign flips` or `Student's t` (corrected p below the study's level), `spread` (with four or five pairs, or pairs that repeat one measurement, three times as far apart as any two runs of one cell in all places with the verdict), `spread in some places`, `repeats` (all runs of each level give the same value, so there is nothing to test).", "there is no evidence"),
        verdict_column("verdict", "`more` or `less`: the majority among the places with either verdict, if there is evidence; `alike` if all places have the verdict `alike`; otherwise `open`.", "", (OPEN,)),
    ),
)  # fmt: skip
