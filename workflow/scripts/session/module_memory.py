"""What was read of modules, remembered from one call to the next by the content that it was read from.

Reading a study's 190 modules and the testbed's 80 again would take a second or two of each call of Snakemake, and of each of a
cluster's jobs.
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
#: The modules that read others: what they read is known no longer once they are changed.
READERS = (Path(__file__).with_name("script_code.py"), Path(identity.__file__))


def read_once(reader: Callable, content: bytes) -> list[str]:
    """Return what a reader (a function of a module's content) returns, from memory if it has read the same content before."""
    known, key = _remembered(), f"{reader.__module__} {hashlib.sha256(content).hexdigest()}"
    if key not in known:
        known[key] = reader(content)
    return known[key]


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Return a context at whose end what is new in memory is written, for the next call."""
    before = len(_remembered())
    yield
    if len(_remembered()) > before:
        _write()


@cache
def _way_of_reading() -> str:
    """Return what the results depend on besides the modules: their readers, and the Python whose syntax trees these see."""
    return hashlib.sha256(sys.version.encode() + b"".join(path.read_bytes() for path in READERS)).hexdigest()


@cache
def _remembered() -> dict[str, list[str]]:
    """Return what is known of modules: reader and SHA-256 of the content -> what was read."""
    memory = read_memory(MEMORY)
    if isinstance(memory, dict) and memory.get("read_by") == _way_of_reading():
        return memory["modules"]
    return {}


def _write() -> None:
    """Write what is known of modules; where nothing can be written, the next call reads them again."""
    with contextlib.suppress(OSError):
        FOLDER.mkdir(exist_ok=True)
    write_memory(MEMORY, {"read_by": _way_of_reading(), "modules": _remembered()})
