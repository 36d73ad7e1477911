"""Check the form of a received `analysis/repetitions.csv`, which can't be derived from the run documents."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from publishing.result_checks.received_errors import shown
from publishing.result_checks.received_folder import TABLE_LIMIT, read_file
from study_files import study as studies
from study_files.program_ccas import programs_of_runs
from topics.repetitions.tables import REPETITIONS, RESULTS, SAME


def problems(folder: Path, study: dict) -> Iterator[str]:
    """Yield a sentence for each row that can't be a row of the resolved study's table; nothing if ``folder`` has no such table.

    Raises `received_errors.ReceivedError` if the table is too large or not an ordinary file.
    """
    if not (folder / REPETITIONS.path).exists():
        return
    try:
        text = read_file(folder, REPETITIONS.path, TABLE_LIMIT).decode("utf-8")
        heading, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (UnicodeDecodeError, csv.Error, ValueError):
        yield f"{REPETITIONS.path} is not a CSV table"
        return
    if tuple(heading) != tuple(REPETITIONS.names):
        yield f"{REPETITIONS.path} has other columns than {', '.join(REPETITIONS.names)}"
        return
    programs, labels = programs_of_runs(study), {one["id"]: one["label"] for one in study["scenarios"]}
    left = {"/".join(map(str, run)): run for run in studies.runs(study)}
    for number, row in enumerate(rows, 1):
        where = f"{REPETITIONS.path}, row {number}:"
        if len(row) != len(heading):
            yield f"{where} {len(row)} values instead of {len(heading)}"
            continue
        given, label, name = row[0], row[2], "/".join((row[1], *row[3:6]))
        *_, result, difference = row
        run = left.pop(name, None)
        if run is None or not (expected := programs.get(run[:2])):
            yield f"{where} {shown(name)} is not a run of the study with programs, or occurs twice"
        elif (given, label) != ("; ".join(expected), labels[run[0]]):
            yield f"{where} the programs are '{shown(given)}' and the label is '{shown(label)}'; the study has '{'; '.join(expected)}' and '{shown(labels[run[0]])}'"
        elif result not in RESULTS or bool(difference) != (result != SAME):
            yield f"{where} the result is '{shown(result)}' and the difference is '{shown(difference)}'; allowed results: {', '.join(RESULTS)}, with a difference unless it is {SAME}"
