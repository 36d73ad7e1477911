"""The first process of a run on platform ``host``: it mounts private file systems and then starts the run's program.

``python3 -m testbed.machine.host_init JOB`` runs as root in new user, network, mount and process namespaces (unshare(1)). Its mounts and
child processes therefore end with it. No packet can leave the network namespace, because it contains none of the machine's devices.
"""

import ctypes
import json
import os
import sys
from pathlib import Path

MS_BIND, MS_REC = 4096, 16384
JOB = "/run/job"
#: Environment of the run's program, without any of the caller's variables.
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
}
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0) -> None:
    """Mount a file system, or raise `OSError` with the target as the file name."""
    if libc.mount(source.encode(), target.encode(), kind and kind.encode(), flags, None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def prepare(job) -> None:
    """Mount the folders that a run writes to, and hide those folders of the machine that the run must not see.

    The folder ``job`` is mounted at `JOB`.

    Raises
    ------
    OSError
        If the kernel doesn't allow these mounts in a user namespace.
    RuntimeError
        If the network namespace has no loopback device, or contains one of the machine's devices.
    """
    mount("tmpfs", "/run", "tmpfs")
    os.makedirs("/run/netns")
    os.makedirs(JOB)
    mount(job, JOB, flags=MS_BIND | MS_REC)
    # Mount the proc and sysfs instances that belong to the new process and network namespaces.
    mount("proc", "/proc", "proc")
    mount("sysfs", "/sys", "sysfs")
    # /tmp is mounted after the job, whose folder is below it.
    mount("tmpfs", "/tmp", "tmpfs")
    devices = sorted(os.listdir("/sys/class/net"))
    if "lo" not in devices or any(has_hardware(name) for name in devices):
        raise RuntimeError(
            f"the run's network namespace has {', '.join(devices) or 'no device'}; allowed: lo, and no device of the machine"
        )


def has_hardware(name) -> bool:
    """Return whether a network device belongs to the machine."""
    return Path("/sys/class/net", name, "device").exists()


def leave(error, job) -> None:
    """Write ``failure.json`` to a run's folder, as `guest.main` does.

    ``job`` is a file descriptor, because a mount may have hidden the folder's path.
    """
    failure = {"step": "namespaces", "cause": f"{error}", "kind": type(error).__name__}
    handle = os.open("failure.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=job)
    with open(handle, "w") as stream:
        json.dump(failure, stream)


if __name__ == "__main__":
    folder = os.open(sys.argv[1], os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        prepare(sys.argv[1])
        os.chdir(JOB)
    except (OSError, RuntimeError) as error:
        leave(error, folder)
        sys.exit(f"namespaces: {error}")
    os.execve(sys.executable, [sys.executable, "-B", "-m", "testbed.guest", JOB], ENVIRONMENT)
