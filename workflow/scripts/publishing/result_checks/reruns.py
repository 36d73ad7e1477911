"""Rerun received runs, and compare the bytes of the documents."""

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
from publishing.result_checks.json_difference import file_difference
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import DOCUMENT_LIMIT, read_file
from study_files.run_platforms import image_of
from testbed.machine.machine import WORKFLOW_VARIABLE

#: Real time in seconds that a run has to end after an interrupt, before it is killed.
END_S = 10


def about(seconds) -> str:
    """Return a duration as short text, in seconds or, if it is at least two minutes, in minutes."""
    return f"about {math.ceil(seconds)} s" if seconds < 120 else f"about {math.ceil(seconds / 60)} min"


def run_command(root, specification, output, programs, kernels=None, folder=None) -> list[str]:
    """Return the command that executes a run in the same way as the workflow, as a list of arguments.

    ``programs`` has the digest of the program in each image. ``folder`` is the results folder, whose subfolder ``programs`` has the
    archives of the study's own programs if the run needs any.
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

    ``module`` has the name of the module, followed by its arguments. Mounts are results of `mount`, with ",ro" appended for a read-only
    folder. The module has the same access to the machine as the workflow's runs, without the network, and no access to the user's home.
    """
    return [
        "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--no-home", "--net", "--network", "none",
        *(word for place in mounts for word in ("--mount", place)),
        *(word for name, value in environment.items() for word in ("--env", f"{name}={value}")),
        str(image), "python3", "-B", "-m", *module,
    ]  # fmt: skip


def mount(folder) -> str:
    """Return the argument of Apptainer's `--mount` for a folder, which has the same path in the container.

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
        Number of runs that are executed at the same time.
    programs : dict
        Name of each image -> digest of the program in the image.
    kernels : pathlib.Path, optional
        Folder with the kernels that were built for the runs.

    Yields
    ------
    name, difference : str, str or None
        A run that has ended, and its `finding`. Ending the iteration also ends the runs in progress.
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

    The process runs in the folder, and its output is written to ``log`` in this folder. Only the caller stops the process (see `end`).
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
    """Return the last line printed by a process of `start`, or its exit status if it printed nothing."""
    log = (folder / "log").read_text(errors="replace").strip().splitlines()
    return shown(log[-1]) if log else f"exit status {status}"


def _ended(handles):
    """Wait until at least one of several processes (pidfds) has ended, and return the pidfds of the ended processes."""
    ends = select.poll()
    for handle in handles:
        ends.register(handle, select.POLLIN)
    return [handle for handle, _ in ends.poll()]


def end(processes) -> None:
    """Terminate processes from `start`: interrupt them so that they can clean up, then kill those that don't end."""
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
    """Return a description of the difference between a received document and its rerun, or None if they are equal."""
    if status != 0 or not output.exists():
        return f"NOT REPEATED: the rerun left no document: {last_words(output.parent, status)}"
    try:
        received = read_file(folder, f"runs/{name}.json.gz", DOCUMENT_LIMIT)
    except ReceivedError as error:
        return f"NOT COMPARED: {error}"
    difference = file_difference(received, output.read_bytes())
    return difference and f"DIFFERENT at {difference}"
