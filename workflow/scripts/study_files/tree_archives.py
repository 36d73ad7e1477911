"""Read files from archives of Linux source trees, as published by kernel.org.

Standard library only: set-up and the scripts in the analysis image need it too.
"""

import hashlib
import tarfile
from collections.abc import Iterator
from pathlib import Path

#: Suffixes of archive names.
ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
#: Maximum sizes of an archive and of the tree in it, in bytes. For Linux 7.2, these are 0.16 GB and 1.6 GB.
LARGEST_BYTES, LARGEST_TREE_BYTES = 2**31, 2**33


def is_archive(path) -> bool:
    """Return whether a path ends in the suffix of an archive."""
    return str(path).endswith(ENDINGS)


def archive_sha256(path) -> str:
    """Return the SHA-256 of an archive; raise ValueError if it is too large."""
    if Path(path).stat().st_size > LARGEST_BYTES:
        raise ValueError(f"it has {Path(path).stat().st_size:,} bytes; allowed: up to {LARGEST_BYTES:,}")
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def texts_of(path, wanted, largest) -> dict[str, str]:
    """Return the texts of files in an archive, by path; missing files are omitted.

    Parameters
    ----------
    path : str or pathlib.Path
        Path of the archive.
    wanted : collection of str
        Paths of files in the tree. The tree is the archive itself or the top folder that contains the most of these files.
    largest : int
        Maximum total size of the files that are read, in bytes; files that would exceed it are omitted.

    Raises
    ------
    ValueError
        If the file isn't an archive, or the tree is too large.
    """
    found, left = {"": {}}, largest
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                if archive.offset > LARGEST_TREE_BYTES:
                    raise ValueError(f"its tree has more bytes than allowed, {LARGEST_TREE_BYTES:,}")
                for top, below in _places(member.name):
                    if below in wanted and member.isfile() and member.size <= left:
                        left -= member.size
                        texts = found.setdefault(top, {})
                        texts.setdefault(below, archive.extractfile(member).read().decode(errors="replace"))
                if any(len(texts) == len(wanted) for texts in found.values()):
                    break
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise ValueError(f"it is not a readable archive ({error}); allowed: {', '.join(ENDINGS)}") from None
    return max(found.values(), key=len)


def members_in(path, folders, largest) -> Iterator[tuple[str, bytes, bool]]:
    """Yield path, content and executable bit of each regular file directly in the given folders of an archive's tree.

    The tree is the archive itself or the top folder that contains the most of the given folders. At most ``largest`` bytes are read in
    total; files that would exceed this limit are omitted.
    """
    found, left = {"": {}}, largest
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            for top, below in _places(member.name):
                if member.isfile() and member.size <= left and (folder := below.rpartition("/")[0]) in folders:
                    left -= member.size
                    entry = below, archive.extractfile(member).read(), bool(member.mode & 0o100)
                    found.setdefault(top, {}).setdefault(folder, []).append(entry)
    for entries in max(found.values(), key=len).values():
        yield from entries


def _places(name):
    """Return the two possible positions of an archive member: top folder ("" if the tree is the archive itself), and path below it."""
    path = name.removeprefix("./")
    top, _, below = path.partition("/")
    return ("", path), (top, below)
