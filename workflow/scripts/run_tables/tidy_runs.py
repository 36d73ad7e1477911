"""Turn the run documents of a study into tidy tables."""

import os

from rule_script import run_rule
from run_tables.tidying import tidy


def _workflow_provenance(snakemake_version, analysis_image):
    """Return the workflow's entry in the provenance: versions and, if known, the commit of the checkout."""
    return {
        "analysis_image_digest": analysis_image,
        "snakemake": snakemake_version,
        "commit": os.environ.get("SAWTOOTH_COMMIT") or None,
        "commit_date": os.environ.get("SAWTOOTH_COMMIT_DATE") or None,
        "dirty": os.environ.get("SAWTOOTH_DIRTY") == "1",
    }


def main(inputs, outputs, params, threads) -> None:
    """Read all documents and write the tables."""
    workflow = _workflow_provenance(params.snakemake_version, params.image)
    tidy(params.study, inputs.documents, outputs, workflow, params.made_by, threads)


if "snakemake" in globals():
    run_rule(main, snakemake)
