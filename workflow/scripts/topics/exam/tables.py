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
        text_column("measure", "What was measured, with its unit: `MEASURES` of `topics/exam/criteria.py`."),
        text_column("other", "CCA of the flow that the harm is done to.", "the measure is of no other flow"),
        number_column("value", "", "Its value, in the measure's unit."),
    ),
)
SCORECARD = Table(
    "scorecard",
    "a criterion of RFC 9743, in one scenario, by one measure; the first row is on all scenarios together",
    (
        text_column("rfc_section", "Section of RFC 9743."),
        text_column("group", "`Alone`, `Against others`, `General use` or `Special cases`."),
        text_column("criterion", "What is asked, in words."),
        text_column("rfc_word", "How strongly the RFC asks it: `MUST`, `SHOULD` and so on."),
        text_column("cca", "The CCA under examination."),
        text_column("role", "`primary`: the row decides, as the study fixed beforehand; `secondary`: it is shown, and has no verdict."),
        text_column("scenario", "Identifier of the scenario.", "none evaluates it, or the row is on all"),
        SCENARIO_LABEL,
        text_column("measure", "What was measured, with its unit.", _NOT_MEASURED),
        text_column("unit", "Unit of the values.", "it has none"),
        text_column("better", "Which values are better: `higher` or `lower`.", _NOT_MEASURED),
        verdict_column("verdict", "`worse`, `better`, `like`, `too variable`, `not enough`, `not measured`, or `not applicable`: the candidate can't have that scenario.", "the row is secondary", (NOT_MEASURED, NOT_APPLICABLE)),
        text_column("reason", "Why it was not measured, is not applicable, or is open.", "it has another verdict"),
        count_column("runs_planned", "runs", "Runs of the CCA that the study has there.", _NOT_MEASURED),
        count_column("n", "runs", "Of them those that were compared with a standard CCA's of the same seed.", _NOT_MEASURED),
        count_column("runs_missing", "runs", "Runs without a value, not for what the CCA did.", _NOT_MEASURED),
        count_column("runs_failed", "runs", "Runs that crashed, did not end, or were excluded for what the sender did: they count as worse.", _NOT_MEASURED),
        count_column("runs_worse", "runs", "Runs that are worse than each standard CCA by more than the margin, or exceed the limit where none of them does.", _NOT_MEASURED),
        count_column("runs_better", "runs", "Runs that are better than each by more than the margin, or keep the limit where one of them doesn't.", _NOT_MEASURED),
        count_column("runs_far_worse", "runs", "Runs that are worse than each by more than four margins.", _NOT_MEASURED),
        count_column("standard_runs_far_worse", "runs", "Runs in which the standard CCA that it is like, by the median, does worse than each of the others by more than four margins.", _NOT_MEASURED),
        text_column("worse_by_ip_version", "How many runs over each IP version are worse.", "none is, or there is one IP version"),
        text_column("most_of_them", "Of the row on all scenarios: where most of its worse runs are.", "the row is on one scenario"),
        number_column("worse_share_at_most", "", "The largest share of such runs that can be worse, of all deciding rows together.", "the row is secondary, or has no run"),
        number_column("p", "", "Of the verdict *worse*.", "the row is secondary, or has no run"),
        number_column("p_corrected", "", "The same, corrected over the card (Holm, 1979).", "the row is secondary, or has no run"),
        ordinal_column("look", "At which look at the runs the verdict was reached.", "the row is secondary"),
        count_column("runs_needed", "runs", "How many runs would close an open row if they went on as they are.", "the row is not open, or no 400 runs would"),
        number_column("detectable", "", "Of an open row: by how much the CCA would have had to be worse for these runs to show it, in the row's unit.", "the row is not open, or no so few runs show anything"),
        number_column("value", "", "Median of its runs, in the row's unit.", _NOT_MEASURED),
        number_column("low", "", "Lower end of the median's interval, from one order statistic to another.", _NO_INTERVAL),
        number_column("high", "", "Upper end of the median's interval.", _NO_INTERVAL),
        number_column("worst_value", "", "Value of the run that does worst.", _NOT_MEASURED),
        text_column("standard", "The standard CCA whose median is worst.", "none has a value"),
        number_column("standard_value", "", "Its median.", "none has a value"),
        number_column("standard_low", "", "Lower end of its interval.", _NO_INTERVAL),
        number_column("standard_high", "", "Upper end of its interval.", _NO_INTERVAL),
        number_column("worse_by", "", "By how much a run is worse than the standard CCA that does worst in the same seed, the median; negative: better than that.", _ABSOLUTE),
        number_column("worse_by_low", "", "Lower end of its interval.", _ABSOLUTE),
        number_column("worse_by_high", "", "Upper end of its interval.", _ABSOLUTE),
        number_column("margin", "", "From where on that counts, as the study fixed it beforehand.", _ABSOLUTE),
        number_column("limit", "", "What it must not exceed, as the study fixed it beforehand.", "the criterion is relative"),
        text_column("worst_run", "The run of it that does worst: `scenario/cca/ip_version/replication`.", _NOT_MEASURED),
    ),
    digits=6,
)  # fmt: skip
_OPEN = "the statement leaves that side open"
_NO_MEAN_INTERVAL = "fewer than two runs have a value"
EXAM_PUBLISHED = Table(
    "exam_published",
    "a published statement on a measure of a CCA, in one scenario",
    (
        text_column("rfc_section", "Section of RFC 9743."),
        text_column("criterion", "The criterion in words."),
        text_column("scenario", "Identifier of the scenario."),
        SCENARIO_LABEL,
        text_column("cca", "The CCA that the statement is on, examined or not."),
        text_column("measure", "What was measured, with its unit."),
        text_column("unit", "Unit of the values.", "it has none"),
        text_column("minus", "The CCA whose value in the same seeds is taken off.", "the value itself is meant"),
        count_column("n", "runs", "Valid runs, or pairs of runs, that have a value."),
        number_column("value", "", "Mean over them, in the row's unit."),
        number_column("low", "", "Lower end of its t interval.", _NO_MEAN_INTERVAL),
        number_column("high", "", "Upper end of its t interval.", _NO_MEAN_INTERVAL),
        number_column(
            "at_least", "", "From where on the mean agrees with the statement: `topics/exam/published.py`.", _OPEN
        ),
        number_column("at_most", "", "Up to where.", _OPEN),
        text_column("verdict", "`agrees`: the whole interval lies there; `differs`: none of it; else `not shown`."),
        text_column("statement", "What is stated, and under which conditions."),
        text_column("source", "Where."),
    ),
    digits=6,
)
