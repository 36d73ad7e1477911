"""Take an interim look at a scenario's runs, and decide whether the means need more replications to be precise enough."""

import json
import sys
from pathlib import Path

import pandas as pd

from inference.looks_at_spread import level_of_looks
from rule_script import run_rule
from run_tables.reading import runs_of_rows
from run_tables.run_documents import DocumentError, read_document, run_of
from run_tables.run_keys import CELL
from run_tables.steady_state import SteadyRule
from run_tables.tidy_rows import rows_of_run
from study_files.study_replications import looks
from study_files.study_runs import run_specification
from topics.precision.mean_precision import OPEN, precision_rows
from wording.terminal_text import said


def runs_of(study, paths, made_by) -> pd.DataFrame:
    """Return the rows of ``tidy/runs.csv`` for a scenario's run documents; exit with an error if a document can't be used."""
    rows, rule = [], SteadyRule(**study["steady_state"])
    for path in paths:
        try:
            document = read_document(path, run_specification(study, *run_of(path)), made_by)
        except DocumentError as error:
            sys.exit(said(f"{error}. To repeat only this run, delete the document, then run the same command again."))
        rows.append(rows_of_run(document, study["scenarios"][0]["label"], None, rule)[0])
    return runs_of_rows(rows)


def main(inputs, outputs, params) -> None:
    """Write the result of the look: whether the scenario needs more replications, and the precision of each mean."""
    study = params.study
    replications, steps = int(Path(outputs.look).stem), looks(study)
    level = level_of_looks(steps, params.confidence)
    runs = runs_of(study, inputs.documents, params.made_by)
    rows = list(precision_rows(runs, study["replications"]["until"], level))
    still_open = [row for row in rows if row["verdict"] in OPEN]
    later = [step for step in steps if step > replications]
    sentence = f"{study['scenarios'][0]['id']}: after {replications} replications {len(still_open)} of {len(rows)} means are not precise"
    print(
        f"{sentence}; "
        + (
            f"the next look is at {later[0]}"
            if still_open and later
            else "no more are needed"
            if later
            else "this was the last look"
        )
    )
    means = [{name: row[name] for name in (*CELL, "metric", "n", "half_width", "wanted", "verdict")} for row in rows]
    look = {"replications": replications, "goes_on": bool(still_open and later), "level": level, "means": means}
    Path(outputs.look).write_text(json.dumps(look, indent=1) + "\n", encoding="utf-8")


if "snakemake" in globals():
    run_rule(main, snakemake)
