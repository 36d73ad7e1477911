"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import RUN_KEYS, SCENARIO_LABEL
from run_tables.table import Table, count, number, text

_ABSOLUTE = "the criterion is absolute, or was not evaluated"
_NOT_EVALUATED = "the criterion was not evaluated"
_NO_INTERVAL = "fewer than two runs have a value"
EXAM_VALUES = Table(
    "exam_values",
    "a measure of a valid run",
    (
        *RUN_KEYS,
        text("measure", "What was measured, with its unit: `MEASURES` of `topics/exam/criteria.py`."),
        text("other", "CCA of the flow that the harm is done to.", "the measure is of no other flow"),
        number("value", "", "Its value, in the measure's unit."),
    ),
)
SCORECARD = Table(
    "scorecard",
    "a criterion of RFC 9743, in one scenario, by one measure",
    (
        text("rfc_section", "Section of RFC 9743."),
        text("group", "`Alone`, `Against others`, `General use` or `Special cases`."),
        text("criterion", "What is asked, in words."),
        text("rfc_word", "How strongly the RFC asks it: `MUST`, `SHOULD` and so on."),
        text("cca", "The CCA under examination."),
        text("scenario", "Identifier of the scenario.", "none evaluates it"),
        SCENARIO_LABEL,
        text("measure", "What was measured, with its unit.", _NOT_EVALUATED),
        text("unit", "Unit of the values.", "it has none"),
        text("better", "Which values are better: `higher` or `lower`.", _NOT_EVALUATED),
        count("n", "runs", "Valid runs of the CCA that have a value.", _NOT_EVALUATED),
        number("value", "", "Mean over the runs, in the row's unit.", _NOT_EVALUATED),
        number("low", "", "Lower end of its t interval, cut off at 0.", _NO_INTERVAL),
        number("high", "", "Upper end of its t interval.", _NO_INTERVAL),
        text("standard", "The standard CCA that decides: of those it is held against the one that does worst, for `better` the one that does best; of harm the other flow's own. Of absolute criteria, which none decides, the one that does worst.", _NOT_EVALUATED),
        number("standard_value", "", "The same mean of that CCA.", "it has no valid run"),
        number("standard_low", "", "Lower end of its t interval, cut off at 0.", _NO_INTERVAL),
        number("standard_high", "", "Upper end of its t interval.", _NO_INTERVAL),
        number("worse_by", "", "By how much it does worse than that CCA in the same seeds, the mean over pairs of runs; negative: better.", _ABSOLUTE),
        number("worse_by_low", "", "Lower end of its t interval.", _ABSOLUTE),
        number("worse_by_high", "", "Upper end of its t interval.", _ABSOLUTE),
        number("margin", "", "From where on that counts, as the study fixed it beforehand.", _ABSOLUTE),
        number("limit", "", "What it must not exceed, as the study fixed it beforehand.", "the criterion is relative"),
        number("p", "", "Of the verdict worse: that it does worse by the margin at most than one of the standard CCAs, one-sided.", _ABSOLUTE),
        number("p_corrected", "", "The same, corrected over the card (Holm, 1979).", _ABSOLUTE),
        text("verdict", "`better`, `like`, `worse` or `not shown` (relative to the standard CCAs); `passed` or `failed` (absolute); `not evaluated`."),
        text("reason", "Why it was not evaluated, or nothing is shown.", "it was"),
        text("worst_run", "The run of it that does worst: `scenario/cca/ip_version/replication`.", _NOT_EVALUATED),
    ),
)  # fmt: skip
_OPEN = "the statement leaves that side open"
EXAM_PUBLISHED = Table(
    "exam_published",
    "a published statement on a measure of a CCA, in one scenario",
    (
        text("rfc_section", "Section of RFC 9743."),
        text("criterion", "The criterion in words."),
        text("scenario", "Identifier of the scenario."),
        SCENARIO_LABEL,
        text("cca", "The CCA that the statement is on, examined or not."),
        text("measure", "What was measured, with its unit."),
        text("unit", "Unit of the values.", "it has none"),
        text("minus", "The CCA whose value in the same seeds is taken off.", "the value itself is meant"),
        count("n", "runs", "Valid runs, or pairs of runs, that have a value."),
        number("value", "", "Mean over them, in the row's unit."),
        number("low", "", "Lower end of its t interval.", _NO_INTERVAL),
        number("high", "", "Upper end of its t interval.", _NO_INTERVAL),
        number("at_least", "", "From where on the mean agrees with the statement: `topics/exam/published.py`.", _OPEN),
        number("at_most", "", "Up to where.", _OPEN),
        text("verdict", "`agrees`: the whole interval lies there; `differs`: none of it; else `not shown`."),
        text("statement", "What is stated, and under which conditions."),
        text("source", "Where."),
    ),
)
