"""Copy a scheduler's message about a failed job to the job's log, where users look first."""

import re
from functools import cache
from pathlib import Path

from session.inside_messages import failure_of_job, filter_messages

#: Number of lines of a scheduler's log that are shown.
LINES = 3


def _enter_in_log(record):
    """Append the scheduler's message to the log of a failed job; return True, so that every message is shown.

    If no node ever started the job, or if the job was terminated from outside, the job's log doesn't
    mention this. On a user's own machine, there is no scheduler, and nothing is added.
    """
    failure = failure_of_job(record)
    if failure:
        message, logs = failure
        log, *schedulers = map(Path, logs)
        lines = [f"scheduler: {message}"]
        for path in schedulers:
            lines += [f"its log: {path}", *_lines_that_tell(path, started=log.exists())]
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a", encoding="utf-8") as stream:
                stream.write("\n".join(lines) + "\n")
        except OSError:
            pass  # Snakemake's own log contains the same message
    return True


def _lines_that_tell(path, started):
    """Return the last lines that Slurm wrote to a scheduler's log.

    If Slurm wrote none and the job didn't start, return the last lines of any kind.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    of_slurm = [line for line in lines if re.match(r"slurmstepd\S*: |srun: error", line)]
    return (of_slurm or ([] if started else [line for line in lines if line.strip()]))[-LINES:]


@cache
def show_lost_jobs() -> None:
    """Install the handler for Snakemake's messages, only once even if the workflow is used as a module several times."""
    filter_messages(_enter_in_log)
