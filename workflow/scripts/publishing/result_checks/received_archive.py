"""Unpack an untrusted zip archive."""

import io
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from publishing.result_checks.folder_walk import DEEPEST
from publishing.result_checks.received_errors import ReceivedError, shown

#: Maximum ratio of unpacked to packed size. Results are mostly compressed documents, so the unpacked results are only slightly larger than
#: the archive; tables are about ten times as large as their packed form.
LARGEST_RATIO = 100
#: Maximum number of files: twice as many as in the results of a study with 100,000 runs.
LARGEST_COUNT = 200_000
#: Maximum size in bytes of the archive's list of entries, enough for the longest run names.
LARGEST_LIST_BYTES = 2**26
#: Signature at the beginning of each entry in the list (APPNOTE.TXT, 4.3.12).
SIGNATURE = b"PK\x01\x02"


class ArchiveFile(io.FileIO):
    """An archive file that checks the ZIP central directory before `zipfile` parses it; `zipfile` reads it in one call."""

    def read(self, size=-1) -> bytes:
        """Read up to ``size`` bytes; raise `ReceivedError` if these are a central directory larger than any results need."""
        if size > LARGEST_LIST_BYTES:
            raise ReceivedError(f"{shown(self.name)} is refused: its list of entries has {size} bytes.")
        content = super().read(size)
        if content.startswith(SIGNATURE) and (count := content.count(SIGNATURE)) > LARGEST_COUNT:
            raise ReceivedError(
                f"{shown(self.name)} is refused: it has {count} entries; allowed: up to {LARGEST_COUNT}."
            )
        return content


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into an empty folder, or reject the archive before anything is written.

    Raises `ReceivedError` if a name leads out of the folder, is nested too deeply or appears twice; if an entry is a link, is encrypted, or
    is packed in a way that `make publish` doesn't use; if the unpacked files would be far larger than any results or would exceed the free
    space; or if the archive is damaged.
    """
    try:
        with ArchiveFile(archive) as file, zipfile.ZipFile(file) as opened:
            entries = opened.infolist()
            _check(entries, archive, shutil.disk_usage(folder).free)
            for entry in entries:
                target = folder.joinpath(*PurePosixPath(entry.filename).parts)
                if entry.is_dir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                # At most as many bytes as the entry's size are read; `_check` has limited this size.
                with opened.open(entry) as source, target.open("xb") as copy:
                    shutil.copyfileobj(source, copy)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, OSError) as error:
        if isinstance(error, ReceivedError):
            raise
        raise ReceivedError(f"{shown(archive)} can't be unpacked: {shown(error)}.") from None


def _check(entries, archive, free_bytes):
    """Raise ReceivedError if `make publish` can't have written an archive's list of entries."""

    def refuse(why):
        raise ReceivedError(f"{shown(archive)} is refused: {why}.")

    if len(entries) > LARGEST_COUNT:
        refuse(f"it has {len(entries)} entries; allowed: up to {LARGEST_COUNT}")
    names = set()
    for entry in entries:
        name = entry.filename
        path = PurePosixPath(name)
        if name == "./":  # the folder itself, which some programs list
            continue
        if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name or "\0" in entry.orig_filename:
            refuse(f"the name '{shown(name)}' could lead out of the target folder")
        if len(path.parts) > DEEPEST + 1:
            refuse(f"'{shown(name)}' is in more than {DEEPEST} nested folders")
        if path in names:
            refuse(f"'{shown(name)}' occurs twice")
        names.add(path)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind and not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            refuse(f"'{shown(name)}' is a link or a device")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            refuse(f"'{shown(name)}' is packed by method {entry.compress_type}; allowed: 0 (stored) and 8 (deflated)")
        if entry.flag_bits & 0x1:
            refuse(f"'{shown(name)}' is encrypted")
    size, packed = sum(entry.file_size for entry in entries), archive.stat().st_size
    if size > LARGEST_RATIO * packed:
        refuse(f"it would unpack to {size} bytes, over {LARGEST_RATIO} times its own size")
    if size > free_bytes:
        refuse(f"it would unpack to {size} bytes, but only {free_bytes} are free (TMPDIR sets another place)")
