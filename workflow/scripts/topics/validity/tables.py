"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, text_column
from run_tables.tidy_tables import CHECKS

VALIDITY = Table(
    "validity",
    "a cell",
    (
        *LABELLED_CELL,
        count_column("total", "runs", "Runs of the cell."),
        count_column("valid", "runs", "Those that passed all of their checks."),
        count_column("not_run", "runs", "Those that were not carried out."),
        count_column("excluded", "runs", "Those that were, and failed one or more."),
        text_column(
            "reasons", "Each check that failed, with the number of runs, the most frequent first.", "none failed"
        ),
    ),
)
CHECK_COUNTS = Table(
    "checks",
    "a check",
    (
        CHECKS["check"],
        count_column("passed", "runs", "Runs that passed it."),
        count_column("failed", "runs", "Runs that failed it."),
        text_column("expected_example", "What was expected in the first run that failed it, or in the first of all."),
        text_column("observed_example", "What was observed in this run."),
    ),
)
