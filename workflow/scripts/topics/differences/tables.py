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

#: Verdicts on a difference, in one place or over all places.
MORE, LESS, ALIKE, OPEN = "more", "less", "alike", "open"
#: Kinds of evidence that a difference isn't due to chance.
BY_FLIPS, BY_T, BY_SPREAD, BY_REPEATS = "sign flips", "Student's t", "spread", "repeats"
_FACTOR = text_column("factor", "`cca`, or `scenario`: scenarios that differ in one condition alone.")
_LEVELS = (
    text_column("level_a", "The first level: a CCA, or the condition of the first scenario in words."),
    text_column("level_b", "The other level, which the first is held against."),
)
_MEASURE = (
    text_column("measure", "Column of `runs.csv` in which the levels are compared."),
    text_column("effect_unit", "Unit of differences: `%` of the other level's value, or that of the measure itself."),
    number_column(
        "margin", "as `effect_unit` says", "Smallest difference that counts: of the study's margins, or the usual one."
    ),
)
_IN_EFFECT_UNIT = "as `effect_unit` says"
_NO_PAIR = "no runs of both levels have a value"
DIFFERENCES = Table(
    "differences",
    "a measure of two levels at one place: of CCAs a scenario, of scenarios a CCA",
    (
        _FACTOR, *_LEVELS, *_MEASURE,
        text_column("scenario", "Scenario of the first level's runs."),
        text_column("other_scenario", "Scenario of the other level's runs; the same where CCAs are compared."),
        SCENARIO_LABEL,
        text_column("cca", "CCA of the first level's runs."),
        text_column("other_cca", "CCA of the other level's runs; the same where scenarios are compared."),
        count_column("n", "replications", "Pairs of runs with the same seeds, or runs of the smaller of two independent samples. IP versions of a replication are one run, their mean."),
        truth_column("repeats", "Whether the runs of each level repeat one measurement within its resolution."),
        number_column("value", "as `measure` has it", "Mean of the first level.", _NO_PAIR),
        number_column("other_value", "as `measure` has it", "Mean of the other level.", _NO_PAIR),
        number_column("difference", _IN_EFFECT_UNIT, "Mean difference of the first level from the other.", _NO_PAIR),
        *interval_columns("difference_low", "difference_high", _IN_EFFECT_UNIT, "the mean difference", "there are fewer than 6 pairs, or they repeat one measurement, or some lie apart"),
        number_column("largest", _IN_EFFECT_UNIT, "The difference of the pair of runs that differs most, of independent samples that of the means.", _NO_PAIR),
        count_column("lost", "replications", "Replications that were carried out and have no pair, since a sender is what excludes a run: they count against any verdict."),
        verdict_column("verdict", "`more` or `less` of the first level, by the margin or more and in 19 of 20 pairs, of fewer in all; `alike` if no pair differs by the margin; else `open`.", "", (OPEN,)),
    ),
)  # fmt: skip
COMPARISONS = Table(
    "comparisons",
    "a measure of two levels over all places that have both",
    (
        _FACTOR, *_LEVELS, *_MEASURE,
        count_column("places", "", "Places that have values of both levels."),
        *(count_column(verdict, "", f"Of these, those whose verdict is `{verdict}`.") for verdict in (MORE, LESS, ALIKE, OPEN)),
        number_column("least", _IN_EFFECT_UNIT, "Smallest mean difference, without its sign, of the places that say what most say.", "no place says more or less"),
        number_column("most", _IN_EFFECT_UNIT, "Largest of these.", "no place says more or less"),
        number_column("bound", _IN_EFFECT_UNIT, "Largest difference, without its sign, of any pair of runs of any place."),
        number_column("p", "", "Chance of so clear a difference at all places together if the levels made none: sign flips of each place's pairs, combined by Fisher's method.", "scenarios are compared, or all runs repeat one measurement"),
        number_column("p_holm", "", "The same after Holm's correction for all rows.", "as of `p`"),
        number_column("t_p_holm", "", "By Student's t of the pairs of places with 6 or more, of scenarios by Welch's t, combined and corrected alike.", "no place has 6 pairs, or all repeat one measurement"),
        text_column("evidence", "What shows that the difference is none of chance: `sign flips` or `Student's t` (corrected p below the study's level), `spread` (three times as far as any two runs of one cell are apart), `repeats` (each level repeats one measurement, so there is nothing to test).", "nothing does"),
        verdict_column("verdict", "`more` or `less`: what most places say that say either, if there is evidence; `alike` if all places are; else `open`.", "", (OPEN,)),
    ),
)  # fmt: skip
