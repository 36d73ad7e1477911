"""Keep what a script says, its error above all, in the rule's log as well as on the terminal."""

import sys


class _Both:
    def __init__(self, *streams):
        self.streams = streams

    def write(self, text):
        for stream in self.streams:
            stream.write(text)
            stream.flush()
        return len(text)

    def flush(self):
        for stream in self.streams:
            stream.flush()


def keep_log(path):
    """Copy standard output and standard error, tracebacks included, to a file from now on."""
    log = open(path, "w", encoding="utf-8")  # noqa: SIM115, it stays open until the script ends
    sys.stdout, sys.stderr = _Both(sys.stdout, log), _Both(sys.stderr, log)
