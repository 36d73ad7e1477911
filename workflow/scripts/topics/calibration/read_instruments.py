"""Collect the instruments' readings from all run documents, and write one row of `READINGS` per document."""

import pandas as pd

from rule_script import run_rule
from run_tables.run_documents import read_document, run_of
from study_files.study_runs import run_specification
from topics.calibration.readings import readings
from topics.calibration.tables import READINGS


def main(inputs, outputs, params) -> None:
    """Read all documents and write the table."""
    rows = [
        readings(read_document(path, run_specification(params.study, *run_of(path)), params.made_by))
        for path in inputs.documents
    ]
    # Keep integer columns as integers even if values are missing.
    table = pd.DataFrame(rows, columns=READINGS.names).convert_dtypes()
    table.to_csv(outputs.readings, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
