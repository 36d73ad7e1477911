"""Files with a program's qlog, in a folder that only a file descriptor names. An untrusted program writes them, so they may be anything."""

import fnmatch
import os
import stat

#: Maximum number of files to read for a flow, and maximum number of bytes to read from a file, which programs can't exceed
#: (`confined.WRITTEN_MIB`).
MOST_FILES, MOST_BYTES = 16, 2**26


class QlogError(ValueError):
    """A log can't be read; the text gives the reason."""


def log_names(folder, pattern) -> list[str]:
    """Return the names of the first `MOST_FILES` files in a folder (a file descriptor) that match a pattern, sorted."""
    return sorted(name for name in os.listdir(folder) if fnmatch.fnmatchcase(name, pattern))[:MOST_FILES]


def log_content(folder, name) -> bytes:
    """Return the content of a file in a folder (a file descriptor); raise `QlogError` if it is too large or not a regular file."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise QlogError("is not a regular file")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise QlogError(f"is larger than {MOST_BYTES} bytes")
    return content
