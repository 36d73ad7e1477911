"""The analysis table of the topic, column by column."""

from run_tables.table import Table, count_column, number_column, text_column, truth_column
from topics.cells.tables import IN_UNIT

MET, NOT_MET, NOT_SHOWN, NOT_TESTABLE = "met", "not met", "not shown", "not testable"

EXPECTATIONS = Table(
    "expectations",
    "an expectation, or a row of another table that doesn't meet an expectation",
    (
        text_column("expectation", "Identifier of the expectation, or of the claim if a claim's verdict is expected."),
        text_column("statement", "The expectation in words.", "the study states it only as a predicate"),
        text_column("subject", "Subject of the value: a statistic of runs, or the row of a table."),
        text_column(
            "found", "The value if it is a text, such as a verdict.", "the value is a number, or there is none"
        ),
        number_column("value", IN_UNIT, "The value if it is a number.", "the value is a text, or there is none"),
        number_column("low", IN_UNIT, "Lower end of the value's interval.", "the value has no interval"),
        number_column(
            "high", IN_UNIT, "Upper end of the value's interval.", "the value has no interval, or the end is infinite"
        ),
        text_column("unit", "Unit of `value`.", "the value has no unit"),
        text_column("expected", "The required value."),
        text_column(
            "outcome",
            f"`{MET}`; `{NOT_MET}`; `{NOT_SHOWN}`: only a part of the interval meets the requirement; `{NOT_TESTABLE}`: no "
            "runs or rows can decide it.",
        ),
        truth_column("passed", "Whether the expectation passes the gate."),
        text_column("because", "Reason for the outcome, in words."),
        text_column(
            "run", "A run to repeat: the run farthest from the requirement.", "the expectation isn't about runs"
        ),
        count_column("number", "", "Number of runs or rows on which the outcome is based."),
    ),
)
