"""Cache the results of reading modules, under keys that depend on the modules' content.

Without the cache, each call of Snakemake, and each job on a cluster, would take one or two seconds to read a study's 190 modules and
the testbed's 80.
"""

import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from study_files.call_memory import FOLDER, read_memory, write_memory
from testbed.machine import identity

MEMORY = FOLDER / "module-digests.json"
#: The modules that read other modules; if any of them changes, stored results become invalid.
READERS = (Path(__file__).with_name("script_code.py"), Path(identity.__file__))


def read_once(reader: Callable, content: bytes) -> list[str]:
    """Return the result of a reader (a function of a module's content), from the cache if the reader has read the same content before."""
    known, key = _remembered(), f"{reader.__module__} {hashlib.sha256(content).hexdigest()}"
    if key not in known:
        known[key] = reader(content)
    return known[key]


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Return a context manager that, on exit, stores new cache entries for the next call."""
    before = len(_remembered())
    yield
    if len(_remembered()) > before:
        _write()


@cache
def _way_of_reading() -> str:
    """Return a digest of everything else that determines the results: the readers, and the Python version that parses the modules."""
    return hashlib.sha256(sys.version.encode() + b"".join(path.read_bytes() for path in READERS)).hexdigest()


@cache
def _remembered() -> dict[str, list[str]]:
    """Return the cached results, under keys made of the reader and the SHA-256 of the content."""
    memory = read_memory(MEMORY)
    if isinstance(memory, dict) and memory.get("read_by") == _way_of_reading():
        return memory["modules"]
    return {}


def _write() -> None:
    """Store the cached results; if this fails, the next call reads the modules again."""
    with contextlib.suppress(OSError):
        FOLDER.mkdir(exist_ok=True)
    write_memory(MEMORY, {"read_by": _way_of_reading(), "modules": _remembered()})
