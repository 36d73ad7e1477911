"""Hold what is concluded of perturbed scenarios against what is concluded of the scenarios as they are."""

from rule_script import run_rule
from run_tables.reading import read_table
from topics.ccas.tables import CCA_PAIRS
from topics.ip_version.tables import IP_VERSION_TESTS
from topics.sensitivity.conclusions import sensitivity


def main(inputs, outputs, params) -> None:
    """Read both comparisons, as far as they were made, and write which conclusions moved."""
    tables = [
        read_table(paths[0], table) if paths else None
        for paths, table in ((inputs.ip_versions, IP_VERSION_TESTS), (inputs.cca_pairs, CCA_PAIRS))
    ]
    sensitivity(*tables, params.significance).to_csv(outputs.sensitivity, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
