"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import RUN_KEYS, SCENARIO_LABEL
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column, verdict_column

#: Verdicts of the scorecard.
BETTER, LIKE, WORSE, TOO_VARIABLE, NOT_ENOUGH, NOT_MEASURED, NOT_APPLICABLE = (
    "better", "like", "worse", "too variable", "not enough", "not measured", "not applicable",
)  # fmt: skip
#: Verdicts of a row that more runs may close.
OPEN_VERDICTS = (TOO_VARIABLE, NOT_ENOUGH)
PRIMARY, SECONDARY = "primary", "secondary"
_ABSOLUTE = "the criterion is absolute, or was not measured"
_NOT_MEASURED = "the criterion was not measured"
_NO_INTERVAL = "fewer than six runs have a value"
EXAM_VALUES = Table(
    "exam_values",
    "a measure of a valid run",
    (
        *RUN_KEYS,
        text_column(
            "measure",
            "Name of the measure, which ends with the unit; `MEASURES` in `topics/exam/criteria.py` describes each measure.",
        ),
        text_column("other", "CCA of the other flow.", "the measure doesn't involve another flow"),
        number_column(
            "value",
            "",
            "Value of the measure, in the measure's unit. 1e9 stands for infinity: too many short flows never finished, or no packet of a call arrived.",
        ),
    ),
)
SCORECARD = Table(
    "scorecard",
    "a criterion of RFC 9743 in one scenario, by one measure; the first row covers all scenarios together",
    (
        text_column("rfc_section", "Section of RFC 9743."),
        text_column("group", "Group of the criterion: `Alone`, `Against others`, `General use` or `Special cases`."),
        text_column("criterion", "The criterion in words."),
        text_column("rfc_word", "The RFC's level of requirement: `MUST`, `SHOULD` and so on."),
        text_column("cca", "The CCA under examination."),
        text_column("role", "`primary`: the row decides, as fixed beforehand by the study; `secondary`: the row is shown, but has no verdict."),
        text_column("scenario", "Identifier of the scenario.", "no scenario evaluates the criterion, or the row covers all scenarios"),
        SCENARIO_LABEL,
        text_column("measure", "Name of the measure, with its unit.", _NOT_MEASURED),
        text_column("unit", "Unit of the values.", "the measure has no unit"),
        text_column("better", "Direction in which the measure is better: `higher` or `lower`.", _NOT_MEASURED),
        verdict_column("verdict", "Verdict of the row: `worse`, `better`, `like`, `too variable`, `not enough`, `not measured`, or `not applicable` (the scenario doesn't apply to the candidate).", "the row is secondary", (NOT_MEASURED, NOT_APPLICABLE)),
        text_column("reason", "Reason why the row was not measured, is not applicable, or is open.", "the row has another verdict"),
        count_column("runs_planned", "runs", "Number of runs planned for the examined CCA.", _NOT_MEASURED),
        count_column("n", "runs", "Number of planned runs that were compared with each standard CCA's run with the same seed.", _NOT_MEASURED),
        count_column("runs_missing", "runs", "Number of planned runs that were not compared, because the run of the CCA or of a standard CCA has no value for reasons other than the CCA's behaviour.", _NOT_MEASURED),
        count_column("runs_failed", "runs", "Number of compared runs that crashed, did not end, or were excluded because of the sender's behaviour; such a run counts as worse, unless the standard CCA's run failed as well.", _NOT_MEASURED),
        count_column("runs_worse", "runs", "Number of runs that are worse than a standard CCA by more than the margin, for the standard CCA with the smallest such number; for a measure with a limit, number of runs that exceed the limit while no standard CCA does.", _NOT_MEASURED),
        count_column("runs_better", "runs", "Number of runs that are better than a standard CCA by more than the margin, for the standard CCA with the smallest such number; for a measure with a limit, number of runs that respect the limit while every standard CCA exceeds it.", _NOT_MEASURED),
        count_column("runs_far_worse", "runs", "Number of runs that are worse than every standard CCA by more than four margins; for a measure with a limit, number of runs that exceed the limit while no standard CCA does.", _NOT_MEASURED),
        count_column("standard_runs_far_worse", "runs", "Number of runs in which a similar standard CCA is worse than every other CCA, including the examined one, by more than four margins. A standard CCA is similar if it is within four margins of the examined CCA or of another standard CCA in at least a quarter of the runs (if none is, all are); of several similar ones, the one with the largest number counts. For a measure with a limit, number of runs in which a standard CCA exceeds the limit while the examined CCA respects it.", _NOT_MEASURED),
        text_column("worse_by_ip_version", "Number of worse runs for each IP version.", "no run is worse, there is only one IP version, or the shares of worse runs differ by less than 0.3 between IP versions"),
        text_column("most_of_them", "For the row on all scenarios: up to three scenarios with the largest numbers of worse runs, each with the number of its worse runs.", "the row covers one scenario"),
        number_column("worse_share_at_most", "", "Upper bound on the share of worse runs on paths like the scenario's, valid for all deciding rows together.", "the row is secondary, or has no run"),
        number_column("p", "", "p-value for the verdict *worse*.", "the row is secondary, or has no run"),
        number_column("p_corrected", "", "p-value for the verdict *worse*, corrected for all deciding rows by Holm's procedure (1979).", "the row is secondary, or has no run"),
        ordinal_column("look", "Number of the interim look at which the verdict was reached.", "the row is secondary"),
        count_column("runs_needed", "runs", "For an open row: the number of runs that would decide the row if further runs had the same shares of outcomes.", "the row is not open, its runs repeat one measurement, or 400 runs would not be enough (for example, because a run is missing or far worse)"),
        number_column("detectable", "", "For an open row: the smallest deterioration that these runs would have been able to show, in the row's unit.", "the row is not open, it has a limit, its runs repeat one measurement, there are too few runs to show anything, or too many of them failed"),
        number_column("value", "", "Median over the examined CCA's runs, in the row's unit.", _NOT_MEASURED),
        number_column("low", "", "Lower end of the interval of `value`, which is an order statistic.", _NO_INTERVAL),
        number_column("high", "", "Upper end of the interval of `value`, which is an order statistic.", _NO_INTERVAL),
        number_column("worst_value", "", "Value of the examined CCA's worst run.", _NOT_MEASURED),
        text_column("standard", "Standard CCA for comparison: the standard CCA with the smallest `worse_by`; for a measure with a limit, the standard CCA with the worst median.", "no standard CCA has a value"),
        number_column("standard_value", "", "Median over the runs of `standard`, in the row's unit.", "no standard CCA has a value"),
        number_column("standard_low", "", "Lower end of the interval of `standard_value`.", _NO_INTERVAL),
        number_column("standard_high", "", "Upper end of the interval of `standard_value`.", _NO_INTERVAL),
        number_column("worse_by", "", "Median amount by which a run is worse than the run of `standard` with the same seed, over the runs that did not fail; negative if the run is better.", _ABSOLUTE),
        number_column("worse_by_low", "", "Lower end of the interval of `worse_by`.", _ABSOLUTE),
        number_column("worse_by_high", "", "Upper end of the interval of `worse_by`.", _ABSOLUTE),
        number_column("margin", "", "Amount above which a difference counts, as fixed beforehand by the study.", _ABSOLUTE),
        number_column("limit", "", "Largest allowed value, as fixed beforehand by the study.", "the criterion is relative"),
        text_column("worst_run", "The CCA's worst run: `scenario/cca/ip_version/replication`.", _NOT_MEASURED),
    ),
    digits=6,
)  # fmt: skip
_OPEN = "the statement gives no bound on that side"
_NO_MEAN_INTERVAL = "fewer than two runs have a value"
EXAM_PUBLISHED = Table(
    "exam_published",
    "a published statement on a measure of a CCA, in one scenario",
    (
        text_column("rfc_section", "Section of RFC 9743."),
        text_column("criterion", "The criterion in words."),
        text_column("scenario", "Identifier of the scenario."),
        SCENARIO_LABEL,
        text_column("cca", "The CCA that the statement is about, examined or not."),
        text_column("measure", "Name of the measure, with its unit."),
        text_column("unit", "Unit of the values.", "the measure has no unit"),
        text_column("minus", "The CCA whose value with the same seeds is subtracted.", "the value itself is meant"),
        count_column("n", "runs", "Number of valid runs, or pairs of runs, with a value."),
        number_column("value", "", "Mean over the valid runs, or pairs of runs, in the row's unit."),
        number_column("low", "", "Lower end of the t interval of `value`.", _NO_MEAN_INTERVAL),
        number_column("high", "", "Upper end of the t interval of `value`.", _NO_MEAN_INTERVAL),
        number_column(
            "at_least", "", "Lowest mean that agrees with the statement, as set in `topics/exam/published.py`.", _OPEN
        ),
        number_column("at_most", "", "Highest mean that agrees with the statement.", _OPEN),
        text_column(
            "verdict",
            "`agrees` if the whole interval of `value` lies within the statement's bounds, `differs` if no part of the interval does, and otherwise "
            "`not shown`.",
        ),
        text_column("statement", "The statement and its conditions."),
        text_column("source", "Source of the statement."),
    ),
    digits=6,
)
