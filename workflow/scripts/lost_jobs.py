"""What a scheduler says of a job that failed, put into the job's log, where its user looks first."""
import re
from pathlib import Path

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

#: Of a scheduler's log.
LINES = 3


def enter_in_log(record):
    """Append what the scheduler says to the log of the job that a message says has failed; let every message pass.

    A job that its node never started, or that was ended from outside, has nothing in its
    log that says so. On one's own machine there is no scheduler, and nothing is added.

    Parameters
    ----------
    record : logging.LogRecord
        Any message of Snakemake's.

    Returns
    -------
    bool
        True: a filter that only looks.
    """
    if getattr(record, "event", None) == LogEvent.JOB_ERROR and record.rule_msg and record.log:
        log, *schedulers = map(Path, record.log)
        said = [f"scheduler: {record.rule_msg}"]
        for path in schedulers:
            said += [f"its log: {path}", *lines_that_tell(path, started=log.exists())]
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a", encoding="utf-8") as stream:
                stream.write("\n".join(said) + "\n")
        except OSError:
            pass  # the same stands in Snakemake's own log
    return True


def lines_that_tell(path, started):
    """Return Slurm's own lines of a job's log, or the last ones of a job that did not come to start."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    of_slurm = [line for line in lines if re.match(r"slurmstepd\S*: |srun: error", line)]
    return (of_slurm or ([] if started else [line for line in lines if line.strip()]))[-LINES:]


def show_lost_jobs():
    """Set this up for Snakemake's messages."""
    logger.addFilter(enter_in_log)
