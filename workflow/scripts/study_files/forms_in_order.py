"""Files whose form was found in order, remembered from one call to the next: their digest with that of their schema.

To hold a study and its claims against their schemas takes a tenth of a dry run's time, half of it jsonschema's import.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
from functools import cache
from pathlib import Path

#: From Snakemake's folder, as its own records; where there is none nothing is remembered.
MEMORY = Path(".snakemake", "forms-in-order.json")
#: How many are remembered: studies and claims of a checkout.
MOST = 500


def key_of(content, schema, reader: str) -> str:
    """Return what identifies a content (plain values, lists and dicts), its schema and the module that compares them, a path."""
    return hashlib.sha256(f"{_way_of_reading(reader)} {content!r} {schema!r}".encode("utf-8", "replace")).hexdigest()


def is_known(key: str) -> bool:
    """Return whether the form with this key was found in order before."""
    return key in _remembered()


def remember(key: str) -> None:
    """Remember a form that was found in order; where nothing can be written, the next call compares again."""
    if not MEMORY.parent.is_dir():
        return
    known = [*_remembered(), key][-MOST:]
    part = MEMORY.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        part.write_text(json.dumps(known), encoding="utf-8")
        part.replace(MEMORY)


def _remembered() -> list[str]:
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(MEMORY.read_text(encoding="utf-8"))
        if isinstance(known, list):
            return [key for key in known if isinstance(key, str)]
    return []


@cache
def _way_of_reading(reader) -> str:
    """Return what the finding depends on besides: the code that compares, Python, and which jsonschema there is."""
    library = importlib.util.find_spec("jsonschema")
    changed = os.stat(library.origin).st_mtime_ns if library and library.origin else 0
    return hashlib.sha256(f"{sys.version} {changed}".encode() + Path(reader).read_bytes()).hexdigest()
