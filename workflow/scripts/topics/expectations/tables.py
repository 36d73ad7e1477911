"""The analysis table of the topic, column by column."""

from run_tables.table import Table, count, number, text, truth
from topics.cells.tables import IN_UNIT

MET, NOT_MET, NOT_SHOWN, NOT_TESTABLE = "met", "not met", "not shown", "not testable"

EXPECTATIONS = Table(
    "expectations",
    "an expectation, or of one about a table each row that doesn't meet it",
    (
        text(
            "expectation", "Identifier of the expectation; of a claim that must come out as stated that of the claim."
        ),
        text("statement", "What is expected, in words.", "the study says it only as a predicate"),
        text("subject", "What the value is: a statistic of runs, or the row of a table."),
        text("found", "The value where it is a text, such as a verdict.", "it is a number, or there is none"),
        number("value", IN_UNIT, "The value where it is a number.", "it is a text, or there is none"),
        number("low", IN_UNIT, "Lower end of its interval.", "it has none"),
        number("high", IN_UNIT, "Upper end of its interval.", "it has none, or the end is infinite"),
        text("unit", "Unit of `value`.", "it has none"),
        text("expected", "What it has to be."),
        text(
            "outcome",
            f"`{MET}`; `{NOT_MET}`; `{NOT_SHOWN}`: the interval reaches both sides of what is expected; `{NOT_TESTABLE}`: no "
            "runs or rows could tell.",
        ),
        truth("passed", "Whether the gate lets it pass."),
        text("because", "Why, in words."),
        text("run", "A run to repeat: the farthest off of those that it is about.", "it is about no run"),
        count("number", "", "Runs or rows that it rests on."),
    ),
)
