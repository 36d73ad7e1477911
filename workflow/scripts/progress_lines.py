"""What Snakemake says of thousands of jobs: no line for each, and how far it is where there is no terminal."""
import logging
import sys
import time

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent


class ProgressLines(logging.Handler):
    """Write a line for each percent of the jobs that are done: a log file has no bar that moves."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.total = self.done = 0

    def emit(self, record):
        """Count what Snakemake reports: first how many jobs there are to do, then each that is done."""
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.total = record.stats["total"]
        elif event == LogEvent.JOB_FINISHED and self.total:
            self.done += 1
            if 100 * self.done // self.total > 100 * (self.done - 1) // self.total:
                clock = time.strftime("%Y-%m-%d %H:%M:%S")
                percent = 100 * self.done // self.total
                print(f"{clock} {self.done} of {self.total} jobs done ({percent} %)", file=self.stream, flush=True)


def is_of_interest(record):
    """Tell whether a message is more than that a job has a container, as all have."""
    return not record.getMessage().startswith("Activating singularity image")


def show_progress():
    """Set this up for Snakemake's messages."""
    logger.addFilter(is_of_interest)
    if not sys.stderr.isatty():
        logger.addHandler(ProgressLines(sys.stderr))
