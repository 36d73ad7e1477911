"""A file server that fails in the middle of a large file, or whose network fails.

``python tests/failing_server.py FOLDER FAULT``, as the first process of a network namespace, serves a folder on `URL`.
"""

import contextlib
import http.server
import os
import subprocess
import sys
import time
from functools import partial

PORT = 8000
URL = f"http://127.0.0.1:{PORT}"
#: Faults after a certain number of bytes of a file were sent: no packet arrives any more, or nothing answers.
FAULTS = ("the link goes down", "the server ends")
SENT_BYTES = 3_000_000


class FailingHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files below a folder until a fault occurs; pages of folders have the form of a package index."""

    def __init__(self, *arguments, fault, **options):
        self.fault = fault
        super().__init__(*arguments, **options)

    def log_message(self, *_):
        """Suppress the log message."""

    def copyfile(self, source, outputfile):
        """Send a file, but only the first part of a large one."""
        outputfile.write(source.read(SENT_BYTES))
        if (rest := source.read()) and self.fault:
            outputfile.flush()
            if self.fault == FAULTS[1]:
                os._exit(0)
            subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
            time.sleep(600)
        outputfile.write(rest)


@contextlib.contextmanager
def network_of(folder, fault=None):
    """Yield the prefix of a command whose only network is this server.

    Raises `OSError` if this user can't create a network namespace.
    """
    alone = ["unshare", "--user", "--map-root-user", "--net", "--kill-child", "--fork"]
    server = subprocess.Popen(
        [*alone, sys.executable, __file__, folder, fault or ""], stdout=subprocess.PIPE, text=True
    )
    try:
        if not (first := server.stdout.readline()):
            raise OSError("unshare(1): no network namespace for this user")
        yield ["nsenter", "--target", first.strip(), "--user", "--preserve-credentials", "--net"]
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    handler = partial(FailingHandler, directory=sys.argv[1], fault=sys.argv[2])
    with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler) as listening:
        # The process id seen from outside, because there is no separate process namespace.
        print(os.getpid(), flush=True)
        listening.serve_forever()
