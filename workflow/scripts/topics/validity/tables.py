"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL
from run_tables.table import Table, count_column, text_column
from run_tables.tidy_tables import CHECKS

VALIDITY = Table(
    "validity",
    "a cell",
    (
        *LABELLED_CELL,
        count_column("total", "runs", "Number of the cell's runs."),
        count_column("valid", "runs", "Number of runs that passed all of their checks."),
        count_column("not_run", "runs", "Number of runs that were not executed."),
        count_column("excluded", "runs", "Number of runs that were executed and failed at least one check."),
        text_column("reasons", "Failed checks, each with its number of runs, most frequent first.", "no check failed"),
    ),
)
CHECK_COUNTS = Table(
    "checks",
    "a check",
    (
        CHECKS["check"],
        count_column("passed", "runs", "Number of runs that passed the check."),
        count_column("failed", "runs", "Number of runs that failed the check."),
        text_column(
            "expected_example",
            "Expected value in the first run that failed the check, or in the first run if none failed.",
        ),
        text_column("observed_example", "Observed value in the run from which `expected_example` is taken."),
    ),
)
