"""Messages of a run: log lines, and error messages that name the file and the cause."""

import contextlib
import sys
from collections.abc import Iterator


def note(log, text) -> None:
    """Write a line to a log.

    If this fails, the user is informed but no error is raised, because a missing line is no reason to discard a run.

    Parameters
    ----------
    log : binary file
        Unbuffered file. With a buffer, a full disk would be noticed only when the file is closed.
    text : str
    """
    try:
        log.write(f"{harmless(text)}\n".encode(errors="backslashreplace"))
        log.flush()
    except OSError as error:
        tell(f"{log.name}: {in_words(error)}")


def tell(text) -> None:
    """Print a message on standard error in a single write.

    Parallel jobs share standard error, and `print` may use two writes.
    """
    sys.stderr.write(f"sawtooth: {harmless(text)}\n")
    sys.stderr.flush()


def harmless(text) -> str:
    """Return text that is safe to print on a terminal: unprintable characters, except newlines, become Python escape sequences."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode() for each in text
    )


@contextlib.contextmanager
def naming(path) -> Iterator[None]:
    """Add ``path`` to any `OSError` raised in this context that doesn't name a file, such as the error for a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def in_words(error) -> str:
    """Return an error message on a single line; for an `OSError`, it consists of the path and the cause."""
    if isinstance(error, OSError) and error.strerror:
        cause = error.strerror[0].lower() + error.strerror[1:]
        return f"{error.filename}: {cause}" if error.filename else cause
    return " ".join(str(error).split())


def last_line(path) -> str:
    """Return the last line of a file, such as a program's error output; "no message" for an empty file."""
    return (path.read_text(errors="replace").strip().splitlines() or ["no message"])[-1]
