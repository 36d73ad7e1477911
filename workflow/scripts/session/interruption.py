"""Handle Ctrl-C during a workflow: print one line with the number of kept runs and the command to continue.

Snakemake itself would report each interrupted run as failed and print the run's command, which is 2,000 characters long.
"""

import atexit
import logging
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from session.inside_messages import filter_messages, is_end_of_planning, is_failure_of_job, is_own, say
from wording.terminal_text import said

#: Modules that print; an exception in them would leave locks and buffers in a state in which all later output is lost.
PRINTING = ("logging", "rich")
#: Time in s after which the signal is raised again.
AGAIN_S = 0.2
#: Time in s that a message about a failure waits for the signal, which a busy machine may deliver to a job first.
LATE_S = 0.5
#: Time in s between two checks for the signal.
LOOK_S = 0.02


def is_printing(frame) -> bool:
    """Return whether a frame or one of its callers belongs to a module that prints."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in PRINTING:
            return True
        frame = frame.f_back
    return False


def is_error_in_thread(record) -> bool:
    """Return whether a message is an error from a thread of Snakemake's executor; such a message precedes the report of a job's failure."""
    return record.levelno >= logging.ERROR and threading.current_thread() is not threading.main_thread()


class Interruption:
    """State of an interruption by Ctrl-C, and the line that is printed after it.

    Parameters
    ----------
    study : str
        Name of the study.
    documents : iterable of str
        Paths of all run documents of the study.
    command : str
        Command that continues where this call ended.
    unfinished : callable
        Function that takes the paths of existing files and returns the paths of those files that Snakemake would make again.
    """

    def __init__(
        self,
        study: str,
        documents: Iterable[str],
        command: str,
        unfinished: Callable[[list[str]], set[str]] = lambda _: set(),
    ):
        self.study, self.documents, self.command, self.unfinished = study, documents, command, unfinished
        self.is_asked = self.is_said = False

    def interrupt(self, number, frame) -> None:
        """Record the signal, then act like Python's default handler; while a module prints, the second step is delayed.

        The signal must be recorded before Snakemake reports the end of a job.
        """
        self.is_asked = True
        if is_printing(frame):
            # Only a signal sent to the main thread interrupts a wait in that thread.
            again = threading.Timer(AGAIN_S, signal.pthread_kill, [threading.main_thread().ident, number])
            again.daemon = True
            again.start()
        else:
            signal.default_int_handler(number, frame)

    def is_shown(self, record) -> bool:
        """Return whether a message is shown; Snakemake's own messages are hidden after Ctrl-C."""
        if is_own(record):
            return True
        if is_failure_of_job(record) or is_error_in_thread(record):
            self.wait_for_signal()
        if self.is_asked and is_end_of_planning(record):
            self.explain()
        return not self.is_asked

    def wait_for_signal(self) -> None:
        """Wait up to `LATE_S` for the signal of Ctrl-C, which terminates a job at once but may reach this process a moment later.

        The signal's handler may interrupt this function, so the two share no lock.
        """
        end_s = time.monotonic() + LATE_S
        while not self.is_asked and time.monotonic() < end_s:
            time.sleep(LOOK_S)

    def explain(self) -> None:
        """Print `sentence` if the user has pressed Ctrl-C; called when all jobs have ended."""
        if self.is_asked and not self.is_said:
            self.is_said = True
            say(self.sentence())

    def explain_at_exit(self) -> None:
        """Print `sentence` if Snakemake ended without running `onerror:`, which happens if the signal arrives between two jobs."""
        if self.is_asked and not self.is_said:
            self.is_said = True
            print(f"\r{self.sentence()}", file=sys.stderr, flush=True)

    def sentence(self) -> str:
        """Return a sentence with the number of kept runs and the command to continue."""
        documents = list(self.documents)
        there = [path for path in documents if os.path.exists(path)]
        kept = len(there) - len(self.unfinished(there))
        return said(
            f"interrupted; {kept} of {len(documents)} runs of {self.study} are kept, continue with: {self.command}"
        )


def command_of_call(words: list[str], environ: Mapping[str, str] = os.environ) -> str:
    """Return the command that the user typed, quoted for the shell: a `make` command, or Snakemake's own command line.

    ``SAWTOOTH_CALL`` contains the words of the `make` command, each quoted for the shell.

    >>> command_of_call(["/x/bin/snakemake", "--configfile", "a b.yaml"], {})
    "snakemake --configfile 'a b.yaml'"
    >>> command_of_call(["/x/bin/snakemake", "-n"], {"SAWTOOTH_CALL": "make  STUDY=smoke "})
    'make STUDY=smoke'
    >>> command_of_call(["/x/bin/snakemake", "-n"], {"SAWTOOTH_CALL": "make 'ARGS=-k -n' 'STUDY=a.yaml'"})
    "make ARGS='-k -n' STUDY=a.yaml"
    """
    call = shlex.split(environ.get("SAWTOOTH_CALL", ""))
    return " ".join(map(_as_typed, call)) or shlex.join(["snakemake", *words[1:]])


def _as_typed(word):
    """Return a word quoted for the shell; in NAME=VALUE, only the value is quoted."""
    name, is_set, value = word.partition("=")
    return f"{name}={shlex.quote(value)}" if is_set and value else shlex.quote(word)


def watch_interrupts(study: str, documents: Iterable[str], unfinished: Callable[[list[str]], set[str]]) -> Interruption:
    """Install the Ctrl-C handler for this call, but only in the main thread, because no other thread receives the signal."""
    interruption = Interruption(study, documents, command_of_call(sys.argv), unfinished)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interruption.interrupt)
        filter_messages(interruption.is_shown)
        atexit.register(interruption.explain_at_exit)
    return interruption
