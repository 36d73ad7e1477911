"""Kernel events of a run, for `make trace`.

The guest kernel must support tracing (envs/guest/tracing). Tracing is set up before the guest waits for a fixed instant of its clock
(`surroundings.GuestKernel.fall_into_step`), so the time for the setup has no effect. The kernel's trace buffer is read after the run's last
step, because reading the buffer advances the clock. A run's document is therefore the same with and without a trace. The caller that
requests a trace verifies this.
"""

import ctypes
import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from testbed.errors import SettingError
from testbed.network.netlink import network_namespace
from testbed.readings.probes import nstat

TRACING = Path("/sys/kernel/tracing")
#: Parameter of envs/guest/tracing/trace_functions.c that selects the functions.
GLOBS = Path("/sys/module/trace_functions/parameters/globs")
#: Trace clock that envs/guest/tracing/tracing.patch adds: CLOCK_MONOTONIC in ns.
CLOCK = "virtual"
#: Size of the kernel's buffer in KiB: guests have little memory.
BUFFER_KB = 128 * 1024
#: Maximum size of one reading of the buffer, in bytes.
READING_BYTES = 2**16
#: Number of similar names listed in a message.
NEAREST = 3


class KernelTrace:
    """A kernel trace of a run, which begins before the idle RTT is measured and ends with the traffic.

    Parameters
    ----------
    path : topology.NetworkPath
    asked : dict
        ``events``: globs such as ``tcp:*``; ``functions``: globs of TCP functions in the kernel.
    folder : pathlib.Path
        Folder for ``trace.txt`` (the buffer's text, times in ns), ``kernel.log`` and ``readings.json`` (origin in ns, events, number of
        lost events, interfaces by index, and each host's counters at the beginning).

    Raises
    ------
    SettingError
        If a glob matches no event or function of the kernel.
    """

    def __init__(self, path, asked, folder):
        mount = ctypes.CDLL(None, use_errno=True).mount
        if mount(b"tracefs", str(TRACING).encode(), b"tracefs", 0, None):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(TRACING))
        self._path, self._folder, self._origin_ns, functions = path, folder, None, asked["functions"]
        self._events = chosen(asked["events"], (TRACING / "available_events").read_text().split(), "EVENTS")
        chosen(functions, re.findall(r"^\w+ [tT] (\w+)", Path("/proc/kallsyms").read_text(), re.M), "FUNCTIONS")
        self._interfaces = {number_of(one): name for name, one in path.interfaces.items()}
        self._before = {node.name: nstat(node) for node in path.end_hosts}
        settings = {"tracing_on": "0", "trace_clock": CLOCK, "options/overwrite": "0", "buffer_size_kb": str(BUFFER_KB)}
        settings |= {f"events/{event.replace(':', '/')}/enable": "1" for event in self._events}
        for name, value in settings.items():
            (TRACING / name).write_text(value)
        if functions:
            GLOBS.write_text(",".join(functions))
        (TRACING / "tracing_on").write_text("1")

    def begin(self) -> None:
        """Do nothing, because any action at the traffic's start would advance the clock."""

    def events(self, origin_ns) -> Iterator[tuple[float, int, Callable]]:
        """Store the traffic's origin and return no events, because nothing is done during the traffic."""
        self._origin_ns = origin_ns
        return iter(())

    def read(self) -> None:
        """Do nothing, because reading would advance the clock."""

    def end(self) -> None:
        """Stop recording; the run's document contains the hosts' counters at this time."""
        (TRACING / "tracing_on").write_text("0")

    def close(self) -> None:
        """Write all files, after the run's last step."""
        readings = {
            "origin_ns": self._origin_ns,
            "events": self._events,
            "lost": lost((TRACING / "per_cpu/cpu0/stats").read_text()),
            "interfaces": self._interfaces,
            "counters": self._before,
        }
        (self._folder / "readings.json").write_text(json.dumps(readings))
        (self._folder / "kernel.log").write_text(kernel_log())
        pipe = os.open(TRACING / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        with (self._folder / "trace.txt").open("wb") as file:
            while part := reading(pipe):
                file.write(part)
        os.close(pipe)


def reading(handle) -> bytes:
    """Return the available content of an open file, at most `READING_BYTES`; empty if nothing is available."""
    try:
        return os.read(handle, READING_BYTES)
    except BlockingIOError:
        return b""


def chosen(globs, names, variable) -> list[str]:
    """Return the sorted names that match any of the globs.

    Raises
    ------
    SettingError
        If a glob matches no name; the message names ``variable`` and lists similar names.
    """
    found = set()
    for glob in globs:
        matching = {name for name in names if fnmatchcase(name, glob)}
        if not matching:
            near = get_close_matches(glob.replace("*", ""), names, n=NEAREST, cutoff=0)
            raise SettingError(f"{variable} names {glob}, which this kernel doesn't have (nearest: {', '.join(near)})")
        found |= matching
    return sorted(found)


def number_of(interface) -> int:
    """Return the index of an interface in its network namespace."""
    with network_namespace(interface.node):
        return socket.if_nametoindex(interface.name)


def lost(stats) -> int:
    """Return the number of events that were lost because a buffer was full, from the text of the buffer's ``stats``."""
    return sum(map(int, re.findall(r"^(?:overrun|dropped events): (\d+)$", stats, re.M)))


def kernel_log() -> str:
    """Return the kernel's log so far; each line begins with the time in s since the guest's start."""
    lines, handle = [], os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    try:
        while record := reading(handle):
            head, _, text = record.decode(errors="replace").partition(";")
            at_us = int(head.split(",")[2])
            lines.append(f"[{at_us // 10**6:5}.{at_us % 10**6:06}] {text.splitlines()[0] if text.strip() else ''}\n")
        return "".join(lines)
    finally:
        os.close(handle)
