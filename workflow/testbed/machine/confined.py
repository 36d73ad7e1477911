"""Confinement of a declared program inside a guest.

The program has a private root file system in memory. This contains the image's programs and libraries (read-only), the program's files,
a folder for logs, ``/tmp`` and five devices, but no files of the machine, the run or other programs. The program runs as a separate user
without privileges, and in the network namespace of its host, but can't change the namespace's settings.
"""

import ctypes
import os
import resource
from pathlib import Path

from testbed.machine.closed_off import MS_BIND, MS_PRIVATE, MS_RDONLY, MS_REC, MS_REMOUNT, PR_SET_NO_NEW_PRIVS
from testbed.machine.machine import CLONE_NEWNS, succeed

CLONE_NEWUTS, CLONE_NEWIPC = 0x04000000, 0x08000000
MS_NOSUID, MS_NODEV = 2, 4
#: Content of the private root: folders of the image, entries of the image's /etc (some are targets of links), and devices.
IMAGE = ("usr", "bin", "sbin", "lib", "lib32", "lib64")
SETTINGS = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "ssl")
DEVICES = ("null", "zero", "full", "random", "urandom")
#: Paths of the program's folders in its private root.
FOLDER, LOGS = "/program", "/logs"
#: Subfolder of a run's folder that, if it exists, requests and receives the programs' TLS secrets; and maximum size of one process's
#: secrets in bytes (a power of two that is enough for a thousand connections).
KEYS, MOST_SECRETS = "keys", 2**20
#: Subfolder of a run's folder that, if it exists, requests and receives the programs' logs.
KEPT_LOGS = "program-logs"
#: Limits on a program: total size of written files in MiB, number of processes and threads, and number of open files.
WRITTEN_MIB, MOST_TASKS, MOST_OPEN = 64, 256, 1024
#: Environment of confined programs. OPENSSL_ia32cap keeps OpenSSL, BoringSSL and AWS-LC from using the processor's random numbers (RDRAND
#: and RDSEED), which don't follow from the run's seed.
ENVIRONMENT = {
    "PATH": "/program:/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8",
    "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000",
}  # fmt: skip


def confine(files, root, user, memory_mib) -> None:
    """Confine this process, which is about to execute a program.

    Parameters
    ----------
    files : str or None
        Folder with the program's files.
    root : str
        Empty folder that becomes the program's root; its content is invisible to other processes.
    user : int
        Numeric ID of the program's user and group.
    memory_mib : int
        Limit on the writable memory of each of the program's processes, in MiB.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    os.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC)
    succeed(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    _mount(libc, "tmpfs", root, f"size={WRITTEN_MIB}m,nr_inodes=4096,mode=755")
    _bind_image(libc, root)
    for name in (FOLDER, LOGS, "/tmp", "/proc"):
        os.mkdir(root + name)
    _mount(libc, "proc", f"{root}/proc", "hidepid=2")
    if files:
        _bind(libc, files, root + FOLDER)
    for name in (LOGS, "/tmp"):
        os.chown(root + name, user, user)
    os.chroot(root)
    os.chdir(LOGS)
    for limit, most in (
        (resource.RLIMIT_DATA, memory_mib * 2**20),
        (resource.RLIMIT_FSIZE, WRITTEN_MIB * 2**20),
        (resource.RLIMIT_NPROC, MOST_TASKS),
        (resource.RLIMIT_NOFILE, MOST_OPEN),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    succeed(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _mount(libc, kind, target, data):
    succeed(libc.mount(kind.encode(), target.encode(), kind.encode(), MS_NOSUID | MS_NODEV, data.encode()))


def _bind(libc, source, target, flags=MS_RDONLY):
    """Bind-mount a file or folder at another location, read-only unless ``flags`` is 0."""
    succeed(libc.mount(source.encode(), target.encode(), None, MS_BIND, None))
    if flags:
        succeed(libc.mount(None, target.encode(), None, MS_BIND | MS_REMOUNT | MS_NOSUID | flags, None))


def _bind_image(libc, root):
    """Bind-mount the parts of the image that a program needs."""
    os.mkdir(f"{root}/etc")
    os.mkdir(f"{root}/dev")
    for place in (*(Path("/", name) for name in IMAGE), *(Path("/etc", name) for name in SETTINGS)):
        target = Path(f"{root}{place}")
        if place.is_symlink():
            target.symlink_to(os.readlink(place))
        elif place.exists():
            target.mkdir() if place.is_dir() else target.touch()
            _bind(libc, str(place), str(target))
    for name in DEVICES:
        Path(root, "dev", name).touch()
        _bind(libc, f"/dev/{name}", f"{root}/dev/{name}", flags=0)
    for name, link in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path(root, "dev", name).symlink_to(link)
