"""Show the progress of thousands of jobs without a line for each job: with bars, or with one line per minute."""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping

from session.inside_messages import add_message_handler, bars_of, filter_messages, progress_of

#: Minimum time between two lines, in seconds.
INTERVAL_S = 60
#: Time between two checks of the existing documents, in seconds.
LOOK_S = 5
#: Core-seconds of a job other than a run: analyses, figures, the page.
OTHER_JOB_S = 3
#: Share of the work after which the pace is extrapolated; before that, all cores are assumed to be in use.
PACE_FROM = 0.05


def version_of_file(path: str) -> tuple[int, int] | None:
    """Return a file's modification time and inode, or None if it doesn't exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


class WorkLeft:
    """Remaining time of the planned jobs: the runs' expected time on this machine, scaled by the pace of the finished runs.

    The number of jobs isn't used, because the costs of runs differ by factors of thousands. Runs in `copied` are left out of both the work
    and the pace.

    Parameters
    ----------
    clock : callable
        Function that returns the time in s.
    version_of : callable
        Function that returns a value that identifies the version of the document at a path, or None if there is none.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, version_of: Callable[[str], object] = version_of_file
    ):
        self.clock, self.version_of = clock, version_of
        self.runs, self.cores, self.began, self.looked, self.known = {}, 1, clock(), None, ""
        self.planned, self.totals, self.outdated = dict, set(), {}
        #: Paths of documents that were copied from the run cache; other threads may add to it.
        self.copied: set[str] = set()

    def begin(
        self, runs: Mapping[str, float], cores: int | None, planned: Callable[[], Mapping[str, float]] = dict
    ) -> None:
        """Start the clock.

        ``runs`` maps the document path of each planned run to the run's expected core-seconds. Documents that exist already are about to be
        replaced. ``planned`` returns such a mapping at any time, if more runs may be planned later; it is called if the number of jobs, or of a
        rule's jobs, changes.
        """
        self.runs, self.cores, self.began, self.looked = {}, cores or 1, self.clock(), None
        self.planned, self.totals, self.outdated = planned, set(), {}
        self._add(runs)

    def _add(self, runs):
        for path in runs.keys() - self.runs.keys():
            self.runs[path], self.outdated[path] = runs[path], self.version_of(path)

    def is_done(self, path: str) -> bool:
        """Return whether a planned run's document has been made since the start."""
        return self.version_of(path) not in (None, self.outdated.get(path))

    def words(self, done: int, total: int) -> str:
        """Return the remaining time in words, given the number of finished jobs and the number of all jobs (or of a rule's jobs)."""
        if total not in self.totals:
            with contextlib.suppress(RuntimeError):  # the jobs are being planned in another thread
                self._add(self.planned())
                self.totals.add(total)
        if self.looked is None or self.clock() - self.looked >= LOOK_S:
            self.looked, self.known = self.clock(), in_words(self._seconds(done, total))
        return self.known

    def _seconds(self, done, total):
        runs = {path: seconds for path, seconds in self.runs.items() if path not in self.copied}
        left_s = sum(seconds for path, seconds in runs.items() if not self.is_done(path))
        # A job may contain several runs, so there can be fewer jobs than runs.
        others = max(0, total - len(self.runs))
        all_s = sum(runs.values()) + OTHER_JOB_S * others
        others_done = max(0, done - sum(map(self.is_done, self.runs))) if others else 0
        left_s += OTHER_JOB_S * (others - min(others, others_done))
        done_s = all_s - left_s
        if not all_s:
            return 0.0
        pace = self.cores
        if done_s >= PACE_FROM * all_s and self.clock() > self.began:
            pace = done_s / (self.clock() - self.began)
        return left_s / pace


class ProgressLines(logging.Handler):
    """Write the numbers of finished and planned jobs and the time left: at the first job, once per minute, and at the last job.

    A log file can't show a moving bar.
    """

    def __init__(self, stream, work_left: WorkLeft, clock=time.monotonic):
        super().__init__()
        self.stream, self.work_left, self.clock = stream, work_left, clock
        self.written = None

    def emit(self, record) -> None:
        """Write a line for a progress message if it is the first or the last one, or if the previous line is at least a minute old."""
        if not (progress := progress_of(record)):
            return
        (done, total), now = progress, self.clock()
        if done < total and self.written is not None and now - self.written < INTERVAL_S:
            return
        self.written = now
        left = "" if done == total else f", {self.work_left.words(done, total)} left"
        moment = time.strftime("%Y-%m-%d %H:%M:%S")
        print(f"{moment} {done} of {total} jobs done ({100 * done // total} %){left}", file=self.stream, flush=True)


def in_words(seconds: float) -> str:
    """Return a remaining time as text.

    >>> in_words(2), in_words(100), in_words(29_700)
    ('about 1 min', 'about 2 min', 'about 8 h 15 min')
    """
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return f"about {f'{hours} h ' if hours else ''}{minutes} min"


def is_of_interest(record) -> bool:
    """Return whether to show a message; the messages about each job's container and about the record of claims are hidden."""
    message = record.getMessage()
    return not message.startswith(
        ("Activating singularity image", "Warning: the following output files of rule record_claims")
    )


def show_progress(workflow, work_left: WorkLeft) -> None:
    """Install the progress display for Snakemake's messages."""
    filter_messages(is_of_interest)
    if not sys.stderr.isatty():
        add_message_handler(ProgressLines(sys.stderr, work_left))
    for bars in bars_of(workflow):
        _count_in(bars, work_left)


def _count_in(bars, work_left):
    """Show the finished and planned jobs and the time left in the progress bars."""
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        def render(self, task):
            if task.finished or not task.total:
                return super().render(task)
            return Text(f"{work_left.words(int(task.completed), int(task.total))} left", style="progress.remaining")

    bars.columns = (*bars.columns[:-1], MofNCompleteColumn(), TimeLeft(elapsed_when_finished=True))
