"""Holding a results folder's tidy tables against those that its documents give.

``python3 -B -m publishing.result_checks.tables_again FOLDER OUTPUT`` makes the tables, in the analysis image.
"""

import json
import os
import sys
from pathlib import Path

from publishing.result_checks.json_difference import first_byte
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_folder import TABLE_LIMIT, read_file
from publishing.result_checks.reruns import end, last_words, module_command, mount, start
from run_tables.tidy_tables import TIDY_TABLES

#: Output's name of `tidying.tidy` -> file below ``tidy``.
TABLES = {table.name: f"{table.name}.{table.suffix}" for table in TIDY_TABLES}
TABLES |= {"runs_parquet": "runs.parquet", "provenance": "provenance.json"}


def problems(folder: Path, root: Path, place: Path) -> list[str]:
    """Make the tidy tables from documents that are in order, in the checkout's analysis image, and compare bytes.

    Return a sentence for each table that differs; ``place`` is an empty temporary folder.
    """
    modules = f"{root / 'workflow/scripts'}{os.pathsep}{root / 'workflow'}"
    mounts = [mount(place), f"{mount(folder)},ro", f"{mount(root / 'workflow')},ro"]
    module = ["publishing.result_checks.tables_again", str(folder), str(place)]
    process = start(module_command(root / "envs/analysis.sif", mounts, {"PYTHONPATH": modules}, module), place)
    try:
        status = process.wait()
    finally:
        end([process])
    if status:
        return [f"they can't be made from these documents: {last_words(place, status)}"]
    made = [file for file in TABLES.values() if (place / file).exists()]  # not every study has controls
    return [sentence for file in made if (sentence := _table_problem(folder, file, place))]


def _table_problem(folder, file, place):
    """Return how a table of the folder differs from the one made again, or None."""
    made = (place / file).read_bytes()
    try:
        received = read_file(folder, f"tidy/{file}", TABLE_LIMIT)
    except ReceivedError as error:
        return str(error)
    if received == made:
        return None
    offset = first_byte(received, made)
    line = received.count(b"\n", 0, offset) + 1
    where = f"byte {offset}" if file.endswith(".parquet") else f"line {line}, byte {offset}"
    return f"tidy/{file} is not what the documents give: the first difference is in {where}"


def _make(folder, output):
    """Make the tables of the study that the folder's provenance names from the documents that are there."""
    from run_tables.tidying import tidy  # of the analysis image
    from study_files.study_runs import all_runs

    provenance = json.loads((folder / "tidy/provenance.json").read_text())
    study = provenance["study"]
    documents = (folder / f"runs/{'/'.join(map(str, run))}.json.gz" for run in all_runs(study))
    tidy(
        study,
        filter(Path.exists, documents),
        {name: output / file for name, file in TABLES.items()},
        provenance["workflow"],
    )


if __name__ == "__main__":
    _make(*map(Path, sys.argv[1:]))
