"""Write a study's runs and control runs in the form that the comparisons of IP versions and of CCAs read."""

from rule_script import run_rule
from run_tables.reading import read_runs
from topics.controls.arms import arms_as_ccas, arms_as_ip_versions


def main(inputs, outputs, params) -> None:
    """Read runs and control runs; write one table per IP version, and one table with all cells."""
    runs, controls = read_runs(inputs.runs), read_runs(inputs.controls)
    for ip_version, path in zip(params.ip_versions, outputs.ip_versions, strict=True):
        arms_as_ip_versions(runs, controls, ip_version).to_csv(path, index=False, lineterminator="\n")
    for path in outputs.ccas:
        arms_as_ccas(runs, controls).to_csv(path, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
