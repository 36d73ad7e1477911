"""Run one test in a guest kernel: prepare the test's files, start the guest, and read the outcome."""

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from testbed.machine import closed_off, uml
from testbed.machine.crash import crashed, last_words
from testbed.machine.execution import execute
from testbed.machine.given_file import given_bytes
from testbed.machine.machine import (
    SHARED_MEMORY,
    ConsoleFull,
    MachineFault,
    free_core,
    job_folder,
    may_have_huge_pages,
    memory_folder,
    mount_huge_pages,
    workflow_process,
)

#: The guest's memory in MiB.
MEMORY_MIB = 512
#: Limits on a guest's CPU time and real time in s. A test needs 0.4 s of CPU time on average.
CPU_S, WALL_S = 30, 300
#: Messages of a guest kernel (with seccomp, and with ptrace) about a program that the machine terminated at the limit of CPU time.
PROGRAM_SPUN = re.compile(rb"Unexpectedly lost MM child|userspace - child stopped with signal %d" % signal.SIGXCPU)
#: Reason why a test fails if the guest has used up its CPU time.
SPUN = f"used up {CPU_S} s of CPU time: a program or the kernel spins, which stops the guest's clock"
#: Signals that terminate a guest if the machine is out of memory.
OF_THE_MACHINE = (signal.SIGKILL, signal.SIGBUS)
#: Maximum size of a guest's outcome in bytes.
LARGEST_OUTCOME = 2**22
#: Path of the program that the guest's first process starts.
GUEST_PROGRAM = "testbed/guest.py"


@dataclass(frozen=True)
class Plan:
    """Settings shared by all tests of one invocation.

    Attributes
    ----------
    programs, scripts : pathlib.Path
        Folder with packetdrill and the programs that it calls, and folder with all of the kernel's packetdrill scripts.
    linux : str
        Path to the guest kernel.
    has_seccomp, is_own : bool
        Whether the kernel runs processes with seccomp, and whether it is a custom kernel.
    seed : int
        Seed for the guest kernel's random numbers.
    """

    programs: Path
    scripts: Path
    linux: str
    has_seccomp: bool
    is_own: bool
    seed: int


def hand_over(command, plan, job) -> None:
    """Copy a test's files to the folder ``job``, which the guest can read.

    ``command`` is a list: the script's path, followed by packetdrill's arguments.
    """
    script, *arguments = command
    (job / "testbed").mkdir()
    (job / "testbed/__init__.py").touch()
    shutil.copyfile(Path(__file__).with_name("guest.py"), job / GUEST_PROGRAM)
    shutil.copytree(plan.programs, job / "programs")
    others = shutil.ignore_patterns("*.pkt")
    shutil.copytree(plan.scripts, job / "scripts", ignore=others)
    shutil.copy(plan.scripts / script, job / "scripts")
    (job / "command.json").write_text(json.dumps([*arguments, script]))


def carry_out(command, plan, log) -> dict:
    """Run one test and return the outcome.

    The outcome is the one that `guest.main` wrote or, if `guest.main` wrote none, a dict whose key ``end`` states the reason. If the dict's
    key ``again`` is true, the machine may be the cause, and a second attempt may succeed.

    Raises
    ------
    GuestError
        If the machine can't start the guest at all.
    """
    with workflow_process() as workflow, job_folder() as job, free_core(log, workflow) as core:
        hand_over(command, plan, job)
        memory = memory_folder(MEMORY_MIB)
        command = uml.guest_command(plan.linux, MEMORY_MIB, plan.has_seccomp, loud=True)
        environment = uml.guest_environment(job, memory if memory == SHARED_MEMORY else str(job), plan.seed)
        started = command, "guest", job, environment, [core], WALL_S, log, workflow
        try:
            status, printed = execute(*started, closing(plan, job, memory), CPU_S)
        except ConsoleFull as full:
            return {"end": full.cause}
        except MachineFault as fault:
            return {"end": fault.cause + last_words(fault.printed), "again": True}
        if has_spun(status, printed):
            return {"end": SPUN}
        return left_in(job) or {"end": why_nothing_left(status, printed), "again": -status in OF_THE_MACHINE}


def closing(plan, job, memory) -> Callable | None:
    """Return a function to call before a guest starts, or None if there is nothing to prepare.

    If this machine can isolate programs, the function isolates the guest, because third-party code (packetdrill and the scripts) runs as
    root in the guest. A custom kernel is third-party code too, so `GuestError` is raised if this machine can't isolate it. For the image's
    kernel, a machine that can't isolate programs only prepares huge pages, if it has them.
    """
    huge_pages = has_huge_pages(memory)
    if plan.is_own:
        return uml.closed_off_in(job, huge_pages)
    if can_close_off(huge_pages):
        return lambda: closed_off.close_off(job, huge_pages)
    return mount_huge_pages if huge_pages else None


@cache
def has_huge_pages(memory) -> bool:
    """Return the cached result of `may_have_huge_pages`."""
    return may_have_huge_pages(memory)


@cache
def can_close_off(huge_pages) -> bool:
    """Return whether this machine can isolate programs; the result of the first attempt is cached."""
    with job_folder() as folder:
        return closed_off.problem(folder, huge_pages) is None


def left_in(job) -> dict | None:
    """Return the outcome that a guest wrote, or None if it is missing or not in the form that `guest.main` writes.

    The form is verified because a custom kernel may write anything.
    """
    try:
        left = json.loads(given_bytes(job / "outcome.json", LARGEST_OUTCOME, os.O_NOFOLLOW))
    except (OSError, ValueError, RecursionError):
        return None
    return left if isinstance(left, dict) and is_outcome(left) else None


def is_outcome(left) -> bool:
    """Return whether a dict has the form of the outcomes that `guest.main` writes."""
    return (
        (left.get("status") is None or isinstance(left["status"], int))
        and isinstance(left.get("seconds"), int | float)
        and isinstance(left.get("output"), str)
        and isinstance(left.get("warnings"), list)
        and all(isinstance(text, str) for text in left["warnings"])
    )


def has_spun(status, printed) -> bool:
    """Return whether the machine terminated a guest, or a program in the guest, at the limit of CPU time."""
    return status == -signal.SIGXCPU or bool(PROGRAM_SPUN.search(printed))


def why_nothing_left(status, printed) -> str:
    """Return the reason why a guest wrote no outcome: a crash, a signal, or an early exit."""
    if crashed(printed):
        return f"the guest kernel crashed{last_words(printed)}"
    if status < 0:
        return f"the guest kernel was ended by {signal.Signals(-status).name}{last_words(printed)}"
    return f"the guest ended without an outcome{last_words(printed)}"
