"""Execution of a guest, a measured program or a simulator.

The program runs on the given cores. It is terminated at its time limit, or earlier if the workflow ends.
"""

import contextlib
import ctypes
import fcntl
import os
import re
import resource
import signal
import subprocess
import time

from testbed.machine.machine import PR_SET_PDEATHSIG, ConsoleFull, MachineFault, WorkflowEnded, ended_within
from testbed.machine.messages import in_words, tell

#: Interval between readings of a program's output, in seconds.
CONSOLE_POLL_S = 1
#: Maximum amount of output that a program may print, in bytes.
LARGEST_CONSOLE_BYTES = 2**26
#: CPU time in seconds between SIGXCPU, which a program may ignore, and SIGKILL.
CPU_GRACE_S = 5
#: CPU time in seconds after which a guest kernel that has run no program is considered to loop endlessly. Kernels in normal runs wait for
#: their programs thousands of times per second of CPU time.
LOOP_CPU_S = 10
#: Time in seconds for a kernel that loops to print where it was.
LAST_WORDS_S = 5
#: Parts of a program's output that a terminal might interpret.
UNPRINTABLE = re.compile(rb"\r(?!\n)|[^\t\n\r\x20-\x7e]")


class EndlessLoop(MachineFault):
    """A guest kernel looped endlessly; another try would end in the same way."""


def execute(
    command, step, folder, environment, cores, limit_s, log, workflow, prepare=None, cpu_s=None, watch_loops=False
) -> tuple[int, bytes]:
    """Run a program to completion.

    The program writes its output to memory, from which the output is copied to the log. If the program wrote directly to the log, a full
    disk would make it fail in the middle of the run.

    Parameters
    ----------
    command : list of str
    step : str
        Name of the step, for messages.
    folder : pathlib.Path
        Working directory of the program.
    environment : dict of str
        Complete environment of the program.
    cores : iterable of int
        Cores on which the program and its children may run.
    limit_s : float
        Time limit in s of real time.
    log : binary file
        Unbuffered file for the program's output.
    workflow : int or None
        pidfd of the workflow.
    prepare : callable, optional
        Function that the child process calls before it executes the program.
    cpu_s : float, optional
        Limit on the CPU time of each process, in s; SIGXCPU terminates a process that exceeds it.
    watch_loops : bool, optional
        Whether the program is a guest kernel to terminate once it loops endlessly, long before it reaches a limit.

    Returns
    -------
    status : int
        Exit status of the program, or minus the number of the signal that killed it.
    printed : bytes
        Standard output and standard error of the program.

    Raises
    ------
    MachineFault
        If the program takes longer than ``limit_s``.
    EndlessLoop
        If the guest kernel loops endlessly.
    ConsoleFull
        If the program prints more than `LARGEST_CONSOLE_BYTES`.
    WorkflowEnded
        If the workflow ends before the program.
    """
    with Console(log) as console:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=console.memory,
            stderr=console.memory,
            start_new_session=True,
            preexec_fn=lambda: confine(cores, prepare, cpu_s),
        )
        try:
            watch = LoopWatch(process.pid, command[0]) if watch_loops else None
            status = status_of(process, step, limit_s, workflow, console, watch)
        except MachineFault as fault:
            fault.printed = console.printed()
            raise
        finally:
            # All processes that the program has started are in its session, or end with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            console.copy()
        printed = console.printed()
        if len(printed) >= LARGEST_CONSOLE_BYTES:
            raise ConsoleFull(step, f"reached its output limit of {LARGEST_CONSOLE_BYTES:,} bytes")
        return status, printed


class Console:
    """A memory buffer for a program's output, which is copied to a log."""

    def __init__(self, log):
        self.log, self.copied, self.writable = log, 0, True

    def __enter__(self):
        self.memory = os.memfd_create("console", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with contextlib.suppress(OSError):  # if a lower limit on file sizes applies
            os.truncate(self.memory, LARGEST_CONSOLE_BYTES)
            fcntl.fcntl(self.memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        return self

    def __exit__(self, *_):
        os.close(self.memory)

    def printed(self, start=0) -> bytes:
        """Return the output after the first ``start`` bytes, without disturbing the program's writes."""
        # The program and this process share the file offset. The file's size limits the output.
        return os.pread(self.memory, os.lseek(self.memory, 0, os.SEEK_CUR) - start, start)

    def copy(self) -> None:
        """Append new output to the log; if this fails, inform the user once."""
        try:
            while self.writable and (new := self.printed(self.copied)):
                self._write(UNPRINTABLE.sub(lambda match: b"\\x%02x" % match[0][0], new))
                self.copied += len(new)
        except OSError as error:
            self.writable = False
            tell(f"{self.log.name}: {in_words(error)}")

    def _write(self, text):
        # A nearly full disk accepts a part of the text and refuses the rest.
        while text := text[self.log.write(text) :]:
            pass


def confine(cores, prepare=None, cpu_s=None) -> None:
    """Restrict a child process that is about to execute a program.

    The process is killed when its parent ends, runs only on ``cores``, and may use at most ``cpu_s`` seconds of CPU time.
    """
    if prepare:
        prepare()
    if cpu_s is not None:
        soft, (_, hard) = max(1, round(cpu_s)), resource.getrlimit(resource.RLIMIT_CPU)
        limits = (soft, soft + CPU_GRACE_S)
        if hard != resource.RLIM_INFINITY:
            limits = tuple(min(limit, hard) for limit in limits)
        resource.setrlimit(resource.RLIMIT_CPU, limits)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, cores)


class LoopWatch:
    """Notices that a guest kernel loops endlessly: it uses CPU time, but doesn't wait for any of its programs.

    The guest's clock stands still in such a loop, so no time limit inside the guest ends it. ``program`` is the kernel's path; the process
    ``pid`` executes it, or is the first of the processes that isolate it (`closed_off.close_off`).
    """

    def __init__(self, pid, program):
        self.pid, self.name, self.waits, self.before_s = pid, os.path.basename(program), None, 0.0

    def looping(self) -> int | None:
        """Return the kernel's process if it has used `LOOP_CPU_S` of CPU time since it was last seen to wait, otherwise None."""
        try:
            kernel = self._kernel()
            waits = re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", _read(kernel, "status"), re.M)[1]
            user, system = _read(kernel, "stat").rpartition(")")[2].split()[11:13]
        except (OSError, TypeError, IndexError):  # the kernel ended just now, or the machine doesn't show its processes
            return None
        used_s = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        if waits != self.waits:
            self.waits, self.before_s = waits, used_s
        return kernel if used_s - self.before_s >= LOOP_CPU_S else None

    def _kernel(self):
        pid = self.pid
        while _read(pid, "comm").strip() != self.name:
            pid = int(_read(pid, f"task/{pid}/children").split()[0])
        return pid


def _read(pid, name):
    with open(f"/proc/{pid}/{name}") as file:
        return file.read()


def status_of(process, step, limit_s, workflow, console, watch=None) -> int:
    """Wait until a program ends, copying its output meanwhile, and return the program's exit status; see `execute`."""
    end = time.monotonic() + limit_s
    handle = os.pidfd_open(process.pid)
    try:
        while not (ended := ended_within(min(limit_s, CONSOLE_POLL_S), handle, workflow)) and time.monotonic() < end:
            console.copy()
            if watch and (kernel := watch.looping()):
                # As after a fault, the kernel prints its call trace and ends.
                with contextlib.suppress(OSError):
                    os.kill(kernel, signal.SIGSEGV)
                ended_within(LAST_WORDS_S, handle, workflow)
                words = f"looped endlessly: the guest kernel used {LOOP_CPU_S} s of CPU time without running a program"
                raise EndlessLoop(step, words)
    finally:
        os.close(handle)
    if handle in ended:
        return process.wait()
    if ended:
        raise WorkflowEnded
    raise MachineFault(step, f"did not end within its time limit of {limit_s:g} s")
