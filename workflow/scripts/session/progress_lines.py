"""What Snakemake says of thousands of jobs: no line for each, and how far it is where there is no terminal."""

import logging
import sys
import time

from session.inside_snakemake import add_message_handler, filter_messages, is_job_done, jobs_planned


class ProgressLines(logging.Handler):
    """Write a line for each percent of the jobs that are done: a log file has no bar that moves."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.total = self.done = 0

    def emit(self, record) -> None:
        """Count what Snakemake reports: first how many jobs there are to do, then each that is done."""
        self.total = jobs_planned(record) or self.total
        if is_job_done(record) and self.total:
            self.done += 1
            if 100 * self.done // self.total > 100 * (self.done - 1) // self.total:
                clock = time.strftime("%Y-%m-%d %H:%M:%S")
                percent = 100 * self.done // self.total
                print(f"{clock} {self.done} of {self.total} jobs done ({percent} %)", file=self.stream, flush=True)


def is_of_interest(record) -> bool:
    """Tell whether a message is more than that a job has a container, as all have."""
    return not record.getMessage().startswith("Activating singularity image")


def show_progress() -> None:
    """Set this up for Snakemake's messages."""
    filter_messages(is_of_interest)
    if not sys.stderr.isatty():
        add_message_handler(ProgressLines(sys.stderr))
