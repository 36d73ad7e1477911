"""A store that keeps run documents by key: a folder that all of a user's workflows on a machine share.

Each entry is one file, the unchanged document: ``<first 3 digits of the key>/<key>-<SHA-256 of the file>.json.gz``. Because the name
contains the checksum, an entry is verified each time it is read, and can be verified by hand with ``sha256sum``. Entries are written
atomically. The modification time of an entry is the time when it was last used. Files with other names don't belong to the store:
they are never read, counted or deleted.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SUFFIX = ".json.gz"
#: Form of the names of entries, and of the folders with entries.
ENTRY, PLACE = re.compile(r"[0-9a-f]{64}-[0-9a-f]{64}" + re.escape(SUFFIX)), re.compile("[0-9a-f]{3}")
#: Prefix of the names of files that are being written.
PARTIAL = ".partial-"
#: Age in seconds after which a partial file counts as left behind by a killed process.
LEFT_BEHIND_S = 3600
#: Share of the limit to which the store shrinks when old entries are deleted, so that the next entry doesn't trigger another deletion.
REMAINING = 0.9
#: Share of the limit that a process may add before it measures the size of the entire store again.
BETWEEN_LOOKS = 0.02


class StoreError(Exception):
    """The folder can't be trusted as a store; the message gives the reason."""


class DocumentStore:
    """A document store in a folder.

    Parameters
    ----------
    folder : pathlib.Path
        The store's folder, created with the first entry. A link, another user's folder, or a folder that others can write to is refused.
    most_bytes : float
        Limit on the total size of the entries, in bytes; above the limit, the least recently used entries are deleted.
    longest_s : float
        Time in s after which an unused entry is deleted.
    """

    def __init__(self, folder, most_bytes, longest_s):
        self.folder, self.most_bytes, self.longest_s = Path(folder), most_bytes, longest_s
        self._added_bytes = float("inf")  # so that the process measures the entire store when it adds its first entry

    def take(self, key) -> tuple[bytes | None, str | None]:
        """Return the document stored under a key, and a description of a defect in the entry; either may be None.

        A damaged entry is deleted. If there are two entries with the same key, both are deleted, because one of them must be wrong.

        Raises `StoreError` or `OSError` if the store can't be used.
        """
        if not self._check_folder():
            return None, None
        entries = self._entries(key)
        if len(entries) > 1:
            self._delete(entries)
            return None, "there were two different entries for the run; both are deleted"
        for entry in entries:
            content = _read(entry)
            if content is not None and hashlib.sha256(content).hexdigest() == _sha256_of(entry):
                with contextlib.suppress(OSError):  # a store that isn't writable can still be read
                    os.utime(entry, follow_symlinks=False)
                return content, None
            if content is not None or os.path.lexists(entry):
                self._delete(entries)
                return None, "its entry was damaged and is deleted"
        return None, None

    def keep(self, key, content) -> bool:
        """Store a document and return True; if a different document is stored under the key, delete that document and return False.

        Raises `StoreError` or `OSError` if the store can't be used, for example because it is full.
        """
        if not self._check_folder():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_folder()
        entry = self._place(key) / f"{key}-{hashlib.sha256(content).hexdigest()}{SUFFIX}"
        if others := [other for other in self._entries(key) if other != entry]:
            self._delete([*others, entry])
            return False
        entry.parent.mkdir(mode=0o700, exist_ok=True)
        self._write(entry, content)
        self._added_bytes += len(content)
        if self._added_bytes >= BETWEEN_LOOKS * self.most_bytes:
            self._added_bytes = 0
            self.delete_old()
        return True

    def delete_old(self) -> None:
        """Delete entries unused for longer than ``longest_s``, then the least recently used entries while the store exceeds its limit.

        Does nothing if another process is deleting entries.
        """
        with contextlib.suppress(BlockingIOError), self._locked():
            now, entries = time.time(), []
            for path, status in self._files():
                is_partial = path.name.startswith(PARTIAL)
                if now - status.st_mtime > (LEFT_BEHIND_S if is_partial else self.longest_s):
                    self._delete([path])
                elif not is_partial:
                    entries.append((status.st_mtime, status.st_size, path))
            total = sum(size for _, size, _ in entries)
            wanted = self.most_bytes if total <= self.most_bytes else REMAINING * self.most_bytes
            for _, size, path in sorted(entries):
                if total <= wanted:
                    break
                self._delete([path])
                total -= size

    def _check_folder(self) -> bool:
        """Return whether the folder exists; raise StoreError if anyone but this user can write to it."""
        try:
            status = os.lstat(self.folder)
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            raise StoreError("it is a link" if stat.S_ISLNK(status.st_mode) else "it is not a folder")
        if status.st_uid != os.geteuid():
            raise StoreError("it belongs to another user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise StoreError("other users can write to it")
        return True

    def _place(self, key):
        return self.folder / key[:3]

    def _entries(self, key) -> list[Path]:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            names = os.listdir(self._place(key))
            return [self._place(key) / name for name in names if ENTRY.fullmatch(name) and name.startswith(f"{key}-")]
        return []

    def _write(self, entry, content):
        handle, partial = tempfile.mkstemp(prefix=PARTIAL, dir=entry.parent)
        try:
            with open(handle, "wb") as stream:
                stream.write(content)
            os.replace(partial, entry)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the path and the state of each entry and each partial file; the folder may contain the user's files, too."""
        for folder in self.folder.iterdir():
            if PLACE.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                for path in folder.iterdir():
                    if ENTRY.fullmatch(path.name) or path.name.startswith(PARTIAL):
                        with contextlib.suppress(FileNotFoundError):  # another process has deleted it
                            yield path, path.lstat()

    @contextlib.contextmanager
    def _locked(self):
        handle = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(handle)

    def _delete(self, paths):
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()


def _sha256_of(entry):
    return entry.name.removesuffix(SUFFIX).rpartition("-")[2]


def _read(entry) -> bytes | None:
    """Return the bytes of a regular file owned by this user; None for anything else, including symbolic links."""
    try:
        # O_NONBLOCK, because opening a named pipe would otherwise block forever.
        handle = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(handle, "rb") as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return None
        return stream.read()
