"""Make a results folder's tidy tables again, in the analysis image: ``python3 -B tidy_again.py FOLDER OUTPUT``."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

#: Input name of `tidy_runs.tidy` -> file below ``tidy``.
TABLES = {
    "runs": "runs.csv",
    "runs_parquet": "runs.parquet",
    "flows": "flows.csv",
    "intervals": "intervals.parquet",
    "sockets": "sockets.parquet",
    "queue": "queue.parquet",
    "cpu": "cpu.parquet",
    "checks": "checks.csv",
    "paths": "paths.csv",
    "scenarios": "scenarios.csv",
    "provenance": "provenance.json",
}


def main(folder, output):
    """Make the tables of the study that the folder's provenance names from the documents that are there."""
    from study_files.study_runs import runs
    from tidy_runs import tidy

    provenance = json.loads((folder / "tidy" / "provenance.json").read_text())
    study = provenance["study"]
    documents = [folder / "runs" / "/".join(map(str, run[:3])) / f"{run[3]}.json.gz" for run in runs(study)]
    tidy(study, documents, {name: output / file for name, file in TABLES.items()}, provenance["workflow"])


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
