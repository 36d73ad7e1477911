"""The analysis table of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL, RUN_KEYS
from run_tables.table import Table, text_column, verdict_column

RESULTS = SAME, DIFFERENT, FAILED = "same bytes", "different", "failed"
REPETITIONS = Table(
    "repetitions",
    "a run with declared programs that was executed twice",
    (
        text_column("programs", "Names of the run's programs, separated by semicolons."),
        *LABELLED_CELL,
        RUN_KEYS[-1],
        verdict_column(
            "result",
            f"`{SAME}` if both executions gave the same run document, byte for byte; otherwise `{DIFFERENT}`. `{FAILED}` if one of the "
            "executions failed, or the programs failed in the same way in both, which is no evidence of reproducibility.",
            unmeasured=(FAILED,),
        ),
        text_column(
            "difference",
            "The first value at which the two documents differ: its JSON pointer, its value in the study's run, and its value in the repetition. "
            f"If the result is `{FAILED}`: what failed, and why.",
            f"the result is `{SAME}`",
        ),
    ),
)
