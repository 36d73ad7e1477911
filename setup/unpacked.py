"""An unpacked bundle (`make bundle`): its contents, and the check that it is complete.

A checkout with a folder `bundle` needs no network: images, Apptainer, Python and the workflow's
packages are in there. Images are used where they are. Files that set-up makes from the other parts go
into `bundle/cache`, so the folder has everything, and one set-up serves all machines that share it.
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
#: Starts the Python of the analysis image without a container.
PYTHON = BUNDLE / "python3"
#: Digests of all files in the bundle except this one, which is the archive's last, in the format of sha256sum.
DIGESTS = BUNDLE / "SHA256SUMS"
#: List of all symbolic links, one line ``path -> target`` for each.
LINKS = BUNDLE / "LINKS"
#: Commit, its date in seconds since 1970, and `clean` or `changed`; read by workflow/scripts/session/checkout.py.
COMMIT = BUNDLE / "commit"
CHECKED = BUNDLE / "checked"
REMEDY = "unpack the archive again; if the message stays the same, copy the archive again from where it was made"


def is_unpacked_bundle() -> bool:
    """Return whether this folder is an unpacked bundle."""
    return BUNDLE.is_dir()


def read_list(path, separator) -> list[tuple[str, ...]]:
    """Read a list of the bundle: one ``first<separator>second`` per line."""
    try:
        lines = filter(None, path.read_text(errors="surrogateescape").split("\n"))
        return [tuple(line.split(separator, 1)) for line in lines if line.index(separator)]
    except (OSError, ValueError):
        raise SetupError(f"this bundle is damaged ({path} is missing or truncated): {REMEDY}.")


def check_whole() -> None:
    """Compare an unpacked bundle with its list of digests, once.

    The workflow's files may be edited after unpacking; files below `bundle` may not. If the folder
    is copied, the copy is compared again.

    Raises
    ------
    SetupError
        A file or link is missing, changed or unexpected, or has lost its date; the message names the first and the number of others.
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
    refuse_if(sorted(set(files_below(BUNDLE)) - set(digests) - set(links) - {DIGESTS, CHECKED}), "not of the bundle")
    undated = [path for path in digests if path.suffix == ".pyc" and IMAGES in path.parents and not is_current(path)]
    refuse_if(undated, "older or newer than its source, because dates were not copied along")
    CHECKED.write_text(state)


def is_current(compiled) -> bool:
    """Return whether a compiled Python file of an image is up to date, judged by the source's date that it records.

    If the file is outdated, Python compiles the source at every start, and runs give other bytes.
    """
    with open(compiled, "rb") as content:
        head = content.read(12)
    by_date = head[4:8] == bytes(4)  # PEP 552; other bytecode is compared by content, or not at all
    source = compiled.parent.parent / (compiled.name.split(".")[0] + ".py")
    if source.is_symlink() and os.readlink(source).startswith("/"):
        source = Path(*source.parts[:4], os.readlink(source).lstrip("/"))  # bundle/images/<image>/root
    return not by_date or not source.is_file() or int(source.stat().st_mtime) == int.from_bytes(head[8:12], "little")


def refuse_if(paths, what) -> None:
    """Raise SetupError if there are paths, naming the first."""
    if paths:
        more = f", and so are {len(paths) - 1} more" if len(paths) > 1 else ""
        raise SetupError(f"this bundle is damaged ({paths[0]} is {what}{more}): {REMEDY}.")


def files_below(folder) -> Iterator[Path]:
    """Yield every file and link below a folder except those that set-up makes."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(place, name) != CACHE]
        yield from (Path(place, name) for name in files)
        yield from (Path(place, name) for name in folders if os.path.islink(os.path.join(place, name)))


def digest_of(path) -> str:
    """SHA-256 of a file in hex digits."""
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
