"""Execution of a guest, a measured program or a simulator on given cores, until its time limit or its workflow's end at the latest."""

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
#: Largest amount that a program may print, in bytes.
LARGEST_CONSOLE_BYTES = 2**26
#: CPU time in seconds between SIGXCPU, which a program may ignore, and SIGKILL.
CPU_GRACE_S = 5
#: Parts of a program's output that a terminal might interpret.
UNPRINTABLE = re.compile(rb"\r(?!\n)|[^\t\n\r\x20-\x7e]")


def execute(
    command, step, folder, environment, cores, limit_s, log, workflow, prepare=None, cpu_s=None
) -> tuple[int, bytes]:
    """Run a program to completion.

    The program's output is copied to the log through memory: if the program wrote to the log directly, a full disk
    would make it fail in the middle of the run.

    Returns the program's exit status (negative: the signal that ended it), and its standard output and error.

    Parameters
    ----------
    command : list of str
    step : str
        Name of the step, for the message.
    folder : pathlib.Path
        Working directory of the program.
    environment : dict of str
        The program's complete environment.
    cores : iterable of int
        Cores to which the program and its children are bound.
    limit_s : float
        Limit of real time in s.
    log : binary file
        An unbuffered file.
    workflow : int or None
        pidfd of the workflow.
    prepare : callable, optional
        Function called in the process that becomes the program.
    cpu_s : float, optional
        CPU time in s after which SIGXCPU ends the program or any of its children.

    Raises
    ------
    MachineFault
        If the program takes longer than ``limit_s``.
    ConsoleFull
        If the program prints more than `LARGEST_CONSOLE_BYTES`.
    WorkflowEnded
        If the workflow ends first.
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
            status = status_of(process, step, limit_s, workflow, console)
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
            raise ConsoleFull(step, f"printed more than {LARGEST_CONSOLE_BYTES:,} bytes, and could print no more")
        return status, printed


class Console:
    """A program's output in memory, and its copy in a log."""

    def __init__(self, log):
        self.log, self.copied, self.writable = log, 0, True

    def __enter__(self):
        self.memory = os.memfd_create("console", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with contextlib.suppress(OSError):  # if a lower limit on the size of files applies
            os.truncate(self.memory, LARGEST_CONSOLE_BYTES)
            fcntl.fcntl(self.memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        return self

    def __exit__(self, *_):
        os.close(self.memory)

    def printed(self, start=0) -> bytes:
        """Return the output from byte ``start`` on, without disturbing the program's writes."""
        # The program and this process share the position in the file; its size is the limit of the output.
        return os.pread(self.memory, os.lseek(self.memory, 0, os.SEEK_CUR) - start, start)

    def copy(self) -> None:
        """Append new output to the log; if this fails, tell the user once."""
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
    """Prepare a child process that is about to run a program: it ends with its parent, stays on ``cores``, and has limited CPU time."""
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


def status_of(process, step, limit_s, workflow, console) -> int:
    """Wait for the end of a program (`execute`) while copying its output, and return its status."""
    end = time.monotonic() + limit_s
    handle = os.pidfd_open(process.pid)
    try:
        while not (ended := ended_within(min(limit_s, CONSOLE_POLL_S), handle, workflow)) and time.monotonic() < end:
            console.copy()
    finally:
        os.close(handle)
    if handle in ended:
        return process.wait()
    if ended:
        raise WorkflowEnded
    raise MachineFault(step, f"did not end within its time limit of {limit_s:g} s")
