"""Why nothing can be read at a path that a person gave."""

import errno
import os


def absence(path: str | os.PathLike, kind: str = "file") -> str:
    """Return why nothing can be read at a path: "there is no such file", or what keeps this user from reading it.

    Parameters
    ----------
    path : str or os.PathLike
    kind : str
        What was looked for, ``file`` or ``folder``.

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
