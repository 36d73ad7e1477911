"""Isolation of a third-party program, which can then write only to one folder, sees no other processes, and has no privileges.

The process that is about to execute the program isolates itself by entering separate namespaces. A guest can't detect this.
"""

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
from collections.abc import Iterator

from testbed.machine.machine import (
    CLONE_NEWNS,
    CLONE_NEWPID,
    PR_SET_PDEATHSIG,
    SHARED_MEMORY,
    enter_namespaces,
    mount_shared_memory,
    succeed,
)

#: Flags of mount(2), and the flags that must be repeated when a mount is changed, by their names in /proc/self/mountinfo.
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
KEPT = {
    "nosuid": 2,
    "nodev": 4,
    "noexec": 8,
    "noatime": 1024,
    "nodiratime": 2048,
    "relatime": 1 << 21,
    "nosymfollow": 256,
}
#: Options of prctl(2) that prevent a process from gaining privileges, whether as root or from an executable's file.
PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 24, 28, 38
SECBIT_NOROOT, SECBIT_NOROOT_LOCKED = 1, 2
CAP_SETPCAP = 8
#: If a signal ends the program, the first process exits with this number plus the signal's number, as a shell does.
SIGNALLED = 128


def problem(folder, huge_pages) -> str | None:
    """Try to isolate a program on this machine; return the reason if this fails, otherwise None."""
    try:
        done = subprocess.run(["true"], preexec_fn=lambda: close_off(folder, huge_pages), capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return f"exit status {done.returncode}" if done.returncode else None


def close_off(folder, huge_pages) -> None:
    """Isolate this child process, which is about to execute a program.

    Parameters
    ----------
    folder : str or pathlib.Path
        Working directory of the program, and the only folder that it may write to.
    huge_pages : bool
        Whether the program's private shared memory uses huge pages.

    Raises
    ------
    OSError
        If the machine doesn't allow the isolation.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    enter_namespaces(CLONE_NEWNS | CLONE_NEWPID)
    succeed(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    mount_shared_memory(huge_pages)
    place = os.fsencode(folder)
    succeed(libc.mount(place, place, None, MS_BIND, None))
    for point, flags in _mounts():
        if point not in (place, SHARED_MEMORY.encode()):
            # Mounts that this process can't reach (hidden, or no permission) are out of the program's reach, too.
            with _unless(errno.EACCES, errno.ENOENT, errno.EINVAL):
                succeed(libc.mount(None, point, None, MS_BIND | MS_REMOUNT | MS_RDONLY | flags, None))
    os.chdir(folder)
    _go_on_below_first_process(libc)
    with _unless(errno.EPERM):  # in a container that hides parts of /proc; other processes are still out of reach
        succeed(libc.mount(b"proc", b"/proc", b"proc", KEPT["nosuid"] | KEPT["nodev"] | KEPT["noexec"], None))
    _give_up_privileges(libc)


def _mounts() -> Iterator[tuple[bytes, int]]:
    """Yield each mount point and its flags, in reverse order of /proc/self/mountinfo, so that nested mounts come first."""
    with open("/proc/self/mountinfo", "rb") as lines:
        fields = [line.split() for line in lines]
    for _, _, _, _, point, options, *_ in reversed(fields):
        names = options.decode().split(",")
        yield point.decode("unicode_escape").encode("latin-1"), sum(KEPT.get(name, 0) for name in names)


@contextlib.contextmanager
def _unless(*numbers):
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise


def _go_on_below_first_process(libc):
    """Continue in a child of the new process namespace's first process, because a first process ignores signals without a handler.

    This process exits with the status of the child.
    """
    if (first := os.fork()) == 0:
        if (program := os.fork()) == 0:
            return
        status = _end_of(program, libc)
        os._exit(status if status >= 0 else SIGNALLED - status)
    status = _end_of(first, libc)
    if status > SIGNALLED:
        number = status - SIGNALLED
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(max(status, 0))


def _end_of(child, libc):
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # Otherwise the parent of this process would wait for these descriptors to be closed.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _give_up_privileges(libc):
    """Drop all capabilities permanently, for this process and the programs that it executes; user and group stay the same."""
    succeed(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    succeed(libc.prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0))
    for capability in (*(number for number in range(64) if number != CAP_SETPCAP), CAP_SETPCAP):
        with _unless(errno.EINVAL):  # a capability that this kernel doesn't know
            succeed(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
