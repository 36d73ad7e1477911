"""Find, open and read a results folder without trusting it, because it may come from someone else.

Nothing is written to the folder. Links in the folder aren't followed. Only regular files are read, and only up to a maximum size for each
kind of file.
"""

import contextlib
import os
import re
import stat
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from publishing.result_checks.folder_walk import files_below
from publishing.result_checks.nearest_results import nearest_to
from publishing.result_checks.received_archive import unpack
from publishing.result_checks.received_errors import ReceivedError, shown
from run_tables.run_documents import DOCUMENT_LIMIT  # noqa: F401, kept next to the other limit
from testbed.machine.machine import locked
from testbed.machine.messages import tell
from wording.missing_files import absence

#: Maximum size of a table file in the folder, in bytes.
TABLE_LIMIT = 2**29
#: Prefix of the names of temporary folders.
TEMPORARY = "sawtooth-verify-"
#: First bytes of a zip archive with at least one entry.
BEGINNING = b"PK\x03\x04"
ALLOWED = "RESULTS is results/<study>, or an archive of it made by `make publish`"
_DOCUMENT = re.compile(r"runs/([^/]+/[^/]+/[^/]+/[^/]+)\.json\.gz")


@contextlib.contextmanager
def opened(path: str) -> Iterator[Path]:
    """Yield the results folder at a path; raise ReceivedError if the path is neither a results folder nor an archive of results.

    An archive from `make publish` is unpacked into a temporary folder, which is deleted at the end.
    """
    path = Path(path)
    if os.path.isdir(path):
        folder = _results_folder(path, path)
        if _at_work(folder):
            raise ReceivedError(f"a workflow is at work on {shown(path)}: wait until it has ended.")
        yield folder
    elif why := absence(path, "folder"):
        raise ReceivedError(f"{shown(path)}: {why}{nearest_to(path)}; {ALLOWED}.")
    elif _is_cut_off(path):
        raise ReceivedError(f"{shown(path)} is an incomplete zip archive; copy or download it again.")
    elif not path.is_file() or not zipfile.is_zipfile(path):
        raise ReceivedError(f"{shown(path)} is neither a folder nor a zip archive; {ALLOWED}.")
    else:
        with temporary_folder() as place:
            unpack(path, place)
            yield _results_folder(place, path)


def _is_cut_off(path):
    """Return whether a file begins like a zip archive but doesn't end like one."""
    if not path.is_file() or zipfile.is_zipfile(path):
        return False
    with path.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING


def _at_work(folder):
    """Return whether a workflow has locked the folder (see `study_lock`)."""
    lock = folder / ".lock"
    if lock.is_symlink() or not lock.is_file():
        return False
    try:
        with locked(lock):
            return False
    except OSError as error:
        return isinstance(error, BlockingIOError)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a temporary folder that is deleted at the end; also delete temporary folders that killed verifications left behind."""
    place = Path(tempfile.gettempdir()).resolve()
    for leftover in place.glob(f"{TEMPORARY}*"):
        with contextlib.suppress(OSError):  # a folder in use can't be locked
            details = leftover.lstat()
            if stat.S_ISDIR(details.st_mode) and details.st_uid == os.geteuid():
                with locked(leftover):
                    _remove(leftover)
    with contextlib.ExitStack() as stack:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=place))
            # Another verification may have mistaken the folder for a leftover before the folder was locked.
            with contextlib.suppress(FileNotFoundError, BlockingIOError):
                stack.enter_context(locked(folder))
                if folder.exists():
                    break
        stack.callback(_remove, folder)
        yield folder


def _remove(folder):
    """Remove a folder with all its contents; print a sentence if the folder can't be removed."""
    # Not `shutil.rmtree`, whose recursion fails on a thousand nested folders.
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(folder)], stdin=subprocess.DEVNULL, capture_output=True)
    if folder.exists():
        tell(f"{shown(folder)} can't be removed: please delete it.")


def _results_folder(folder, source):
    """Return the folder that contains `runs`: the given folder or, for an archive, its only entry. ``source`` is the user's path."""
    if (folder / "runs").is_dir():
        return folder.resolve()
    below = sorted(entry for entry in folder.iterdir() if (entry / "runs").is_dir() and not entry.is_symlink())
    if folder != source and below:
        # A reader could take a file beside the results for one of them, but it would be compared with nothing.
        beside = sorted(entry.name for entry in folder.iterdir() if entry != below[0])
        if not beside:
            return below[0].resolve()
        raise ReceivedError(
            f"{shown(source)} contains {shown(beside[0])} beside the results in {shown(below[0].name)}; "
            "allowed: an archive of one study's results and nothing else."
        )
    hint = f"; did you mean {shown(below[0])}?" if below else ", a results folder is results/<study>."
    raise ReceivedError(f"{shown(source)} has no folder `runs`{hint}")


def documents(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of a folder's runs (``scenario/cca/ip_version/replication``), and the paths of other files below ``runs``.

    Both lists are sorted. The other files don't belong below ``runs``; their paths are relative to the folder.
    """
    names, others = [], []
    for path, entry in files_below(folder / "runs"):
        match = _DOCUMENT.fullmatch(f"runs/{path}")
        names.append(match[1]) if match and entry.is_file(follow_symlinks=False) else others.append(f"runs/{path}")
    return sorted(names), sorted(others)


def read_file(folder: Path, relative: str, limit: int) -> bytes:
    """Return the bytes of a regular file in the folder.

    Raises `ReceivedError` if the file is missing, larger than ``limit`` bytes, not a regular file, or below a symbolic link.
    """
    path = folder / relative
    try:
        if path.parent.resolve() != path.parent:
            raise ReceivedError(f"{shown(relative)} is behind a symbolic link, which isn't followed")
        # With O_NONBLOCK, opening a pipe doesn't wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ReceivedError(f"{shown(relative)} is not a regular file")
            content = stream.read(limit + 1) if os.fstat(handle).st_size <= limit else None
    except OSError as error:
        raise ReceivedError(f"{shown(relative)} can't be read ({error.strerror})") from None
    if content is None or len(content) > limit:
        raise ReceivedError(f"{shown(relative)} is larger than {limit} bytes, the limit for such a file")
    return content
