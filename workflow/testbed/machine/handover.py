"""What a run's program is given, and what it leaves: a folder with its modules, its specification, its document."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from testbed.machine.failure import document_of
from testbed.machine.identity import TESTBED, WORKFLOW, content_digest, modules_of, program_identity
from testbed.machine.machine import GuestError, MachineFault
from testbed.machine.messages import naming

#: Compiles a package. In a separate process, because a process's memory shows in bytecode; with the package's name instead of
#: the checkout's path, and without the files' dates.
COMPILE = [sys.executable, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-d"]


def hand_over(specification, job) -> None:
    """Put the packages, their identity and a run's specification into the folder ``job``, which is all of the machine that the run sees."""
    with naming(job):
        (job / "specification.json").write_text(json.dumps(specification.document))
        # Not on the guest kernel's command line, from which random numbers follow.
        (job / "testbed_digest").write_text(program_identity(specification))
        try:
            shutil.copytree(prepared(), job, copy_function=shutil.copyfile, dirs_exist_ok=True)
        except OSError:  # the checkout can't be written to, or is full
            for package in TESTBED:
                shutil.rmtree(job / package.name, ignore_errors=True)
            prepare(job)


def prepare(folder) -> None:
    """Put the packages into a folder, compiled: a run that did it itself would take longer, and have another time line."""
    for package in TESTBED:
        for module in modules_of(package):
            copy = folder / package.name / module.relative_to(package)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(module, copy)
        compiled = subprocess.run([*COMPILE, package.name, str(folder / package.name)], env={"PYTHONHASHSEED": "0"})
        if compiled.returncode:
            raise OSError(f"{folder}: the testbed's modules can't be compiled there")


def prepared() -> Path:
    """Return a folder with the packages as `prepare` makes it, kept beside them from one run to the next.

    Raises `OSError` if it can't be made there.
    """
    folder = WORKFLOW / "__pycache__" / f"testbed-{content_digest(*TESTBED)[:16]}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            for earlier in folder.parent.glob("testbed-*"):
                shutil.rmtree(earlier, ignore_errors=True)
            prepare(partial)
            partial.chmod(0o755)
            with contextlib.suppress(OSError):  # a job beside has made it
                partial.rename(folder)
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
