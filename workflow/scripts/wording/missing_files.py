"""Reasons why a path that the user gave can't be read."""

import errno
import os


def absence(path: str | os.PathLike, kind: str = "file") -> str:
    """Return the reason why the current user can't read a path, such as "there is no such file".

    Parameters
    ----------
    path : str or os.PathLike
        Path to examine.
    kind : str
        What the path is expected to be, ``file`` or ``folder``.

    Returns
    -------
    str
        Text to follow "PATH: "; empty if the path can be read.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return "it is a dangling link" if os.path.islink(path) else f"there is no such {kind}"
    except OSError as error:
        return f"it can't be read ({error.strerror})"
    return "" if os.access(path, os.R_OK) else f"it can't be read ({os.strerror(errno.EACCES)})"
