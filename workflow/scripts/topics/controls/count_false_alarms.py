"""Count the cells in which the comparisons of IP versions and of CCAs find a difference although the conditions are identical."""

import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_table
from topics.ccas.tables import CCA_PAIRS
from topics.controls.false_alarms import of_ccas, of_ip_versions, summary
from topics.ip_version.tables import IP_VERSION_TESTS


def main(inputs, outputs, params) -> None:
    """Read the results of comparing runs with control runs; write a table of cells and a summary."""
    by_version = zip(params.ip_versions, inputs.ip_versions, strict=True)
    tests = [of_ip_versions(read_table(path, IP_VERSION_TESTS), version) for version, path in by_version]
    tests += [of_ccas(read_table(path, CCA_PAIRS), params.significance) for path in inputs.ccas]
    table = pd.concat(tests, ignore_index=True)
    table.to_csv(outputs.aa_tests, index=False, lineterminator="\n")
    summary(table, params.significance, params.confidence).to_csv(outputs.aa_summary, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
