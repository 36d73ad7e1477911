"""The container in which guest kernels and QUIC stacks are built: no network, no home, no checkout, an empty environment."""

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
#: Time limits in seconds for a kernel's build and for a base's build. Even on a busy machine with two cores, both take minutes.
LONGEST_S, LONGEST_BASE_S = 3600, 4 * 3600
#: Memory in bytes that each process of a build may map. Compilers need a tenth of it; without a limit, a process could take all.
MOST_MEMORY_BYTES = 2**32
#: Limits for each process of a build: CPU time in seconds, of which the slowest needs a twentieth, and size in bytes of a written file.
MOST_CPU_S, MOST_FILE_BYTES = 120, 2**31
#: Number of bytes of a build's output kept from its beginning, and again from its end.
KEPT_WORDS = 2**20
#: Files that Apptainer would mount from the machine; builds get the image's.
OF_THE_IMAGE = ("etc/hosts", "etc/passwd", "etc/group", "etc/resolv.conf")
#: The environment of a build, without Apptainer's variables about the machine.
IN_CONTAINER = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8")
#: Exit status of timeout(1) when the time is up.
TIMED_OUT = 124


def provide_builder(definition) -> Path:
    """Return the folder of an image that kernels or stacks are built in; build the image unless the cache has it."""
    if images.missing_images([definition]):
        images.check_sources()
        tools = toolbox.building_environment(environment.VENV)
        apptainer = toolbox.provide_apptainer(environment.VENV)
        images.build_image(definition, apptainer, tools, environment.VENV / "bin/python")
    return images.cached_image(definition)[1]


def contained(*binds, recipe=GUEST, seconds=None, root=None, cpu_s=MOST_CPU_S, has_network=False) -> list[str]:
    """Return the beginning of a command that runs a build step in a container; the caller appends the image and the step's command.

    The container is ended after ``seconds``; each process in it is limited to `MOST_MEMORY_BYTES`, ``cpu_s`` and `MOST_FILE_BYTES`. It
    has no network unless ``has_network``. The files in `OF_THE_IMAGE` are mounted from the image's folder ``root``, unless ``binds`` has
    them. /proc/sys is mounted read-only, because even an unprivileged user who is root in the container could write to it.
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
    """Return this process's environment without the variables that change what Apptainer mounts or sets."""
    kept = ("APPTAINER_TMPDIR", "APPTAINER_CACHEDIR", "APPTAINER_CONFIGDIR")
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or not name.startswith(("APPTAINER", "SINGULARITY"))
    }


def said_by(command, what="the kernel") -> tuple[int, str]:
    """Run a command and return its exit status and its output; only the beginning and the end of long output are kept.

    If the command takes longer than a build may, the SetupError names ``what`` was being built.
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
    """Copy the files of envs/guest that a kernel build needs into a new folder and return the folder; a build can't see the checkout."""
    folder.mkdir()
    for part in RECIPE:
        (shutil.copytree if (GUEST / part).is_dir() else shutil.copy)(GUEST / part, folder / part)
    return folder
