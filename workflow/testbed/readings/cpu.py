"""CPU times of the cores during the traffic, and wake-up delays on this machine.

A separate process (``python3 -m testbed.readings.cpu INTERVAL_MS``) is pinned to the program's core. It reads ``/proc/stat`` when it
begins, at a fixed interval, and when its standard input ends. At the end it writes all readings. Of the readings before the traffic's
origin, only the last is kept.

The kernel counts CPU times in units of 10 ms (proc_stat(5)), so individual readings are coarse, but sums over a second are accurate to 1 %.
The kernel measures idle time and thus busy time. The parts of busy time, such as user and system, are only sampled at the kernel's tick.

The wake-up delay is the time from the requested moment to the reading. Any process of the run that waits for a timer may wake up
with the same delay. Possible causes are other load, stolen CPU time, or a paused machine.
"""

import itertools
import json
import math
import os
import select
import subprocess
import sys
import time

INTERVAL_MS = 100
#: Size of a buffer that is larger than /proc/stat.
STAT_BYTES = 1 << 20
#: Columns of a core's line in /proc/stat; guest times are part of user and nice.
COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
#: Parts of each core's time in the document: nice counts as user, iowait as idle.
PARTS = {
    "user": ("user", "nice"),
    "system": ("system",),
    "irq": ("irq",),
    "softirq": ("softirq",),
    "steal": ("steal",),
    "idle": ("idle", "iowait"),
}


class CpuError(RuntimeError):
    """The reader of CPU times returned no readings."""


class CpuReader:
    """Reader of CPU times, which works in the background while the context is open.

    Parameters
    ----------
    core : int
        Core on which the reading process runs.
    interval_ms : float
        Interval between readings in ms.
    """

    def __init__(self, core, interval_ms=INTERVAL_MS):
        self._core, self._interval_ms = core, interval_ms
        self._readings = None

    def __enter__(self):
        core = self._core
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-m", "testbed.readings.cpu", str(self._interval_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        # The process reports when it has started to read. Traffic begins only afterwards.
        self._process.stdout.readline()
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        text = self._process.stdout.read()
        if self._process.wait() == 0:
            self._readings = json.loads(text)

    def section(self, roles, origin_ns) -> dict:
        """Return the document's section ``cpu``.

        Raises `CpuError` if there are no readings.

        Parameters
        ----------
        roles : dict
            Core that the run uses -> roles of this core.
        origin_ns : int
            Origin of the traffic, as given by `time.monotonic_ns`.
        """
        if not self._readings or len(self._readings) < 2:
            raise CpuError("the reader of CPU times returned no readings")
        return summary(self._readings, roles, origin_ns, self._interval_ms)


def summary(readings, roles, origin_ns, interval_ms) -> dict:
    """Return the document's section ``cpu``.

    Parameters
    ----------
    readings : list
        For each reading: the scheduled time (None for the first and the last reading), the actual time, and the CPU times. Both times are
        in ns of the monotonic clock. The CPU times map a core (as text) to its `COLUMNS`, in ticks since the machine's start.
    roles, origin_ns, interval_ms
        As for `CpuReader`.

    Returns
    -------
    dict
        ``interval_ms``; ``tick_ms``, the unit of CPU times; ``time_s``, the time of each reading since the traffic's origin, of which only
        the first is before the origin; ``cores``, with each core's ``roles`` and, for each of the `PARTS`, the ticks between successive
        readings; and ``late_ms``, with the maximum (``max``) and the 99th percentile (``p99``) of the delays of scheduled readings, 0 if
        there are none.
    """
    late_ms = sorted((made - due) / 1e6 for due, made, _ in readings if due is not None) or [0.0]
    before = sum(1 for _, made, _ in readings if made <= origin_ns)
    readings = readings[max(0, before - 1) :]
    return {
        "interval_ms": interval_ms,
        "tick_ms": 1000 / os.sysconf("SC_CLK_TCK"),
        "time_s": [(made - origin_ns) / 1e9 for _, made, _ in readings],
        "cores": {str(core): {"roles": words, **ticks_of(readings, str(core))} for core, words in roles.items()},
        "late_ms": {"max": late_ms[-1], "p99": late_ms[math.ceil(0.99 * len(late_ms)) - 1]},
    }


def ticks_of(readings, core) -> dict[str, list[int]]:
    """Return the ticks of a core between successive readings, by part."""
    totals = [
        {part: sum(ticks[core][COLUMNS.index(name)] for name in names) for part, names in PARTS.items()}
        for _, _, ticks in readings
    ]
    return {part: [now[part] - before[part] for before, now in itertools.pairwise(totals)] for part in PARTS}


def shares_of(section, core, part, window_s=None) -> list[float]:
    """Return the share of time that a core spent on a part, for each averaging window or for the entire period.

    Parameters
    ----------
    section : dict
        The section ``cpu`` of a document.
    core : str
    part : str
        One of `PARTS`, or ``busy`` for everything except idle. The busy share is computed from the idle time, because activity shorter than
        the kernel's tick shortens the idle time but may be missing from the other parts.
    window_s : float, optional
        Length of the averaging windows in s. A window begins at each reading. By default, or if there are too few readings, a single window
        spans all readings.
    """
    times, ticks = section["time_s"], section["cores"][core]["idle" if part == "busy" else part]
    sums = [0, *itertools.accumulate(ticks)]
    windows = [(0, len(times) - 1)]
    if window_s is not None:
        count = round(window_s * 1e3 / section["interval_ms"])
        windows = [(first, first + count) for first in range(len(times) - count)] or windows
    shares = [
        (sums[last] - sums[first]) * section["tick_ms"] / 1e3 / (times[last] - times[first]) for first, last in windows
    ]
    return [1 - share for share in shares] if part == "busy" else shares


def parse(text) -> dict[str, list[int]]:
    """Return the `COLUMNS` of each core (as text) from the content of /proc/stat."""
    lines = (line.split() for line in text.splitlines() if line.startswith("cpu") and line[3:4].isdigit())
    return {name.removeprefix("cpu"): [int(word) for word in words[: len(COLUMNS)]] for name, *words in lines}


def read_until_end(interval_ms, stat, ends) -> list[tuple[int | None, int, bytes]]:
    """Read ``stat`` immediately, at each interval, and when ``ends`` reaches its end; return the readings.

    ``stat`` and ``ends`` are file descriptors.
    """
    interval_ns, began_ns = round(interval_ms * 1e6), time.monotonic_ns()
    readings = [(None, began_ns, os.pread(stat, STAT_BYTES, 0))]
    due_ns = began_ns + interval_ns
    timer = os.timerfd_create(time.CLOCK_MONOTONIC, flags=os.TFD_CLOEXEC)
    waiting = select.poll()
    waiting.register(timer, select.POLLIN)
    waiting.register(ends, select.POLLIN)
    while True:
        os.timerfd_settime_ns(timer, flags=os.TFD_TIMER_ABSTIME, initial=due_ns)
        if ends in {handle for handle, _ in waiting.poll()}:
            os.close(timer)
            return [*readings, (None, time.monotonic_ns(), os.pread(stat, STAT_BYTES, 0))]
        made_ns = time.monotonic_ns()
        readings.append((due_ns, made_ns, os.pread(stat, STAT_BYTES, 0)))
        # If further scheduled readings were missed, they are skipped, and only the delay of this reading counts.
        due_ns += interval_ns * max(1, math.ceil((made_ns - due_ns) / interval_ns))


def main(interval_ms) -> None:
    """Read until standard input ends, then write the readings as JSON."""
    stat = os.open("/proc/stat", os.O_RDONLY)
    print(flush=True)
    readings = read_until_end(interval_ms, stat, sys.stdin.fileno())
    json.dump([(due, made, parse(text.decode())) for due, made, text in readings], sys.stdout)


if __name__ == "__main__":
    main(float(sys.argv[1]))
