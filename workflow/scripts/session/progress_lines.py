"""What Snakemake says of thousands of jobs: no line for each, and how far it is where there is no terminal."""

import logging
import sys
import time

from session.inside_snakemake import add_message_handler, filter_messages, progress_of


class ProgressLines(logging.Handler):
    """Write a line for each percent of the jobs that are done: a log file has no bar that moves."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream

    def emit(self, record) -> None:
        """Say what Snakemake reports of each job that is done: where looks at the runs ask for more, there are more in all."""
        if progress := progress_of(record):
            done, total = progress
            if 100 * done // total > 100 * (done - 1) // total:
                clock = time.strftime("%Y-%m-%d %H:%M:%S")
                percent = 100 * done // total
                print(f"{clock} {done} of {total} jobs done ({percent} %)", file=self.stream, flush=True)


def is_of_interest(record) -> bool:
    """Tell whether a message is more than that a job has a container, as all have."""
    return not record.getMessage().startswith("Activating singularity image")


def show_progress() -> None:
    """Set this up for Snakemake's messages."""
    filter_messages(is_of_interest)
    if not sys.stderr.isatty():
        add_message_handler(ProgressLines(sys.stderr))
