"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Table, count, text
from run_tables.tidy_tables import CHECKS

VALIDITY = Table(
    "validity",
    "a cell",
    (
        CELL_COLUMNS[0],
        SCENARIO_LABEL,
        *CELL_COLUMNS[1:],
        count("total", "runs", "Runs of the cell."),
        count("valid", "runs", "Those that passed all of their checks."),
        count("excluded", "runs", "Those that failed one or more."),
        text("reasons", "Each check that failed, with the number of runs, the most frequent first.", "none failed"),
    ),
)
CHECK_COUNTS = Table(
    "checks",
    "a check",
    (
        CHECKS["check"],
        count("passed", "runs", "Runs that passed it."),
        count("failed", "runs", "Runs that failed it."),
        text("expected_example", "What was expected in the first run that failed it, or in the first of all."),
        text("observed_example", "What was observed in this run."),
    ),
)
