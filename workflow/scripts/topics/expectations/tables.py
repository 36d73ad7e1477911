"""The analysis table of the topic, column by column."""

from run_tables.table import Table, count_column, number_column, text_column, truth_column
from topics.cells.tables import IN_UNIT

MET, NOT_MET, NOT_SHOWN, NOT_TESTABLE = "met", "not met", "not shown", "not testable"

EXPECTATIONS = Table(
    "expectations",
    "an expectation, or of one about a table each row that doesn't meet it",
    (
        text_column(
            "expectation", "Identifier of the expectation; of a claim that must come out as stated that of the claim."
        ),
        text_column("statement", "What is expected, in words.", "the study says it only as a predicate"),
        text_column("subject", "What the value is: a statistic of runs, or the row of a table."),
        text_column("found", "The value where it is a text, such as a verdict.", "it is a number, or there is none"),
        number_column("value", IN_UNIT, "The value where it is a number.", "it is a text, or there is none"),
        number_column("low", IN_UNIT, "Lower end of its interval.", "it has none"),
        number_column("high", IN_UNIT, "Upper end of its interval.", "it has none, or the end is infinite"),
        text_column("unit", "Unit of `value`.", "it has none"),
        text_column("expected", "What it has to be."),
        text_column(
            "outcome",
            f"`{MET}`; `{NOT_MET}`; `{NOT_SHOWN}`: the interval reaches both sides of what is expected; `{NOT_TESTABLE}`: no "
            "runs or rows could tell.",
        ),
        truth_column("passed", "Whether the gate lets it pass."),
        text_column("because", "Why, in words."),
        text_column("run", "A run to repeat: the farthest off of those that it is about.", "it is about no run"),
        count_column("number", "", "Runs or rows that it rests on."),
    ),
)
