"""Make a results folder's tidy tables again, in the analysis image.

``python3 -B -m publishing.result_checks.tidy_again FOLDER OUTPUT``
"""

import json
import sys
from pathlib import Path

from run_tables.tidy_tables import TIDY_TABLES

#: Output's name of `tidying.tidy` -> file below ``tidy``.
TABLES = {table.name: f"{table.name}.{table.suffix}" for table in TIDY_TABLES}
TABLES |= {"runs_parquet": "runs.parquet", "provenance": "provenance.json"}


def main(folder, output) -> None:
    """Make the tables of the study that the folder's provenance names from the documents that are there."""
    from run_tables.tidying import tidy
    from study_files.study_runs import runs

    provenance = json.loads((folder / "tidy" / "provenance.json").read_text())
    study = provenance["study"]
    documents = [folder / "runs" / "/".join(map(str, run[:3])) / f"{run[3]}.json.gz" for run in runs(study)]
    tidy(study, documents, {name: output / file for name, file in TABLES.items()}, provenance["workflow"])


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
