"""What a run's program is given, and what it leaves: a folder with its modules, its specification, its document."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .failure import document_of
from .identity import PACKAGE, content_digest, program_identity
from .machine import GuestError, MachineFault
from .messages import naming

#: Compiles a folder of modules. In a process of its own, for what one holds in memory shows in bytecode; without the
#: checkout's path and the files' dates.
COMPILE = [sys.executable, "-I", "-m", "compileall", "-q", "-d", PACKAGE.name, "--invalidation-mode", "unchecked-hash"]


def hand_over(specification, job) -> None:
    """Put the package, its identity and a run's specification into the folder ``job``, which is all of the machine that the run sees."""
    with naming(job):
        (job / "specification.json").write_text(json.dumps(specification.document))
        # Not on the guest kernel's command line, from which random numbers follow.
        (job / "testbed_digest").write_text(program_identity(specification))
        try:
            shutil.copytree(prepared(), job / PACKAGE.name, copy_function=shutil.copyfile)
        except OSError:  # the checkout can't be written to, or is full
            shutil.rmtree(job / PACKAGE.name, ignore_errors=True)
            prepare(job / PACKAGE.name)


def prepare(folder) -> None:
    """Put the package into a new folder, compiled: a run that did it itself would take longer, and have another time line."""
    folder.mkdir()
    for module in PACKAGE.glob("*.py"):
        shutil.copyfile(module, folder / module.name)
    if subprocess.run([*COMPILE, str(folder)], env={"PYTHONHASHSEED": "0"}).returncode:
        raise OSError(f"{folder}: the testbed's modules can't be compiled there")


def prepared() -> Path:
    """Return a folder with the package as `prepare` makes it, kept beside the modules from one run to the next.

    Raises
    ------
    OSError
        If it can't be made there.
    """
    folder = PACKAGE.parent / "__pycache__" / f"{PACKAGE.name}-{content_digest(PACKAGE)[:16]}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            for earlier in folder.parent.glob(f"{PACKAGE.name}-*"):
                shutil.rmtree(earlier, ignore_errors=True)
            prepare(partial / PACKAGE.name)
            with contextlib.suppress(OSError):  # a job beside has made it
                (partial / PACKAGE.name).rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def result(job, status, step="guest", what="the guest kernel") -> dict:
    """Return the document that a run left in ``job``, or one that says why it failed; raise `GuestError` if neither can be had.

    Parameters
    ----------
    job : pathlib.Path
    status : int
        How its process ended (negative: the signal).
    step, what : str
        What was under way, and what that process was, for the message.
    """
    failure, document = left_by_run(job / "failure.json"), left_by_run(job / "document.json")
    if failure:
        step, cause, environment = failure["step"], f"{failure['kind']}: {failure['cause']}", failure["environment"]
        if environment is None:
            raise GuestError(step, cause)
        failed = document_of(json.loads((job / "specification.json").read_text()), environment, step, cause)
        if failure["kind"] == "KilledError":
            raise MachineFault(step, cause, failed)
        return failed
    if not document:
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        # A guest kernel aborts when its first process was killed.
        hint = " (out of memory?)" if -status in (signal.SIGKILL, signal.SIGBUS, signal.SIGABRT) else ""
        raise MachineFault(step, f"{what} {how}{hint} and left no document (see the log)")
    return document


def left_by_run(path) -> dict | None:
    """Return what a run wrote, or None: it may have ended before, or in the middle of it."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
