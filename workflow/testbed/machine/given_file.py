"""Read users' files (studies, C files, patches, traces), which must be regular files of limited size.

Each file is read only once, and the same bytes are checked, hashed and kept.
"""

import errno
import os
import stat


class GivenFileError(OSError):
    """A file that can't be used; ``strerror`` gives the reason."""

    def __init__(self, reason):
        super().__init__(errno.EINVAL, reason)


def given_bytes(path, largest, flags=0) -> bytes:
    """Return the content of a regular file, following symbolic links.

    Parameters
    ----------
    path : str or pathlib.Path
    largest : int
        Maximum allowed size in bytes.
    flags : int, optional
        Additional flags of open(2), such as ``os.O_NOFOLLOW``.

    Raises
    ------
    GivenFileError
        If the file is a device, a pipe or a socket, or if it is larger than ``largest`` bytes. A larger file isn't read completely.
    OSError
        If the file can't be opened, or is a folder.
    """
    # O_NONBLOCK, because opening a pipe would otherwise block.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags), "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise GivenFileError(f"it is {_kind(status.st_mode)}; allowed: a regular file")
        if status.st_size > largest:
            raise GivenFileError(f"it has {status.st_size:,} bytes; allowed: {largest:,}")
        content = opened.read(largest + 1)
    if len(content) > largest:  # such as files of /proc, which report a size of 0
        raise GivenFileError(f"it has more than {largest:,} bytes")
    return content


def given_text(path, largest) -> str:
    """Return the content of a regular file as text, with its original line endings.

    Raises
    ------
    GivenFileError
        As for `given_bytes`, or if the file is not UTF-8; the message then names the line.
    """
    content = given_bytes(path, largest)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise GivenFileError(f"line {line} has the byte 0x{content[error.start]:02x}; allowed: UTF-8 text") from None


def _kind(mode):
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return next((kind for is_kind, kind in kinds.items() if is_kind(mode)), "a device")
