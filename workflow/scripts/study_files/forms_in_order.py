"""Remember across calls which files have passed validation, by the digests of file and schema.

Comparing a study and its claims with their schemas takes a tenth of a dry run's time, half of it for importing jsonschema.
"""

import hashlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

from study_files.call_memory import FOLDER, read_memory, write_memory

MEMORY = FOLDER / "forms-in-order.json"
#: Largest number of remembered files, enough for a checkout's studies and claims.
MOST = 500


def key_of(content, schema, reader: str) -> str:
    """Return a key for some content (plain values, lists and dicts) and its schema; ``reader`` is the path of the validating module."""
    return hashlib.sha256(f"{_way_of_reading(reader)} {content!r} {schema!r}".encode("utf-8", "replace")).hexdigest()


def is_known(key: str) -> bool:
    """Return whether the content with this key has passed validation before."""
    return key in _remembered()


def remember(key: str) -> None:
    """Remember the key of content that has passed validation; without Snakemake's folder, the next call validates the content again."""
    if FOLDER.is_dir():
        write_memory(MEMORY, [*_remembered(), key][-MOST:])


def _remembered() -> list[str]:
    known = read_memory(MEMORY)
    return [key for key in known if isinstance(key, str)] if isinstance(known, list) else []


@cache
def _way_of_reading(reader) -> str:
    """Return a digest of everything else that the result depends on: the validating code, and the versions of Python and jsonschema."""
    library = importlib.util.find_spec("jsonschema")
    changed = os.stat(library.origin).st_mtime_ns if library and library.origin else 0
    return hashlib.sha256(f"{sys.version} {changed}".encode() + Path(reader).read_bytes()).hexdigest()
