"""Find the processes of a workflow's runs from outside, for tests of faults in them."""

import contextlib
import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

#: Number of times that an iperf3 client has waited after it has sent for half a minute of its clock.
WAITS_IN_TRAFFIC = 600


def wait_for(look, what, limit_s=120):
    """Return the result of `look()` as soon as it isn't empty."""
    deadline = time.monotonic() + limit_s
    while not (result := look()):
        if time.monotonic() > deadline:
            pytest.fail(f"{what}: not seen in {limit_s} s")
        time.sleep(0.01)
    return result


def descendants(pid):
    """Return the descendants of a process: (process id, start time), which is unique."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # After the name, which may contain anything: proc_pid_stat(5), from field 3 on.
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(process.name), fields[19]] = int(fields[1])
    processes, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        children = [process for process, its_parent in parents.items() if its_parent == parent]
        processes += children
        waiting += [process for process, _ in children]
    return processes


def alive(processes):
    """Return those of `descendants` that are still running."""
    left = []
    for process, started in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[19] == started and fields[0] != "Z":
            left.append(process)
    return left


@contextlib.contextmanager
def nothing_goes_on():
    """End all processes started in the context that still exist, such as a stopped guest of a failed test."""
    before = set(descendants(os.getpid()))
    try:
        yield
    finally:
        for process in alive(set(descendants(os.getpid())) - before):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


class Guest:
    """The process of a run's guest kernel."""

    def __init__(self, pid):
        self.pid = pid
        self.folder = Path(os.readlink(f"/proc/{pid}/cwd"))
        specification = json.loads((self.folder / "specification.json").read_text())
        self.run = tuple(specification[key] for key in ("cca", "ip_version", "replication"))

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)
        return self

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def core(self):
        """Return the single core on which it may run."""
        (core,) = os.sched_getaffinity(self.pid)
        return core

    def stopped_in_traffic(self):
        """Continue the guest in small steps until an iperf3 client has sent for a while; return its process while the guest is stopped.

        A client is recognised by the arguments in its memory (seen from outside, all of a guest's processes have the same name), and
        its progress by the number of times that it has waited: 230 before it sends, then 12 per second of its clock.
        """

        def step():
            self.go_on()
            time.sleep(0.02)
            self.stop()
            clients = [process for process, _ in descendants(self.pid) if holds(process, b"iperf3\0--client\0")]
            return [process for process in clients if waits_of(process) > WAITS_IN_TRAFFIC]

        self.stop()
        return wait_for(step, "an iperf3 client that sends")[0]


def guests(workflow):
    """Return the guests of a workflow's runs (a process id)."""
    processes = []
    for process, _ in descendants(workflow):
        try:
            # Its helpers have the same name; the kernel is the first of its session.
            kernel = Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"/usr/lib/sawtooth/linux")
            if kernel and os.getsid(process) == process:
                processes.append(Guest(process))
        except OSError:
            continue
    return processes


def first_guest(workflow):
    """Return a workflow's first guest as soon as there is one."""
    return wait_for(lambda: guests(workflow.pid), "a guest kernel")[0]


def held_guest(workflow):
    """Return one of a workflow's guests, stopped during its run; if a guest ends before it can be stopped, try another."""

    def held():
        for guest in guests(workflow.pid):
            with contextlib.suppress(ProcessLookupError):
                guest.stop()
                if guest.pid in [other.pid for other in guests(workflow.pid)]:
                    return guest
        return None

    return wait_for(held, "a guest kernel that stands still")


def waits_of(process):
    """Return the number of times that a process has waited; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def holds(process, text):
    """Return whether a process has a text in its writable memory."""
    try:
        with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
            for line in Path(f"/proc/{process}/maps").read_text().splitlines():
                addresses, rights, *_ = line.split()
                begin, end = (int(address, 16) for address in addresses.split("-"))
                if rights.startswith("rw") and end - begin < 1 << 20:
                    memory.seek(begin)
                    if text in memory.read(end - begin):
                        return True
    except OSError:
        pass
    return False


def to_every_guest(workflow, fault, of=lambda guest: True):
    """Apply a fault to each guest as soon as it exists, in the background; return the growing list of affected guests."""
    hit = []

    def watch():
        while workflow.poll() is None:
            for guest in guests(workflow.pid):
                if guest.pid not in [other.pid for other in hit] and of(guest):
                    fault(guest)
                    hit.append(guest)
            time.sleep(0.01)

    threading.Thread(target=watch, daemon=True).start()
    return hit
