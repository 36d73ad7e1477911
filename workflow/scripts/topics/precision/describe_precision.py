"""Describe how precisely each mean is known that the study wants to know, and how many replications that took."""

import pandas as pd

from inference.looks_at_spread import level_of_looks
from rule_script import run_rule
from run_tables.reading import read_runs
from study_files.study_replications import looks
from topics.precision.mean_precision import precision_rows
from topics.precision.tables import PRECISION


def main(inputs, outputs, params) -> None:
    """Read the runs, write the table."""
    rule = {"replications": params.replications}
    level = level_of_looks(looks(rule), params.confidence)
    rows = precision_rows(read_runs(inputs.runs), params.replications["until"], level)
    pd.DataFrame(rows, columns=PRECISION.names).to_csv(outputs.precision, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
