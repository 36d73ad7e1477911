"""Messages of a run: lines in its log, and errors that name the failure and its place."""

import contextlib
import sys
from collections.abc import Iterator


def note(log, text) -> None:
    """Write a line to a log; if that fails, tell the user, because a missing line is no reason to discard a run.

    Parameters
    ----------
    log : binary file
        An unbuffered file, because with a buffer a full disk would be noticed only when it is closed.
    text : str
    """
    try:
        log.write(f"{harmless(text)}\n".encode(errors="backslashreplace"))
        log.flush()
    except OSError as error:
        tell(f"{log.name}: {in_words(error)}")


def tell(text) -> None:
    """Print a message on standard error in a single write, because parallel jobs share it and `print` may use two writes."""
    sys.stderr.write(f"sawtooth: {harmless(text)}\n")
    sys.stderr.flush()


def harmless(text) -> str:
    """Return text that is safe for a terminal: control characters except line ends are shown as Python's escapes."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode() for each in text
    )


@contextlib.contextmanager
def naming(path) -> Iterator[None]:
    """Add a path to system errors raised in this context, because errors for a full disk don't name any."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def in_words(error) -> str:
    """Return an error as one line, even if a tool's output has several; for system errors, path and cause."""
    if isinstance(error, OSError) and error.strerror:
        cause = error.strerror[0].lower() + error.strerror[1:]
        return f"{error.filename}: {cause}" if error.filename else cause
    return " ".join(str(error).split())
