"""CPU times of the cores while traffic flows, and the wake-up delays of this machine.

A separate process (``python3 -m testbed.readings.cpu INTERVAL_MS``), pinned to the program's core, reads
``/proc/stat`` when it begins, at a fixed interval, and when its standard input ends; then it writes
its readings. Of the readings before the traffic's origin only the last is kept. The kernel counts CPU times in
units of 10 ms (proc_stat(5)), so single readings are coarse, but sums over a second are accurate to 1 %. Idle time
is measured, and so is its complement, busy time. The kernel divides busy time into user, system and so on by sampling at
its tick.

The reader's delay in waking up after the requested moment may affect any process of the run that
waits for a time. Causes of this delay are other load, a stolen core, or a paused machine.
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
    """Reads CPU times in the background while the context is open.

    Parameters
    ----------
    core : int
        Core on which the reading process runs.
    interval_ms : float
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
        # The process reports that it is reading, so traffic begins only after it has started.
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
            Core of the run -> its roles.
        origin_ns : int
            The traffic's origin, by `time.monotonic_ns`.
        """
        if not self._readings or len(self._readings) < 2:
            raise CpuError("the reader of CPU times gave no readings")
        return summary(self._readings, roles, origin_ns, self._interval_ms)


def summary(readings, roles, origin_ns, interval_ms) -> dict:
    """Return the section ``cpu`` of a document.

    It has ``interval_ms``; ``tick_ms``, the unit of CPU times; ``time_s`` of each reading since the traffic's origin, with
    the first reading before it; ``cores``, for each core used by the run its ``roles`` and, for each of the `PARTS`, the ticks between each
    reading and the previous one; ``late_ms``, the ``max`` and ``p99`` of the delays of the regular readings, 0
    if there are none.

    Parameters
    ----------
    readings : list
        For each reading: the time when it was due (None: at once) and the time when it was made, in ns of the monotonic
        clock, and core (as text) -> its `COLUMNS` in ticks since the machine's start.
    roles, origin_ns, interval_ms
        As for `CpuReader`.
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
    """Return a core's ticks in each interval between two readings, by part."""
    totals = [
        {part: sum(ticks[core][COLUMNS.index(name)] for name in names) for part, names in PARTS.items()}
        for _, _, ticks in readings
    ]
    return {part: [now[part] - before[part] for before, now in itertools.pairwise(totals)] for part in PARTS}


def shares_of(section, core, part, window_s=None) -> list[float]:
    """Return the fraction of time that a core spent on a part, for each window of a given length, or for the whole time.

    Parameters
    ----------
    section : dict
        The section ``cpu`` of a document.
    core : str
    part : str
        One of `PARTS`, or ``busy``: everything except idle. ``busy`` is a share of elapsed time, not of the ticks of all parts,
        because activity shorter than the kernel's tick shortens idle time but may be missing from all other parts.
    window_s : float, optional
        Length of the windows, one of which begins at each reading. With too few readings, the only window is the whole time.
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
    """Return the `COLUMNS` of each core (as text), from the content of /proc/stat."""
    lines = (line.split() for line in text.splitlines() if line.startswith("cpu") and line[3:4].isdigit())
    return {name.removeprefix("cpu"): [int(word) for word in words[: len(COLUMNS)]] for name, *words in lines}


def read_until_end(interval_ms, stat, ends) -> list[tuple[int | None, int, bytes]]:
    """Read ``stat`` at once, at each interval, and when ``ends`` is at its end (both file descriptors); return the readings."""
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
        # Moments that were missed entirely count as the delay of this one reading.
        due_ns += interval_ns * max(1, math.ceil((made_ns - due_ns) / interval_ns))


def main(interval_ms) -> None:
    """Read until standard input ends, then write the readings as JSON."""
    stat = os.open("/proc/stat", os.O_RDONLY)
    print(flush=True)
    readings = read_until_end(interval_ms, stat, sys.stdin.fileno())
    json.dump([(due, made, parse(text.decode())) for due, made, text in readings], sys.stdout)


if __name__ == "__main__":
    main(float(sys.argv[1]))
