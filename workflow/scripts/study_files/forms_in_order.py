"""Remember across invocations which contents have passed validation against which schema.

Validating a study and its claims takes a tenth of the time of a dry run, and half of that is spent on importing jsonschema.
"""

import hashlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

from study_files.call_memory import FOLDER, read_memory, write_memory

MEMORY = FOLDER / "forms-in-order.json"
#: Maximum number of remembered contents, enough for all studies and claims in a checkout.
MOST = 500


def key_of(content, schema, reader: str) -> str:
    """Return the key under which a successful validation is remembered.

    Parameters
    ----------
    content, schema : object
        The validated content and its schema, as plain values, lists and dicts.
    reader : str
        Path of the module that validates the content.
    """
    return hashlib.sha256(f"{_way_of_reading(reader)} {content!r} {schema!r}".encode("utf-8", "replace")).hexdigest()


def is_known(key: str) -> bool:
    """Return whether the content with this key has passed validation before."""
    return key in _remembered()


def remember(key: str) -> None:
    """Remember the key of content that has passed validation; do nothing if Snakemake's folder doesn't exist."""
    if FOLDER.is_dir():
        write_memory(MEMORY, [*_remembered(), key][-MOST:])


def _remembered() -> list[str]:
    known = read_memory(MEMORY)
    return [key for key in known if isinstance(key, str)] if isinstance(known, list) else []


@cache
def _way_of_reading(reader) -> str:
    """Return a digest of the validating module, the Python version and the installed jsonschema."""
    library = importlib.util.find_spec("jsonschema")
    changed = os.stat(library.origin).st_mtime_ns if library and library.origin else 0
    return hashlib.sha256(f"{sys.version} {changed}".encode() + Path(reader).read_bytes()).hexdigest()
