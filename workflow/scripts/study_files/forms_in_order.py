"""Files whose form was found in order, remembered from one call to the next: their digest with that of their schema.

Comparing a study and its claims with their schemas takes a tenth of a dry run's time, half of it jsonschema's import.
"""

import hashlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

from study_files.call_memory import FOLDER, read_memory, write_memory

MEMORY = FOLDER / "forms-in-order.json"
#: The number of forms that are remembered, which are a checkout's studies and claims.
MOST = 500


def key_of(content, schema, reader: str) -> str:
    """Return what identifies a content (plain values, lists and dicts), its schema and the module that compares them, a path."""
    return hashlib.sha256(f"{_way_of_reading(reader)} {content!r} {schema!r}".encode("utf-8", "replace")).hexdigest()


def is_known(key: str) -> bool:
    """Return whether the form with this key was found in order before."""
    return key in _remembered()


def remember(key: str) -> None:
    """Remember a form that was found in order; where Snakemake has no folder yet, the next call compares it again."""
    if FOLDER.is_dir():
        write_memory(MEMORY, [*_remembered(), key][-MOST:])


def _remembered() -> list[str]:
    known = read_memory(MEMORY)
    return [key for key in known if isinstance(key, str)] if isinstance(known, list) else []


@cache
def _way_of_reading(reader) -> str:
    """Return a digest of the code that compares, Python's version, and the date of jsonschema, on which the finding also depends."""
    library = importlib.util.find_spec("jsonschema")
    changed = os.stat(library.origin).st_mtime_ns if library and library.origin else 0
    return hashlib.sha256(f"{sys.version} {changed}".encode() + Path(reader).read_bytes()).hexdigest()
