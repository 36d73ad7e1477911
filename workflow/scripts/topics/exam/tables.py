"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import RUN_KEYS, SCENARIO_LABEL
from run_tables.table import Table, count_column, number_column, text_column

_ABSOLUTE = "the criterion is absolute, or was not evaluated"
_NOT_EVALUATED = "the criterion was not evaluated"
_NO_INTERVAL = "fewer than two runs have a value"
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
    "a criterion of RFC 9743, in one scenario, by one measure",
    (
        text_column("rfc_section", "Section of RFC 9743."),
        text_column("group", "`Alone`, `Against others`, `General use` or `Special cases`."),
        text_column("criterion", "What is asked, in words."),
        text_column("rfc_word", "How strongly the RFC asks it: `MUST`, `SHOULD` and so on."),
        text_column("cca", "The CCA under examination."),
        text_column("scenario", "Identifier of the scenario.", "none evaluates it"),
        SCENARIO_LABEL,
        text_column("measure", "What was measured, with its unit.", _NOT_EVALUATED),
        text_column("unit", "Unit of the values.", "it has none"),
        text_column("better", "Which values are better: `higher` or `lower`.", _NOT_EVALUATED),
        count_column("n", "runs", "Valid runs of the CCA that have a value.", _NOT_EVALUATED),
        number_column("value", "", "Mean over the runs, in the row's unit.", _NOT_EVALUATED),
        number_column("low", "", "Lower end of its t interval, cut off at 0.", _NO_INTERVAL),
        number_column("high", "", "Upper end of its t interval.", _NO_INTERVAL),
        text_column("standard", "The standard CCA that decides: of those it is held against the one that does worst, for `better` the one that does best; of harm the other flow's own. Of absolute criteria, which none decides, the one that does worst.", _NOT_EVALUATED),
        number_column("standard_value", "", "The same mean of that CCA.", "it has no valid run"),
        number_column("standard_low", "", "Lower end of its t interval, cut off at 0.", _NO_INTERVAL),
        number_column("standard_high", "", "Upper end of its t interval.", _NO_INTERVAL),
        number_column("worse_by", "", "By how much it does worse than that CCA in the same seeds, the mean over pairs of runs; negative: better.", _ABSOLUTE),
        number_column("worse_by_low", "", "Lower end of its t interval.", _ABSOLUTE),
        number_column("worse_by_high", "", "Upper end of its t interval.", _ABSOLUTE),
        number_column("margin", "", "From where on that counts, as the study fixed it beforehand.", _ABSOLUTE),
        number_column("limit", "", "What it must not exceed, as the study fixed it beforehand.", "the criterion is relative"),
        number_column("p", "", "Of the verdict worse: that it does worse by the margin at most than one of the standard CCAs, one-sided.", _ABSOLUTE),
        number_column("p_corrected", "", "The same, corrected over the card (Holm, 1979).", _ABSOLUTE),
        text_column("verdict", "`better`, `like`, `worse` or `not shown` (relative to the standard CCAs); `passed` or `failed` (absolute); `not evaluated`."),
        text_column("reason", "Why it was not evaluated, or nothing is shown.", "it was"),
        text_column("worst_run", "The run of it that does worst: `scenario/cca/ip_version/replication`.", _NOT_EVALUATED),
    ),
    digits=6,
)  # fmt: skip
_OPEN = "the statement leaves that side open"
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
        number_column("low", "", "Lower end of its t interval.", _NO_INTERVAL),
        number_column("high", "", "Upper end of its t interval.", _NO_INTERVAL),
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
