"""The calling convention of all rule scripts, and the log of their output.

A script ends with ``if "snakemake" in globals(): run_rule(main, snakemake)``. In Python's search path, the libraries of the
script's image come first, and Snakemake's environment is appended. A test (`tests/test_layers.py`) ensures that the image
contains every library that a script imports.
"""

import contextlib
import errno
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TextIO

#: Errors caused by the machine's disk, not by a mistake in a script.
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


class _Both:
    """A stream that also copies its text to a log; errors in writing the log are ignored."""

    def __init__(self, stream: TextIO, log):
        self.stream, self.log = stream, log

    def write(self, text):
        with contextlib.suppress(OSError):
            self.log.write(text.encode(errors="backslashreplace"))
        self.stream.write(text)
        self.flush()
        return len(text)

    def flush(self):
        self.stream.flush()


def keep_log(path: str) -> None:
    """From now on, copy standard output and standard error (including tracebacks) to a file."""
    log = open(path, "wb", buffering=0)  # noqa: SIM115, it stays open until the script ends; text that a full disk refuses is lost
    sys.stdout, sys.stderr = _Both(sys.stdout, log), _Both(sys.stderr, log)


def run_rule(main: Callable, snakemake) -> None:
    """Call a script's ``main`` with its rule's inputs, outputs and params, and copy the script's output to the rule's log.

    A ``main`` with a fourth parameter also receives the number of threads that the rule may use.
    """
    with contextlib.suppress(OSError):
        keep_log(snakemake.log[0])
    try:
        threads = [snakemake.threads] if len(signature(main).parameters) > 3 else []
        main(snakemake.input, snakemake.output, snakemake.params, *threads)
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        reason = "no space left on device" if error.errno == errno.ENOSPC else error.strerror
        sys.exit(f"sawtooth: {error.filename or Path(snakemake.output[0]).parent}: {reason}")
