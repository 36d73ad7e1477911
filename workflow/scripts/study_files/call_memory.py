"""Store the results of one invocation for later ones, as JSON files in Snakemake's folder; losing a file costs only time."""

import contextlib
import json
import os
from pathlib import Path

FOLDER = Path(".snakemake")


def read_memory(path: Path) -> object:
    """Return the value stored in a file, or None if it can't be read."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def write_memory(path: Path, value) -> None:
    """Write a value atomically; do nothing if the file can't be written."""
    partial = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        partial.write_text(json.dumps(value), encoding="utf-8")
        partial.replace(path)
