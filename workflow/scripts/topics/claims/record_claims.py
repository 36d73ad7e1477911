"""Record a claims file before the first run, and each later change to it; see `claim_versions`."""

from pathlib import Path

from rule_script import run_rule
from topics.claims.claim_versions import record_claims


def main(inputs, outputs, params) -> None:
    """Add the current claims file to the record."""
    record_claims(Path(outputs.record).parents[1], params.version)


if "snakemake" in globals():
    run_rule(main, snakemake)
