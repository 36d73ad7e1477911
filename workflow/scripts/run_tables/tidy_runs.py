"""Turn the run documents of a study into tidy tables."""

import os
import sys
from pathlib import Path

from rule_script import run_rule
from run_tables.tidying import UnusableDocuments, tidy

#: Of unusable documents so many are named in the message, all of them in a file.
NAMED = 5


def _message_on(unusable: UnusableDocuments, list_path: Path):
    """Return what a user reads of unusable documents: how many, the first, where all are listed, and what to do."""
    lines = [f"{len(unusable.files)} of {unusable.count} run documents can't be used:"]
    lines += [f"  {path}: {cause}" for path, cause in unusable.files[:NAMED]]
    lines += ["  ..."] if len(unusable.files) > NAMED else []
    lines += [f"All are listed in {list_path}. Delete just these, and the next call repeats their runs and no others:"]
    return "\n".join([*lines, f"  cut -f1 {list_path} | xargs -d '\\n' rm -f --"])


def _workflow_provenance(snakemake_version, analysis_image):
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
    workflow = _workflow_provenance(params.snakemake_version, params.image)
    try:
        tidy(params.study, inputs.documents, outputs, workflow, params.made_by)
    except UnusableDocuments as error:
        unusable_list.write_text("".join(f"{path}\t{cause}\n" for path, cause in error.files))
        sys.exit(f"sawtooth: {_message_on(error, unusable_list)}")


if "snakemake" in globals():
    run_rule(main, snakemake)
