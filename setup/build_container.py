"""The container in which guest kernels are patched and built: no network, no home, no checkout, an empty environment."""

import os
import shutil
import subprocess
from pathlib import Path

import environment
from progress import SetupError
from study_files.kernels import CHECKOUT, RECIPE

GUEST = CHECKOUT / "envs/guest"
#: Longest time of a build, and of a base's, in seconds. On a busy machine with two cores they take minutes.
LONGEST_S, LONGEST_BASE_S = 3600, 4 * 3600
#: Memory that a process of a build may map, in bytes: compilers take a tenth of it, and without a limit all there is.
MOST_MEMORY_BYTES = 2**32
#: CPU time in seconds of a process of a build, of which the slowest takes a twentieth, and bytes of a file that it writes.
MOST_CPU_S, MOST_FILE_BYTES = 120, 2**31
#: Bytes of a build's output that are kept from the beginning, and from the end.
KEPT_WORDS = 2**20
#: Files that Apptainer would mount from the machine; builds get the image's.
OF_THE_IMAGE = ("etc/hosts", "etc/passwd", "etc/group", "etc/resolv.conf")
#: The environment of a build, without Apptainer's variables about the machine.
IN_CONTAINER = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8")
#: Exit status of timeout(1) when the time is up.
TIMED_OUT = 124


def contained(*binds, recipe=GUEST, seconds=None, root=None) -> list[str]:
    """Return the start of the command that runs compiler and patch in a container; the image and their command follow.

    The container ends after ``seconds``; no process in it gets more than `MOST_MEMORY_BYTES`, `MOST_CPU_S` and `MOST_FILE_BYTES`. `OF_THE_IMAGE` is mounted
    from the image's folder ``root``. /proc/sys is read-only: root without privileges could write it too.
    """
    places = [*binds, f"{recipe}:/build/guest:ro", "/proc/sys:/proc/sys:ro"]
    if root is not None:
        places += [f"{root / path}:/{path}:ro" for path in OF_THE_IMAGE if (root / path).is_file()]
    return [
        *(["timeout", "--kill-after=10", str(seconds)] if seconds else []), "prlimit", f"--as={MOST_MEMORY_BYTES}",
        f"--cpu={MOST_CPU_S}:{2 * MOST_CPU_S}", f"--fsize={MOST_FILE_BYTES}",
        str(CHECKOUT / environment.VENV / "bin/apptainer"), "--silent", "exec", "--userns", "--containall", "--no-home",
        "--no-mount", "sys,bind-paths,devpts", "--pwd", "/", "--net", "--network", "none",
        *(part for place in places for part in ("--bind", place)),
    ]  # fmt: skip


def outside() -> dict[str, str]:
    """Return this process's environment without the variables that change what Apptainer mounts or sets."""
    kept = ("APPTAINER_TMPDIR", "APPTAINER_CACHEDIR", "APPTAINER_CONFIGDIR")
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or not name.startswith(("APPTAINER", "SINGULARITY"))
    }


def said_by(command, what="the kernel") -> tuple[int, str]:
    """Return the exit status and output of a command; only the beginning and end of a long output.

    ``what`` it builds is named if it takes longer than a build may.
    """
    head, end = b"", b""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=outside()
    ) as process:
        try:
            while chunk := os.read(process.stdout.fileno(), 1 << 16):
                if len(head) < KEPT_WORDS:
                    head += chunk
                else:
                    end = (end + chunk)[-KEPT_WORDS:]
        except BaseException:
            process.terminate()  # interrupted: don't wait for its end
            raise
    if process.returncode == TIMED_OUT:
        raise SetupError(f"{what} was not built within {LONGEST_S} s, the most that a build may take.")
    return process.returncode, (head + end).decode(errors="replace")


def tail_lines(log) -> list[str]:
    """Return the last lines of a log of any size."""
    with log.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - KEPT_WORDS))
        return opened.read(KEPT_WORDS).decode(errors="replace").splitlines()


def copy_recipe(folder) -> Path:
    """Copy the files of envs/guest that a kernel build needs into a folder and return it, because a build can't see the checkout."""
    folder.mkdir()
    for part in RECIPE:
        (shutil.copytree if (GUEST / part).is_dir() else shutil.copy)(GUEST / part, folder / part)
    return folder
