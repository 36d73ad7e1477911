"""Build guest kernels and QUIC stacks in a container that has no network, home folder, checkout or environment variables."""

import os
import shutil
import subprocess
from pathlib import Path

import environment
import images
import toolbox
from progress import SetupError
from study_files.kernels import CHECKOUT, RECIPE

GUEST = CHECKOUT / "envs/guest"
#: Time limits in seconds for building a kernel and for building a base. Even on a busy machine with two cores, both take only minutes.
LONGEST_S, LONGEST_BASE_S = 3600, 4 * 3600
#: Amount of memory in bytes that each process of a build may map. Compilers need a tenth of it; without a limit, a process could use up all
#: memory.
MOST_MEMORY_BYTES = 2**32
#: Limits on each process of a build: CPU time in seconds (the slowest process needs a twentieth), and size of a written file in bytes.
MOST_CPU_S, MOST_FILE_BYTES = 120, 2**31
#: Number of bytes that are kept from the beginning and from the end of a build's output.
KEPT_WORDS = 2**20
#: Files that Apptainer would mount from the machine. Builds use the image's files instead.
OF_THE_IMAGE = ("etc/hosts", "etc/passwd", "etc/group", "etc/resolv.conf")
#: Command that runs a build step with an empty environment, without the variables that Apptainer sets.
IN_CONTAINER = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8")
#: Exit status of timeout(1) if the time limit is exceeded.
TIMED_OUT = 124


def provide_builder(definition) -> Path:
    """Return the folder of the image in which kernels or stacks are built; if the image isn't cached, build it first."""
    if images.missing_images([definition]):
        images.check_sources()
        tools = toolbox.building_environment(environment.VENV)
        apptainer = toolbox.provide_apptainer(environment.VENV)
        images.build_image(definition, apptainer, tools, environment.VENV / "bin/python")
    return images.cached_image(definition)[1]


def contained(*binds, recipe=GUEST, seconds=None, root=None, cpu_s=MOST_CPU_S, has_network=False) -> list[str]:
    """Return the beginning of a command that runs a build step in a container; the caller appends the image and the step's command.

    Each process may use at most `MOST_MEMORY_BYTES` of memory, and write at most `MOST_FILE_BYTES` per file. /proc/sys is mounted
    read-only, because otherwise an unprivileged user who is root in the container could write to it.

    Parameters
    ----------
    *binds : str
        Mounts for Apptainer's option `--bind`.
    recipe : pathlib.Path
        Folder with the build scripts, which is mounted at /build/guest.
    seconds : int, optional
        Time limit for the container in s.
    root : pathlib.Path, optional
        Root folder of the image. The files in `OF_THE_IMAGE` are mounted from this folder unless ``binds`` mounts them.
    cpu_s : int
        Limit on the CPU time of each process in s.
    has_network : bool
        Whether the container has a network.
    """
    places = [*binds, f"{recipe}:/build/guest:ro", "/proc/sys:/proc/sys:ro"]
    if root is not None:
        bound = {place.split(":")[1] for place in places}
        places += [
            f"{root / path}:/{path}:ro" for path in OF_THE_IMAGE if f"/{path}" not in bound and (root / path).is_file()
        ]
    return [
        *(["timeout", "--kill-after=10", str(seconds)] if seconds else []), "prlimit", f"--as={MOST_MEMORY_BYTES}",
        f"--cpu={cpu_s}:{2 * cpu_s}", f"--fsize={MOST_FILE_BYTES}",
        str(CHECKOUT / environment.VENV / "bin/apptainer"), "--silent", "exec", "--userns", "--containall", "--no-home",
        "--no-mount", "sys,bind-paths,devpts", "--pwd", "/", *([] if has_network else ["--net", "--network", "none"]),
        *(part for place in places for part in ("--bind", place)),
    ]  # fmt: skip


def outside() -> dict[str, str]:
    """Return the environment variables of this process, except for those that change what Apptainer mounts or sets."""
    kept = ("APPTAINER_TMPDIR", "APPTAINER_CACHEDIR", "APPTAINER_CONFIGDIR")
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or not name.startswith(("APPTAINER", "SINGULARITY"))
    }


def said_by(command, what="the kernel") -> tuple[int, str]:
    """Run a build command and return its exit status and output.

    Only the beginning and the end of long output are kept. Raises SetupError if the command exceeds its time limit; the message begins with
    ``what``, the name of what is built.
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
            process.terminate()  # interrupted: don't wait until the process ends
            raise
    if process.returncode == TIMED_OUT:
        limit_s = command[2] if command[0] == "timeout" else LONGEST_S
        raise SetupError(f"{what} was not built within {limit_s} s, the time limit of a build.")
    return process.returncode, (head + end).decode(errors="replace")


def tail_lines(log) -> list[str]:
    """Return the last lines of a log, which may have any size."""
    with log.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - KEPT_WORDS))
        return opened.read(KEPT_WORDS).decode(errors="replace").splitlines()


def copy_recipe(folder) -> Path:
    """Copy the files of envs/guest that a kernel build needs to a new folder, because a build can't access the checkout.

    Return the folder.
    """
    folder.mkdir()
    for part in RECIPE:
        (shutil.copytree if (GUEST / part).is_dir() else shutil.copy)(GUEST / part, folder / part)
    return folder
