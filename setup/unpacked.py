"""Find the parts of an unpacked bundle (`make bundle`), and check that the bundle is complete.

A checkout with a folder `bundle` needs no network, because this folder contains the images, Apptainer, Python and the workflow's packages.
Images are used where they are. Files that set-up makes from the other parts are written to `bundle/cache`, so that one set-up suffices for
all machines that share the folder.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from progress import SetupError, say

BUNDLE = Path("bundle")
IMAGES = BUNDLE / "images"
TOOLBOX = BUNDLE / "toolbox"
WHEELS = BUNDLE / "wheels"
CACHE = BUNDLE / "cache"
#: Program that starts the Python of the analysis image without a container.
PYTHON = BUNDLE / "python3"
#: File with the digests of all other files in the bundle, in the format of sha256sum. It is the last file in the archive.
DIGESTS = BUNDLE / "SHA256SUMS"
#: File that lists all symbolic links, one per line, as ``path -> target``.
LINKS = BUNDLE / "LINKS"
#: File with the commit, the commit's date in seconds since 1970, and `clean` or `changed`; workflow/scripts/session/checkout.py reads it.
COMMIT = BUNDLE / "commit"
CHECKED = BUNDLE / "checked"
REMEDY = "unpack the archive again; if the message stays the same, copy the archive again from where it was made"


def is_unpacked_bundle() -> bool:
    """Return whether this folder is an unpacked bundle."""
    return BUNDLE.is_dir()


def read_list(path, separator) -> list[tuple[str, ...]]:
    """Return the pairs in one of the bundle's lists, which contains one pair ``first<separator>second`` per line."""
    try:
        lines = filter(None, path.read_text(errors="surrogateescape").split("\n"))
        return [tuple(line.split(separator, 1)) for line in lines if line.index(separator)]
    except (OSError, ValueError):
        raise SetupError(f"this bundle is damaged ({path} is missing or truncated): {REMEDY}.")


def check_whole() -> None:
    """Compare an unpacked bundle with its list of digests, unless this has been done before.

    The workflow's files may be edited after unpacking, but files in `bundle` may not. If the folder is copied, the copy is compared again.

    Raises
    ------
    SetupError
        If a file or link is missing, changed or unexpected, or if a file has a wrong date. The message names the first such file and states
        the number of other ones.
    """
    state = f"{digest_of(DIGESTS) if DIGESTS.is_file() else ''} {BUNDLE.absolute()} {BUNDLE.stat().st_ino}"
    if CHECKED.is_file() and CHECKED.read_text() == state:
        return
    say("comparing the bundle with its list of digests, once")
    digests = {Path(path): digest for digest, path in read_list(DIGESTS, "  ")}
    links = {Path(path): target for path, target in read_list(LINKS, " -> ")}
    missing = [path for path in digests if not path.is_file()]
    missing += [path for path in links if not path.is_symlink()]
    refuse_if(missing, "missing")
    changed = [path for path, digest in digests.items() if BUNDLE in path.parents and digest_of(path) != digest]
    changed += [path for path, target in links.items() if os.readlink(path) != target]
    refuse_if(changed, "not what was packed")
    refuse_if(
        sorted(set(files_below(BUNDLE)) - set(digests) - set(links) - {DIGESTS, CHECKED}), "not part of the bundle"
    )
    undated = [path for path in digests if path.suffix == ".pyc" and IMAGES in path.parents and not is_current(path)]
    refuse_if(undated, "older or newer than its source, because dates were not copied along")
    CHECKED.write_text(state)


def is_current(compiled) -> bool:
    """Return whether a compiled Python file in an image records the current date of its source, or no date.

    If it recorded another date, Python would compile the source at each start, and runs would yield different bytes.
    """
    with open(compiled, "rb") as content:
        head = content.read(12)
    by_date = head[4:8] == bytes(4)  # PEP 552; other bytecode is compared by content, or not at all
    source = compiled.parent.parent / (compiled.name.split(".")[0] + ".py")
    if source.is_symlink() and os.readlink(source).startswith("/"):
        source = Path(*source.parts[:4], os.readlink(source).lstrip("/"))  # bundle/images/<image>/root
    return not by_date or not source.is_file() or int(source.stat().st_mtime) == int.from_bytes(head[8:12], "little")


def refuse_if(paths, what) -> None:
    """Raise SetupError if there are any ``paths``; the message names the first path and describes the problem (``what``)."""
    if paths:
        more = f", and so are {len(paths) - 1} more" if len(paths) > 1 else ""
        raise SetupError(f"this bundle is damaged ({paths[0]} is {what}{more}): {REMEDY}.")


def files_below(folder) -> Iterator[Path]:
    """Yield all files and links in a folder and its subfolders, except those in `CACHE`."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(place, name) != CACHE]
        yield from (Path(place, name) for name in files)
        yield from (Path(place, name) for name in folders if os.path.islink(os.path.join(place, name)))


def digest_of(path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
