"""Shared parts of the traffic programs that start at given times: plans, results, the traffic's origin, and a timer.

Each program is started before the traffic, prints ``ready`` and waits for a line with the origin, in ns of the monotonic clock. A program
writes its results as JSON to a file, because a pipe that isn't being read would fill up.
"""

import contextlib
import json
import os
import resource
import socket
import sys
import time
from pathlib import Path

#: Limit on the number of open files of each of these programs.
OPEN_FILES = 16_384


class Clock:
    """A clock that counts ns from the traffic's origin, with a kernel timer (timerfd_create(2)).

    Waiting for the timer doesn't read the clock. Each reading would advance the guest's clock by 256 ns (arch/um/kernel/time.c).
    """

    def __init__(self, origin_ns):
        self._origin_ns = origin_ns
        self._timer = os.timerfd_create(time.CLOCK_MONOTONIC, flags=os.TFD_NONBLOCK | os.TFD_CLOEXEC)

    def fileno(self) -> int:
        return self._timer

    def now_ns(self) -> int:
        """Return the time in ns since the origin."""
        return time.monotonic_ns() - self._origin_ns

    def ring_at(self, at_ns) -> None:
        """Make the timer readable at the given time, or at once if the time has passed."""
        os.timerfd_settime_ns(self._timer, flags=os.TFD_TIMER_ABSTIME, initial=max(1, self._origin_ns + at_ns))

    def quiet(self) -> None:
        """Clear the expiration of the timer, so that the timer is no longer readable; a timer that hasn't expired yet keeps running."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._timer, 8)


def address_family(address) -> socket.AddressFamily:
    """Return the address family of an address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def allow_open_files() -> None:
    """Raise the limit on open files to `OPEN_FILES` if allowed, or else to the hard limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (OPEN_FILES, most):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(wanted, most)))
            return


def begin() -> Clock:
    """Print ``ready``, wait for the origin, and return a `Clock` with this origin."""
    print("ready", flush=True)
    return Clock(int(sys.stdin.readline()))


def read_plan(path) -> dict:
    """Return the plan in a JSON file."""
    return json.loads(Path(path).read_text())


def write_result(path, result) -> None:
    """Write a program's result to a JSON file."""
    Path(path).write_text(json.dumps(result, separators=(",", ":")))
