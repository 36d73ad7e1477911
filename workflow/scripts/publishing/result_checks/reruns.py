"""Rerun received runs, and compare the documents byte for byte."""

import contextlib
import csv
import io
import json
import math
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from experiment.programs import has_programs
from publishing.result_checks.file_difference import file_difference
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import DOCUMENT_LIMIT, read_file
from study_files.run_platforms import image_of
from testbed.machine.machine import WORKFLOW_VARIABLE

#: Grace period after an interrupt, in seconds of real time, before a run is killed.
END_S = 10


def about(seconds) -> str:
    """Return a duration as short text, in seconds or, if it is at least two minutes, in minutes."""
    return f"about {math.ceil(seconds)} s" if seconds < 120 else f"about {math.ceil(seconds / 60)} min"


def run_command(root, specification, output, programs, kernels=None, folder=None) -> list[str]:
    """Return the command that executes a run as the workflow does, as a list of arguments.

    ``programs`` maps each image to the digest of its program. ``folder`` is the results folder; if the run needs the study's own programs,
    their archives are in the subfolder ``programs``.
    """
    environment = {"PYTHONPATH": root / "workflow", WORKFLOW_VARIABLE: os.getpid()}
    image = image_of(specification["scenario"]["platform"])
    mounts = [mount(output.parent), f"{mount(root / 'workflow')},ro"]
    module = ["testbed", "--specification", json.dumps(specification), "--output", str(output)]
    if program := programs.get(image):
        module += ["--testbed-digest", program]
    if kernels:
        mounts.append(f"{mount(kernels)},ro")
        module += ["--kernels", str(kernels)]
    if folder and has_programs(specification):
        archives = (folder / "programs").absolute()
        mounts.append(f"{mount(archives)},ro")
        module += ["--programs", str(archives)]
    return module_command(root / f"envs/{image}.sif", mounts, environment, module)


def module_command(image: Path, mounts: list[str], environment: dict, module: list[str]) -> list[str]:
    """Return the command that runs a Python module in an image, as a list of arguments.

    ``module`` is the name of the module, followed by its arguments. ``mounts`` are results of `mount`, with ",ro" appended for a read-only
    folder. The module has the same access to the machine as the workflow's runs: it can reach neither the network nor the user's home.
    """
    return [
        "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--no-home", "--net", "--network", "none",
        *(word for place in mounts for word in ("--mount", place)),
        *(word for name, value in environment.items() for word in ("--env", f"{name}={value}")),
        str(image), "python3", "-B", "-m", *module,
    ]  # fmt: skip


def mount(folder) -> str:
    """Return the argument of Apptainer's `--mount` that mounts a folder at the same path in the container.

    The path may contain any characters.
    """
    fields = io.StringIO()
    csv.writer(fields, lineterminator="").writerow(["type=bind", f"source={folder}", f"destination={folder}"])
    return fields.getvalue()


def rerun(
    runs: dict[str, dict],
    folder: Path,
    root: Path,
    place: Path,
    cores: int,
    programs: dict[str, str],
    kernels: Path | None = None,
) -> Iterator[tuple[str, str | None]]:
    """Execute runs and compare each document with the received document.

    Parameters
    ----------
    runs : dict
        Name of each run -> validated specification.
    folder : pathlib.Path
        The received results, to which nothing is written.
    root : pathlib.Path
        The checkout.
    place : pathlib.Path
        A temporary folder.
    cores : int
        Maximum number of runs that are executed at the same time.
    programs : dict
        Name of each image -> digest of the program in this image.
    kernels : pathlib.Path, optional
        Folder with the kernels that were built for the runs.

    Yields
    ------
    name, difference : str, str or None
        The name of a completed run, and its `finding`. If the iteration is stopped early, the runs in progress are terminated.
    """
    waiting, running = list(runs.items()), {}
    try:
        while waiting or running:
            while waiting and len(running) < cores:
                name, specification = waiting.pop(0)
                output = place / f"{len(runs) - len(waiting)}" / "document.json.gz"
                output.parent.mkdir()
                process = start(run_command(root, specification, output, programs, kernels, folder), output.parent)
                running[os.pidfd_open(process.pid)] = process, name, output
            for handle in _ended(running):
                process, name, output = running.pop(handle)
                os.close(handle)
                difference = finding(folder, name, output, process.wait())
                shutil.rmtree(output.parent)
                yield name, difference
    finally:
        end([process for process, *_ in running.values()])
        for handle in running:
            os.close(handle)


def start(arguments, folder, environment=None) -> subprocess.Popen:
    """Start a process in a separate session, so that Ctrl-C in the terminal doesn't reach it.

    The process runs in the folder, and its output is written to ``log`` in this folder. Only the caller can stop the process (see `end`).
    """
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def last_words(folder, status) -> str:
    """Return the last line printed by a process that `start` started, or its exit status if it printed nothing."""
    log = (folder / "log").read_text(errors="replace").strip().splitlines()
    return shown(log[-1]) if log else f"exit status {status}"


def _ended(handles):
    """Wait until at least one of several processes, given by pidfds, has exited; return the pidfds of all that have exited."""
    ends = select.poll()
    for handle in handles:
        ends.register(handle, select.POLLIN)
    return [handle for handle, _ in ends.poll()]


def end(processes) -> None:
    """Terminate processes from `start`: interrupt them so that they can clean up, then kill those that don't exit in time."""
    processes = [process for process in processes if process.poll() is None]
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
    deadline = time.monotonic() + END_S
    for process in processes:
        try:
            process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def finding(folder, name, output, status) -> str | None:
    """Describe how the document of a rerun differs from the received one, or why they can't be compared; return None if they are equal."""
    if status != 0 or not output.exists():
        return f"NOT REPEATED: the rerun left no document: {last_words(output.parent, status)}"
    try:
        received = read_file(folder, f"runs/{name}.json.gz", DOCUMENT_LIMIT)
    except ReceivedError as error:
        return f"NOT COMPARED: {error}"
    difference = file_difference(received, output.read_bytes())
    return difference and f"DIFFERENT at {difference}"
