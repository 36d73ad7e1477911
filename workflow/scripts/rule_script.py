"""What the scripts of all rules share: their call, and a log that keeps what they say.

A script ends with ``if "snakemake" in globals(): run_rule(main, snakemake)``. Its libraries are those of its image, which
come first in Python's search path; Snakemake's own environment is only appended to it. That the image has every
library that a script imports is tested (`tests/test_layers.py`), not asked by each script.
"""

import sys
from collections.abc import Callable
from typing import TextIO


class _Both:
    def __init__(self, *streams: TextIO):
        self.streams = streams

    def write(self, text):
        for stream in self.streams:
            stream.write(text)
            stream.flush()
        return len(text)

    def flush(self):
        for stream in self.streams:
            stream.flush()


def keep_log(path: str) -> None:
    """Copy standard output and standard error, tracebacks included, to a file from now on."""
    log = open(path, "w", encoding="utf-8")  # noqa: SIM115, it stays open until the script ends
    sys.stdout, sys.stderr = _Both(sys.stdout, log), _Both(sys.stderr, log)


def run_rule(main: Callable, snakemake) -> None:
    """Call a script's ``main(inputs, outputs, params)`` as its rule says, with the rule's log."""
    keep_log(snakemake.log[0])
    main(snakemake.input, snakemake.output, snakemake.params)
