"""Wait for a point in time, or for processes to end, without reading the clock."""

import contextlib
import os
import select
import time
from collections.abc import Iterator


@contextlib.contextmanager
def punctual() -> Iterator[None]:
    """Give this process real-time priority within the context.

    The process then wakes up as soon as a timer fires, and doesn't change the scheduling of other processes. On a machine's own kernel
    only root may set the priority; there, the wake-up delay is measured (`cpu`).
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class Alarm:
    """Waits for a kernel timer (timerfd_create(2)) or for processes to end (pidfd_open(2)).

    ``origin_ns`` is the origin of all times, as a value of `time.monotonic_ns`.
    """

    def __init__(self, origin_ns):
        self._origin_ns = origin_ns
        self._poll = select.poll()
        self._running, self._ready = set(), set()

    def __enter__(self):
        self._timer = os.timerfd_create(time.CLOCK_MONOTONIC, flags=os.TFD_NONBLOCK | os.TFD_CLOEXEC)
        self._poll.register(self._timer, select.POLLIN)
        self._punctual = punctual()
        self._punctual.__enter__()
        return self

    def __exit__(self, *_):
        self._punctual.__exit__(None, None, None)
        for handle in (self._timer, *self._running):
            os.close(handle)

    def watch(self, process) -> None:
        """Add a running process to the processes to wait for."""
        handle = os.pidfd_open(process.pid)
        self._running.add(handle)
        self._poll.register(handle, select.POLLIN)

    def waits_for(self, others=False) -> bool:
        """Return whether there is anything to wait for: a watched process that is still running or, if ``others`` is true, later events."""
        return others or bool(self._running)

    def rang(self, at_s) -> bool | None:
        """Wait until ``at_s`` seconds after the origin or until all processes have ended; return whether the time was reached."""
        at_ns = max(1, self._origin_ns + round(at_s * 1e9))
        os.timerfd_settime_ns(self._timer, flags=os.TFD_TIMER_ABSTIME, initial=at_ns)
        while True:
            ready = {handle for handle, _ in self._poll.poll()}
            for handle in ready & self._running:
                self._poll.unregister(handle)
                self._running.remove(handle)
                os.close(handle)
            if self._timer in ready:
                os.read(self._timer, 8)
                return True
            if not self._running:
                return False
