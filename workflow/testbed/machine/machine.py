"""Resources of the machine that a run occupies: a core, a folder, and memory.

All resources are released when the run ends, even if the run is killed. A run ends when its workflow ends.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from testbed.machine.messages import note

#: Environment variable with the PID of the run's workflow; the run ends with the workflow.
WORKFLOW_VARIABLE = "SAWTOOTH_WORKFLOW"
#: Interval between searches for a free core, in seconds.
CORE_POLL_S = 0.2
#: Interval in seconds between the searches of a run that needs all cores. It is shorter than `CORE_POLL_S`, because otherwise the many
#: other runs would usually find a free core first.
ALL_CORES_POLL_S = 0.02
#: Folder with the lock files for the cores, shared by all users of the machine.
CORE_LOCKS = Path("/tmp")
#: Folder of the shared memory, used if it has enough space for a guest's memory.
SHARED_MEMORY = "/dev/shm"
#: Flags of unshare(2).
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
#: Option of prctl(2): the signal that a process receives when its parent ends.
PR_SET_PDEATHSIG = 1


class GuestError(RuntimeError):
    """The guest failed to execute the run; ``step`` is the failed step, and ``cause`` the reason."""

    def __init__(self, step, cause):
        self.step, self.cause = step, cause
        super().__init__(f"step '{step}': {cause}")


class MachineFault(GuestError):
    """The machine rather than the experiment ended the guest, so another try may succeed.

    Attributes
    ----------
    document : dict or None
        Document to write if another try ends in the same way (`failure.document_of`), or None if the fault was outside the guest.
    printed : bytes
        Output of the guest before the fault.
    """

    def __init__(self, step, cause, document=None):
        self.document, self.printed = document, b""
        super().__init__(step, cause)


class ConsoleFull(GuestError):
    """The guest printed more than the allowed amount."""


class WorkflowEnded(GuestError):
    """The run was ended because its workflow had ended."""

    def __init__(self):
        super().__init__("run", "the workflow ended, and so did the run")


@contextlib.contextmanager
def workflow_process() -> Iterator[int | None]:
    """Yield a pidfd that becomes readable when the workflow ends (pidfd_open(2)), or None without a workflow.

    Raises `WorkflowEnded` if the workflow has already ended.
    """
    pid = os.environ.get(WORKFLOW_VARIABLE)
    if not pid:
        yield None
        return
    try:
        handle = os.pidfd_open(int(pid))
    except ProcessLookupError:
        raise WorkflowEnded from None
    try:
        yield handle
    finally:
        os.close(handle)


def ended_within(seconds, *processes) -> list[int]:
    """Wait until a process ends or the given time has passed, and return the pidfds of the processes that have ended.

    ``processes`` are pidfds; None is ignored.
    """
    ends = select.poll()
    for handle in processes:
        if handle is not None:
            ends.register(handle, select.POLLIN)
    return [handle for handle, _ in ends.poll(seconds * 1000)]


@contextlib.contextmanager
def job_folder() -> Iterator[Path]:
    """Create the job folder of a run, and delete it afterwards.

    Folders left by killed runs are deleted first.
    """
    place = Path(tempfile.gettempdir())
    for left in place.glob("sawtooth-run-*"):
        with contextlib.suppress(OSError), locked(left):  # the folder is in use, or belongs to another user
            shutil.rmtree(left, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix="sawtooth-new-", dir=place))
    with locked(made):
        # Another run must not find the folder before it is locked.
        folder = made.rename(place / made.name.replace("new", "run", 1))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def locked(path) -> Iterator[None]:
    """Lock a file or folder until the context or this process ends; raise `BlockingIOError` if it is already locked."""
    # O_NONBLOCK, because the call would otherwise never return if another user had created a pipe with this name.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def free_core(log, workflow=None, folder=CORE_LOCKS) -> Iterator[int]:
    """Wait for a core that no other run on this machine uses, and yield its number while holding a lock on the core.

    A guest constantly switches between its kernel and its processes, which is several times faster on one core than across two cores. Each
    core has one lock file for all users of the machine. The lock is released when this process ends, at the latest.

    Raises `WorkflowEnded` if the workflow (a pidfd) ends before a core is free.
    """
    with contextlib.ExitStack() as stack:
        waited = False
        while (core := take_core(stack, folder)) is None:
            if not waited:
                note(log, "waiting for a core: other runs use all cores")
            waited = True
            if ended_within(CORE_POLL_S, workflow):
                raise WorkflowEnded
        yield core


def take_core(stack, folder) -> int | None:
    """Lock a free core until ``stack`` is closed; return the core's number, or None if no core is free."""
    return next((core for core in sorted(os.sched_getaffinity(0)) if lock_core(stack, core, folder)), None)


def lock_core(stack, core, folder) -> bool:
    """Lock a core until ``stack`` is closed; return whether the core was free."""
    path = folder / f"sawtooth-core-{core}.lock"
    mask = os.umask(0)  # every user must be able to open it, regardless of the creator's umask
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY | os.O_CLOEXEC, 0o444))
    finally:
        os.umask(mask)
    with contextlib.suppress(BlockingIOError):
        stack.enter_context(locked(path))
        return True
    return False


@contextlib.contextmanager
def whole_machine(log, workflow=None, folder=CORE_LOCKS) -> Iterator[list[int]]:
    """Wait until no other run uses a core, hold locks on all cores, and yield the cores that this run may use.

    Cores are locked in ascending order, and stay locked while this run waits for the next one. Runs in a guest kernel need only one core
    and release it when they end. If two runs need all cores, the second one waits for the lowest-numbered core.

    Raises `WorkflowEnded` if the workflow (a pidfd) ends before all cores are locked.
    """
    with contextlib.ExitStack() as stack:
        waited = False
        for core in sorted(online_cores() | os.sched_getaffinity(0)):
            while not lock_core(stack, core, folder):
                if not waited:
                    note(log, "waiting for all cores: other runs use some of them")
                waited = True
                if ended_within(ALL_CORES_POLL_S, workflow):
                    raise WorkflowEnded
        yield sorted(os.sched_getaffinity(0))


def online_cores() -> set[int]:
    """Return the numbers of the machine's online cores."""
    return numbers_of(Path("/sys/devices/system/cpu/online").read_text())


def numbers_of(text) -> set[int]:
    """Return the numbers in a list in sysfs format, such as ``0-3,8``."""
    ends = (part.partition("-") for part in text.strip().split(","))
    return {number for first, _, last in ends for number in range(int(first), int(last or first) + 1)}


def memory_folder(least_mib) -> str:
    """Return the folder for a guest's memory: shared memory, or else the folder for temporary files.

    The folder must have ``least_mib`` MiB of free space, be writable, and not be mounted ``noexec``. Raises `GuestError` if neither folder
    is suitable.
    """
    causes = []
    for folder in (SHARED_MEMORY, tempfile.gettempdir()):
        state = os.statvfs(folder)
        free_mib = state.f_bavail * state.f_frsize // 2**20
        if not os.access(folder, os.W_OK):
            causes.append(f"{folder} can't be written")
        elif state.f_flag & os.ST_NOEXEC:
            causes.append(f"{folder} is mounted noexec")
        elif free_mib < least_mib:
            causes.append(f"{folder} has {free_mib} MiB free")
        else:
            return folder
    raise GuestError(
        "guest", f"no suitable folder for the guest's memory of at least {least_mib} MiB: {', '.join(causes)}"
    )


def may_have_huge_pages(folder) -> bool:
    """Return whether a guest with its memory in ``folder`` can use private shared memory with huge pages (`mount_huge_pages`)."""
    if folder != SHARED_MEMORY:
        return False  # the memory is in a file on disk, where there is more space
    try:
        return subprocess.run(["true"], preexec_fn=mount_huge_pages, capture_output=True).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def mount_huge_pages() -> None:
    """Mount private shared memory with huge pages over the machine's shared memory.

    Only the program that this child process is about to execute sees the mount. Huge pages in shared memory need a mount option (tmpfs(5)),
    which the machine's shared memory rarely has. The mount needs no privileges, because this process enters a new user namespace. The user,
    the group and all other files stay the same.

    Raises `OSError` if the machine has no huge pages, or doesn't allow a user namespace inside the container's user namespace.
    """
    enter_namespaces(CLONE_NEWNS)
    mount_shared_memory(True)


def enter_namespaces(flags) -> None:
    """Enter a new user namespace with the same user and group, and new namespaces of the kinds in ``flags`` (unshare(2))."""
    user, group = os.geteuid(), os.getegid()
    succeed(ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER | flags))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(text)


def mount_shared_memory(huge_pages) -> None:
    """Mount private shared memory over the machine's shared memory, in the mount namespace of this process."""
    state = os.statvfs(SHARED_MEMORY)
    options = f"{'huge=within_size,' if huge_pages else ''}mode=700,size={state.f_bavail * state.f_frsize}"
    mount = ctypes.CDLL(None, use_errno=True).mount
    succeed(mount(b"tmpfs", SHARED_MEMORY.encode(), b"tmpfs", 0, options.encode()))


def succeed(returned) -> None:
    """Raise `OSError` if a C library function returned a nonzero value, which reports a failure."""
    if returned:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
