"""The cache outside the checkout: where it is, and how each entry is created once and completely."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from progress import SetupError, say
from unpacked import CACHE, is_unpacked_bundle


def cache_dir(environ=os.environ) -> Path:
    """Return the cache's directory: SAWTOOTH_CACHE if set, else an unpacked bundle's own cache, else sawtooth in the user's cache."""
    if environ.get("SAWTOOTH_CACHE"):
        return Path(environ["SAWTOOTH_CACHE"]).absolute()
    if is_unpacked_bundle():
        return CACHE.absolute()
    return own_cache(environ)


def own_cache(environ=os.environ) -> Path:
    """Return the default cache, the folder sawtooth in the user's cache."""
    base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "sawtooth"


def cache_entry(kind, name) -> Path:
    """Return an entry's path, whether it exists or not: in the cache, or in the user's own cache if the cache lacks it and isn't writable.

    So a group can share a read-only cache: its entries, above all images, are used, and a user's additional entries, such as
    kernels with the user's own CCAs, go into the user's cache.

    Parameters
    ----------
    kind, name : str
        Folder for entries of one kind, and the entry's name, which identifies its content.
    """
    shared = cache_dir() / kind / name
    if shared.exists() or _is_writable(shared.parent):
        return shared
    return own_cache() / kind / name


def _is_writable(folder):
    """Return whether a folder is writable, or can be created."""
    there = next(each for each in (folder, *folder.parents) if os.path.exists(each))
    return os.access(there, os.W_OK | os.X_OK)


def digest(*parts) -> str:
    """SHA-256 over byte strings, texts and files, each preceded by its length.

    Parameters
    ----------
    *parts : bytes, str or pathlib.Path
        A path stands for its content; a directory for the names and contents below it.
    """
    total = hashlib.sha256()

    def add(data):
        total.update(b"%d:" % len(data))
        total.update(data)

    for part in parts:
        if isinstance(part, Path) and part.is_dir():
            for file in sorted(p for p in part.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
                add(str(file.relative_to(part)).encode())
                add(file.read_bytes())
        elif isinstance(part, Path):
            add(part.read_bytes())
        else:
            add(part.encode() if isinstance(part, str) else part)
    return total.hexdigest()


def require_cache(place=None) -> None:
    """Create a directory of the cache, by default the cache itself; raise SetupError if it can't be written to."""
    place = place or cache_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise SetupError(f"the cache {place} can't be written ({error.strerror}): name another in SAWTOOTH_CACHE.")


def require_space(path, gigabytes, purpose) -> None:
    """Raise SetupError unless the file system of `path` has the required space."""
    free = shutil.disk_usage(path).free / 1e9
    if free < gigabytes:
        raise SetupError(
            f"{purpose} needs {gigabytes:g} GB below {path}, where {free:.1f} GB are free: "
            "make room, or name a directory elsewhere in SAWTOOTH_CACHE."
        )


def remove_tree(path) -> None:
    """Delete a directory, even if it has files that belong to other ids of a user namespace."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        # Those files belong to ids of /etc/subuid: only root of that namespace may delete them.
        subprocess.run(["unshare", "--map-auto", "--map-root-user", "rm", "-rf", str(path)], check=False)


@contextlib.contextmanager
def one_at_a_time(path) -> Iterator[None]:
    """Wait while another set-up creates the entry at a path; the lock file is next to it."""
    with open(path.with_name(path.name + ".lock"), "w") as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another set-up is making {path.name}; waiting for it")
            fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def made_once(final) -> Iterator[Path | None]:
    """Give the one process that creates `final` a directory to fill; rename it when complete.

    Yields
    ------
    pathlib.Path or None
        The directory to fill, next to `final`; None if `final` exists (made earlier, or by
        another set-up that this one waited for).
    """
    if final.exists():  # complete, because it was renamed; the cache may belong to another user
        yield None
        return
    require_cache(final.parent)
    with one_at_a_time(final):
        if final.exists():
            yield None
            return
        _remove_leftovers(final)
        partial = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
        partial.chmod(0o755)
        try:
            yield partial
            partial.rename(final)
        finally:
            # Again, because processes of a killed set-up may have gone on writing until now.
            _remove_leftovers(final)


def _remove_leftovers(final):
    """Remove the unfinished parts of an entry left by this set-up or a killed one; the caller must hold its lock."""
    for leftover in final.parent.glob(f".{final.name}.*"):
        remove_tree(leftover)
