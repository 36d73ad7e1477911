"""What a scheduler says of a job that failed, put into the job's log, where its user looks first."""

import re
from functools import cache
from pathlib import Path

from session.inside_snakemake import failure_of_job, filter_messages

#: How many lines of a scheduler's log are shown.
LINES = 3


def _enter_in_log(record):
    """Append what the scheduler says to the log of the job that a message says has failed; let every message pass.

    A job that its node never started, or that was ended from outside, has nothing in its
    log that says so. On one's own machine there is no scheduler, and nothing is added.
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
            pass  # the same stands in Snakemake's own log
    return True


def _lines_that_tell(path, started):
    """Return Slurm's own lines of a job's log, or the last ones of a job that did not come to start."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    of_slurm = [line for line in lines if re.match(r"slurmstepd\S*: |srun: error", line)]
    return (of_slurm or ([] if started else [line for line in lines if line.strip()]))[-LINES:]


@cache
def show_lost_jobs() -> None:
    """Set this up for Snakemake's messages: once, however often the workflow is a module of another."""
    filter_messages(_enter_in_log)
