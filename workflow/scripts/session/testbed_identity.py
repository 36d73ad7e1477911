"""Digests of the testbed and of the images that execute runs; if a digest changes, finished runs become stale."""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from session import module_memory
from testbed.machine import identity
from wording.terminal_text import said


def testbed_digest() -> str:
    """Return the digest of the testbed, which executes runs on Linux; the digests of its modules are cached."""
    return _remembering(*identity.TESTBED)


def simulator_digest() -> str:
    """Return the digest of the program that executes runs in a simulator; the digests of its modules are cached."""
    from simulator.run import program_digest  # only studies with such runs need it

    return program_digest(_remembering)


def program_content() -> str:
    """Return the SHA-256 of the source files of the testbed and the simulator.

    As long as this digest is unchanged, `testbed_digest` and `simulator_digest` are unchanged too. Because the run cache calls this
    function for each run, the files are read again only after one of the files has changed.
    """
    return _content((*identity.TESTBED, identity.SIMULATOR), _file_states(*identity.TESTBED, identity.SIMULATOR))


@lru_cache(maxsize=1)
def _content(folders, file_states) -> str:
    return identity.content_digest(*folders)


def _file_states(*folders) -> tuple:
    """Return the path, size and ctime of each module; any change to a file updates its ctime, even if its mtime is restored."""
    paths = (
        os.path.join(folder, name)
        for package in folders
        for folder, _, names in os.walk(package)
        for name in names
        if name.endswith(".py")
    )
    return tuple((path, status.st_size, status.st_ctime_ns) for path in paths for status in (os.stat(path),))


def _remembering(*folders) -> str:
    with module_memory.kept():
        return identity.package_digest(*folders, of_module=lambda content: module_memory.read_once(_read, content)[0])


def _read(content) -> list[str]:
    return [identity.module_digest(content)]


def image_digest(description: str | Path, needed: bool = True) -> str:
    """Return the content digest of an image, read from the image's description ``envs/<image>.json``, which set-up writes."""
    return image_fact(description, "content_digest", needed)


def image_fact(description: str | Path, name: str, needed: bool = True) -> str:
    """Return the value of a key in an image's description.

    If the description is missing, exit with a message or, if the image isn't ``needed``, return an empty string.
    """
    path = Path(description)
    if not needed and not path.exists():
        return ""
    try:
        return json.loads(path.read_text())[name]
    except OSError as error:
        sys.exit(said(f"{path} can't be read ({error.strerror}): the images are missing, run `{_set_up(path)}`."))
    except (ValueError, KeyError):
        sys.exit(said(f"{path} is not an image description: run `{_set_up(path)}`."))


def require_images(descriptions: Sequence[str | Path], only_planned: bool) -> None:
    """Exit with a message if an image is missing; if jobs are only planned, which requires no images, print a message instead."""
    missing = next((path for path in map(Path, descriptions) if not path.exists()), None)
    if missing is None:
        return
    if not only_planned:
        image_digest(missing)
    print(
        f"sawtooth: the images are missing, so this plan treats every result as stale; `{_set_up(missing)}` makes them.",
        file=sys.stderr,
    )


def _set_up(path: Path) -> str:
    """Return the command that builds the image with the given description."""
    where = f"make -C {shlex.quote(str(path.parent.parent))} setup" if path.is_absolute() else "make setup"
    return f"{where} NS3=1" if path.stem == "ns3" else where
