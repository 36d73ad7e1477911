"""What Snakemake says of thousands of jobs: no line for each, and how far it is, in bars or in a line a minute."""

import logging
import sys
import time

from session.inside_snakemake import add_message_handler, bars_of, filter_messages, progress_of

#: Shortest time between two lines, in seconds.
INTERVAL_S = 60
#: Time over which a bar averages how fast jobs end, in seconds: a run may take minutes.
SPEED_OVER_S = 900


class ProgressLines(logging.Handler):
    """Write how many jobs are done, of how many, and the time left: at the first job, once a minute and at the last.

    A log file has no bar that moves.
    """

    def __init__(self, stream, clock=time.monotonic):
        super().__init__()
        self.stream, self.clock = stream, clock
        self.began = clock()
        self.written = None

    def emit(self, record) -> None:
        """Write a line for a message about progress if the last one is a minute old."""
        if not (progress := progress_of(record)):
            return
        (done, total), now = progress, self.clock()
        if done < total and self.written is not None and now - self.written < INTERVAL_S:
            return
        self.written = now
        left = "" if done == total else f", {time_left(done, total, now - self.began)} left"
        moment = time.strftime("%Y-%m-%d %H:%M:%S")
        print(f"{moment} {done} of {total} jobs done ({100 * done // total} %){left}", file=self.stream, flush=True)


def time_left(done: int, total: int, elapsed_s: float) -> str:
    """Return the time that the other jobs take if they are as fast as those before them.

    >>> time_left(10, 30, 60), time_left(1, 100, 1), time_left(1, 100, 300)
    ('about 2 min', 'about 2 min', 'about 8 h 15 min')
    """
    minutes = max(1, round(elapsed_s / done * (total - done) / 60))
    hours, minutes = divmod(minutes, 60)
    return f"about {f'{hours} h ' if hours else ''}{minutes} min"


def is_of_interest(record) -> bool:
    """Return whether a message is news: each job has a container, and the record of claims is written before the first job."""
    message = record.getMessage()
    return not message.startswith(
        ("Activating singularity image", "Warning: the following output files of rule record_claims")
    )


def show_progress(workflow) -> None:
    """Set this up for Snakemake's messages."""
    filter_messages(is_of_interest)
    if not sys.stderr.isatty():
        add_message_handler(ProgressLines(sys.stderr))
    for bars in bars_of(workflow):
        _count_in(bars)


def _count_in(bars):
    """Show in bars how many jobs of how many are done, and the time left once it is known."""
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        def render(self, task):
            text = super().render(task)
            return Text("") if "-" in text.plain else text if task.finished else text + " left"

    bars.speed_estimate_period = SPEED_OVER_S
    bars.columns = (*bars.columns[:-1], MofNCompleteColumn(), TimeLeft(elapsed_when_finished=True))
