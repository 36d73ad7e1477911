"""Print set-up's messages: a line for each step, and a sentence if set-up can't continue."""

import os
import re
import selectors
import subprocess
import sys
import time

# Pattern of the log lines that are shown to the user: those that an image definition marks, and Apptainer's last stage.
STEP = re.compile(r"==> (.+)|INFO: +(Creating SIF file).*")
HEARTBEAT_S = 30
#: Number of lines that are shown from the end of a failed command's log.
SHOWN_LINES = 25
#: Maximum size of a command's log in bytes; further output is discarded.
LARGEST_LOG = 2**26
#: Maximum length in bytes of a line that is recognized as a step.
LONGEST_LINE = 2**16
#: Pattern of an error that pip or apt reports in a log. Two of pip's error lines don't state the error itself: `ERROR: Exception:` precedes
#: a traceback, whose last line states the error, and a line about ignored versions precedes the actual error.
ERROR = re.compile(r"(?:ERROR|E): (?!Exception:|Ignored the following versions)(.+)")
#: Pattern of the text that pip prints, anywhere in a line, if the network doesn't respond. pip's later errors are only consequences.
UNANSWERED = re.compile(
    r"Read timed out|[Cc]onnection (?:refused|reset by peer|broken|aborted|timed out)|Network is unreachable|No route to host|"
    r"Remote end closed connection|Name or service not known|Temporary failure in name resolution|Incomplete(?:Read| download)"
)
#: Control characters except tab and newline, and characters that change the direction of text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class SetupError(Exception):
    """Set-up can't continue; the message explains in one sentence what is wrong and what the user can do."""


def visible(text) -> str:
    """Escape a text's control characters, as in ``\\x1b[2J``, so that a terminal doesn't interpret them."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), str(text))


def say(text) -> None:
    """Print a line immediately, even to a pipe; control characters, which compilers and Makefiles may print, are escaped."""
    print(visible(text), flush=True)


def last_lines(log, count) -> list[str]:
    """Return the last ``count`` lines of a log file, which may have any size."""
    with open(log, "rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - SHOWN_LINES * LONGEST_LINE))
        return opened.read().decode(errors="replace").splitlines()[-count:]


def errors_in(log) -> list[str]:
    """Return the errors that pip or apt reports at the end of a log, or the log's last line if no line is marked as an error."""
    lines = last_lines(log, 1000)
    return [match[1].strip() for line in lines if (match := ERROR.match(line))] or lines[-1:] or ["it gives no reason"]


def run_quietly(command, **options) -> str:
    """Run a command and return its standard output.

    Parameters
    ----------
    command : list of str or pathlib.Path
        Command with its arguments.
    **options
        Additional arguments for `subprocess.run`.

    Raises
    ------
    SetupError
        If the command fails. The message ends with the last line of the command's standard error.
    """
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise SetupError(f"{os.path.basename(command[0])} failed: {lines[-1]}")
    return done.stdout


def run_logged(command, log, title, env=None, cwd=None) -> None:
    """Run a command, write its output to a log file, and print its steps with the elapsed time in seconds.

    Parameters
    ----------
    command : list of str
        Command with its arguments.
    log : pathlib.Path
        File for the command's standard output and standard error. Lines that match `STEP` are also printed.
    title : str
        Description of the command, printed before each step.
    env, cwd : optional
        Environment variables and working folder of the command.

    Raises
    ------
    SetupError
        If the command fails. The message contains the end of the log and the log's path.
    """
    started = time.monotonic()

    def show(text):
        say(f"[{time.monotonic() - started:4.0f} s] {title}: {text}")

    log.parent.mkdir(parents=True, exist_ok=True)
    show("started")
    with (
        open(log, "wb") as out,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd=cwd
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        selector.register(process.stdout, selectors.EVENT_READ)
        try:
            copy_output(process.stdout, selector, out, show)
        except BaseException:
            process.terminate()  # interrupted: don't wait until the process ends
            raise
        status = process.wait()
    if status:
        end = "".join(f"\n    {line}" for line in last_lines(log, SHOWN_LINES))
        raise SetupError(f"{title} failed (exit status {status}); the end of {log}:{end}")
    show("done")


def run_fetching(command, log, title, what, source="package index", env=None) -> None:
    """Run a pip or apt command with `run_logged`; the command fetches something (``what``) from a ``source``.

    Raises
    ------
    SetupError
        If the command fails. The message begins with ``what``, and quotes the last text about an unresponsive network in the log or, if
        there is none, the first error.
    """
    try:
        run_logged(command, log, title, env)
    except SetupError:
        unanswered = UNANSWERED.findall("\n".join(last_lines(log, 1000)))
        reason = (unanswered or errors_in(log))[-1 if unanswered else 0]
        if reason.startswith("THESE PACKAGES DO NOT MATCH THE HASHES"):
            reason = "a package arrived incomplete, or differs from the one in the lock file"
        raise SetupError(f"{what} can't be fetched (no network, or no {source}?): {reason} (the rest: {log})") from None


def copy_output(source, selector, log, show) -> None:
    """Copy a command's output to its log until the output ends, and show the steps.

    If there is no step for `HEARTBEAT_S`, "still working" is shown.
    """
    shown = time.monotonic()
    pending = b""
    while True:
        if selector.select(timeout=HEARTBEAT_S):
            chunk = os.read(source.fileno(), 1 << 16)
            if not chunk:
                return
            log.write(chunk[: max(0, LARGEST_LOG - log.tell())])
            log.flush()
            *lines, pending = (pending + chunk).split(b"\n")
            pending = pending[-LONGEST_LINE:]
            for step in filter(None, (STEP.fullmatch(line.decode(errors="replace").strip()) for line in lines)):
                show(step[step.lastindex])
                shown = time.monotonic()
        if time.monotonic() - shown >= HEARTBEAT_S:
            show("still working")
            shown = time.monotonic()


def refuse(error) -> int:
    """Print the message of an error, and return set-up's exit status."""
    print(visible(f"sawtooth: {error}"), file=sys.stderr, flush=True)
    return 1
