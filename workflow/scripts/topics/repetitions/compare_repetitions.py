"""Compare the documents of runs with the documents of their repetitions."""

import gzip
import json
from pathlib import Path

import pandas as pd

from rule_script import run_rule
from run_tables.json_difference import first_difference, value_text
from topics.repetitions.tables import DIFFERENT, FAILED, REPETITIONS, SAME


def compared(document: bytes, repetition: bytes) -> tuple[str, str]:
    """Compare two run documents (gzip-compressed JSON).

    Returns
    -------
    result, difference : str
        Values of the columns of `REPETITIONS` with these names.
    """
    first, second = (json.loads(gzip.decompress(content)) for content in (document, repetition))
    # The machine may have ended a failed run (a time limit, for example), which says nothing about the program.
    for execution, content in (("run", first), ("repetition", second)):
        if "failure" in content:
            return FAILED, f"the {execution} failed: {content['failure']['cause']}"
    if document == repetition:
        # A program that ended before it could send is no evidence that it is reproducible.
        failed = (
            check
            for check in first.get("verdict", {}).get("checks", ())
            if check["name"] == "programs" and not check["ok"]
        )
        why = next((check["observed"] for check in failed), None)
        return (SAME, "") if why is None else (FAILED, f"the programs failed in the same way in both executions: {why}")
    place = first_difference(first, second)
    if place is None:
        return DIFFERENT, "only the notation of the JSON differs"
    pointer, value, repeated = place
    return (
        DIFFERENT,
        f"{pointer or 'the root'}: {value_text(value)} in the run, {value_text(repeated)} in its repetition",
    )


def main(inputs, outputs, params) -> None:
    """Read the documents of all runs in ``params.runs``, and write `REPETITIONS`."""
    rows = []
    for run, document, repetition in zip(params.runs, inputs.documents, inputs.repetitions, strict=True):
        result = compared(Path(document).read_bytes(), Path(repetition).read_bytes())
        rows.append([*run, *result])
    pd.DataFrame(rows, columns=REPETITIONS.names).to_csv(outputs.repetitions, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
