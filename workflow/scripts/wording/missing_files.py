"""Reasons why a path given by a user can't be read."""

import errno
import os


def absence(path: str | os.PathLike, kind: str = "file") -> str:
    """Return the reason why a path can't be read: "there is no such file", or the obstacle for this user.

    Parameters
    ----------
    path : str or os.PathLike
    kind : str
        Expected kind, ``file`` or ``folder``.

    Returns
    -------
    str
        Goes on after "PATH: "; empty if something is there that this user may read.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return "it is a link to nothing" if os.path.islink(path) else f"there is no such {kind}"
    except OSError as error:
        return f"it can't be read ({error.strerror})"
    return "" if os.access(path, os.R_OK) else f"it can't be read ({os.strerror(errno.EACCES)})"
