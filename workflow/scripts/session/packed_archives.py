"""List the archives that `make publish` puts next to results folders, with their digests."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from report_parts.data_tables import Cell, PageColumn, data_table
from wording.number_format import number

SUMS = "SHA256SUMS"


def archives_of(folders: Iterable) -> list[tuple[Path, str]]:
    """Return the archives of the given results folders, each with its SHA-256; folders without an archive are skipped."""
    paths = [Path(f"{folder}.crate.zip") for folder in folders]
    found = []
    for path in filter(Path.is_file, paths):
        with path.open("rb") as file:
            found.append((path, hashlib.file_digest(file, "sha256").hexdigest()))
    return found


def archives_table(caption, archives) -> dict:
    """Return a page's table of the archives that `archives_of` returned."""
    columns = [PageColumn("Archive", header=True), PageColumn("MB", "number"), PageColumn("SHA-256", "words")]
    rows = [[path.name, Cell(number(size := path.stat().st_size / 1e6, 1), size), sha256] for path, sha256 in archives]
    return data_table("archives-table", caption, columns, rows)


def sums_of(archives) -> str:
    """Return the archives' checksums in the form that `sha256sum --check` reads."""
    return "".join(f"{sha256}  {path.name}\n" for path, sha256 in archives)
