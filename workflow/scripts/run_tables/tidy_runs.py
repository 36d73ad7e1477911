"""Turn the run documents of a study into tidy tables."""

import os
import sys
from pathlib import Path

from rule_script import run_rule
from run_tables.tidying import UnusableDocuments, tidy

#: Of unusable documents so many are named in the message, all of them in a file.
NAMED = 5


def message_on(unusable, listed_in) -> str:
    """Return what a user reads of unusable documents: how many, the first, the rest, and what to do.

    Parameters
    ----------
    unusable : run_tables.tidying.UnusableDocuments
    listed_in : pathlib.Path
        A file with a line for each: path, tab, cause.
    """
    return "\n".join(
        [
            f"{len(unusable.files)} of {unusable.count} run documents can't be used:",
            *(f"  {path}: {cause}" for path, cause in unusable.files[:NAMED]),
            *(["  ..."] if len(unusable.files) > NAMED else []),
            f"All are listed in {listed_in}. Delete just these, and the next call repeats their runs and no others:",
            f"  cut -f1 {listed_in} | xargs -d '\\n' rm -f --",
        ]
    )


def workflow_provenance(snakemake_version, analysis_image) -> dict:
    """Return what is known of the workflow: versions, and the checkout's commit, if any."""
    return {
        "analysis_image_digest": analysis_image,
        "snakemake": snakemake_version,
        "commit": os.environ.get("SAWTOOTH_COMMIT") or None,
        "commit_date": os.environ.get("SAWTOOTH_COMMIT_DATE") or None,
        "dirty": os.environ.get("SAWTOOTH_DIRTY") == "1",
    }


def main(inputs, outputs, params) -> None:
    """Read all documents, write the tables; leave with a list of those that can't be used."""
    unusable_list = Path(outputs.runs).parents[1] / "logs" / "unusable-documents.txt"
    unusable_list.unlink(missing_ok=True)
    workflow = workflow_provenance(params.snakemake_version, params.image)
    try:
        tidy(params.study, inputs.documents, outputs, workflow, params.made_by)
    except UnusableDocuments as error:
        unusable_list.write_text("".join(f"{path}\t{cause}\n" for path, cause in error.files))
        sys.exit(f"sawtooth: {message_on(error, unusable_list)}")


if "snakemake" in globals():
    run_rule(main, snakemake)
