"""Compare the run documents with the digests in ``tidy/runs.csv`` and, for control runs, in ``tidy/controls.csv``."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from publishing.result_checks.received_documents import ReceivedDocument
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import TABLE_LIMIT, read_file
from run_tables.run_keys import RUN

RUNS_TABLE, CONTROLS_TABLE = "tidy/runs.csv", "tidy/controls.csv"
COLUMNS = (*RUN, "document_sha256")


def read_digests(folder: Path) -> dict[str, str]:
    """Return the digests of run documents listed in the tables: name of the run -> SHA-256, empty for a run without a document.

    Raises ReceivedError if there is no table of runs, or if a table lacks a column or lists a run twice.
    """
    digests = {}
    for table in (RUNS_TABLE, CONTROLS_TABLE):
        if table == RUNS_TABLE or (folder / table).exists():
            _add_digests(folder, table, digests)
    return digests


def _add_digests(folder, table, digests):
    content = read_file(folder, table, TABLE_LIMIT)
    try:
        rows = csv.DictReader(io.StringIO(content.decode(), newline=""), strict=True)
        if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
            raise ReceivedError(f"{table} has no column {', '.join(missing)}")
        for row in rows:
            *factors, digest = (row[column] or "" for column in COLUMNS)
            name = "/".join(factors)
            if name in digests:
                raise ReceivedError(f"{table} has the run {shown(name)} twice")
            digests[name] = digest
    except (csv.Error, UnicodeDecodeError) as error:
        raise ReceivedError(f"{table} is not a CSV table ({shown(error)})") from None


def problems(digests: dict[str, str], documents: list[ReceivedDocument]) -> Iterator[str]:
    """Yield a sentence for each run whose document doesn't match its digest (from `read_digests`), or that lacks its document or digest."""
    there = {document.name: document.sha256 for document in documents}
    for name in sorted(name for name, digest in digests.items() if digest and name not in there):
        yield f"run {shown(name)} has a row but no document"
    for name, sha256 in there.items():
        if name not in digests:
            yield f"run {shown(name)} has a document but no row"
        elif sha256 != digests[name]:
            row = shown(digests[name])
            yield f"run {shown(name)}: the document was changed: its SHA-256 is {sha256}, the table has {row}"
