"""Find the cache, which is outside the checkout, and create each cache entry only once and completely."""

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

#: Folders of a cache: those of `cache_entry`, the workflow's `runs` and `speed`, and `checkouts` of modules.
KINDS = (
    "bundle-wheels", "checkouts", "debian", "images", "kernels", "packages", "pip", "python", "runs", "selftests", "speed", "stacks", "toolbox",
    "uv", "wheels",
)  # fmt: skip
#: Prefix of temporary folders in which bundles are made.
BUNDLE = ".bundle."
#: Maximum number of other files that a message names.
NAMED = 3


def cache_dir(environ=os.environ) -> Path:
    """Return the cache folder: SAWTOOTH_CACHE if it is set, otherwise the cache in an unpacked bundle or the user's cache."""
    if environ.get("SAWTOOTH_CACHE"):
        return Path(os.path.expanduser(environ["SAWTOOTH_CACHE"])).absolute()
    if is_unpacked_bundle():
        return CACHE.absolute()
    return own_cache(environ)


def own_cache(environ=os.environ) -> Path:
    """Return the user's default cache, such as ~/.cache/sawtooth."""
    base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "sawtooth"


def cache_entry(kind, name) -> Path:
    """Return the path to a cache entry, which need not exist.

    If the entry doesn't exist and the cache isn't writable, the path is in the user's cache. A group can therefore share a read-only cache
    with images, while additional entries, such as kernels with custom CCAs, go into each user's cache.

    Parameters
    ----------
    kind : str
        Name of the folder for all entries of this kind.
    name : str
        Name of the entry, which identifies the entry's content.
    """
    shared = cache_dir() / kind / name
    if shared.exists() or _is_writable(shared.parent):
        return shared
    return own_cache() / kind / name


def writable_entry(kind, name) -> Path:
    """Return the path to a cache entry that changes: in the cache if it is writable there, otherwise in the user's cache."""
    shared = cache_dir() / kind / name
    return shared if _is_writable(shared) else own_cache() / kind / name


def _is_writable(folder):
    """Return whether a folder is writable or can be created."""
    there = next(each for each in (folder, *folder.parents) if os.path.exists(each))
    return os.access(there, os.W_OK | os.X_OK)


def digest(*parts) -> str:
    """Return the SHA-256 of byte strings, texts and files, each preceded by its length.

    Parameters
    ----------
    *parts : bytes, str or pathlib.Path
        Parts to hash. A path stands for the content of the file, or for the names and contents of all files in the folder.
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
    """Create a folder in the cache (by default, the cache itself); raise SetupError if the folder isn't writable."""
    place = place or cache_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise SetupError(f"the cache {place} can't be written ({error.strerror}): name another in SAWTOOTH_CACHE.")


def require_space(path, gigabytes, purpose) -> None:
    """Raise SetupError unless at least ``gigabytes`` GB are free on the file system of ``path``; ``purpose`` begins the message."""
    free = shutil.disk_usage(path).free / 1e9
    if free < gigabytes:
        raise SetupError(
            f"{purpose} needs {gigabytes:g} GB below {path}, where {free:.1f} GB are free: "
            "make room, or name a directory elsewhere in SAWTOOTH_CACHE."
        )


def remove_tree(path) -> None:
    """Delete a folder, even if files in it belong to other users of a user namespace."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        # The remaining files belong to ids from /etc/subuid; only root in a namespace with these ids may delete them.
        subprocess.run(["unshare", "--map-auto", "--map-root-user", "rm", "-rf", str(path)], check=False)


def delete_cache(environ=os.environ) -> None:
    """Delete the cache folder, and folders that links in it lead to.

    Raises SetupError if SAWTOOTH_CACHE names a folder that contains other files, too, such as the user's home; then nothing is deleted.
    Also raises SetupError if the folder can't be deleted.
    """
    place = cache_dir(environ)
    names = (path.name for path in place.glob("*") if not path.name.startswith(BUNDLE))
    others = sorted({*names} - {*KINDS}) if environ.get("SAWTOOTH_CACHE") else []
    if others:
        named = ", ".join(others[:NAMED]) + (f" and {len(others) - NAMED} more" if len(others) > NAMED else "")
        raise SetupError(
            f"{place} is not deleted, because it also contains {named}, which Sawtooth didn't make; "
            f"Sawtooth's folders in it are {', '.join(name for name in KINDS if (place / name).exists()) or 'none'}."
        )
    say(f"deleting {place}")
    for path in (*(place / kind for kind in KINDS), place):
        remove_tree(path.resolve())  # a link may lead to another disk
        if path.exists():
            raise SetupError(f"{path} can't be deleted: it, or something in it, belongs to another user.")
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def one_at_a_time(path) -> Iterator[None]:
    """Hold the lock on a cache entry, after waiting until no other set-up holds it; the lock file is next to the entry."""
    with open(path.with_name(path.name + ".lock"), "w") as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another set-up is making {path.name}; waiting for it")
            fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def made_once(final) -> Iterator[Path | None]:
    """Create a cache entry in only one process: the caller fills a temporary folder, which is then renamed to ``final``.

    Yields
    ------
    pathlib.Path or None
        Folder to fill, or None if ``final`` exists, possibly because another set-up has just created it.
    """
    if (
        final.exists()
    ):  # and is complete, because entries are renamed only when complete; the cache may belong to another user
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
            # Done again, because the processes of a killed set-up may have continued to write in the meantime.
            _remove_leftovers(final)


def _remove_leftovers(final):
    """Remove unfinished versions of an entry, left by this or an interrupted set-up; the caller must hold the lock on the entry."""
    for leftover in final.parent.glob(f".{final.name}.*"):
        remove_tree(leftover)
