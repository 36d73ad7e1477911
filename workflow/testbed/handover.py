"""What a run's program is given, and what it leaves: a folder with its modules, its specification, its document."""

import json
import shutil
import signal
from pathlib import Path

from .failure import document_of
from .machine import GuestError, MachineFault
from .messages import naming


def hand_over(specification, job) -> None:
    """Put the package and a run's specification into the folder ``job``, which is all of the machine that the run sees."""
    with naming(job):
        (job / "testbed").mkdir()
        for module in Path(__file__).parent.glob("*.py"):
            shutil.copy(module, job / "testbed")
        (job / "specification.json").write_text(json.dumps(specification.document))


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
