"""What set-up tells the user: one line a step, one sentence when it can't go on."""

import os
import re
import selectors
import subprocess
import sys
import time
from pathlib import Path

# The lines of a log that are worth showing: a definition's own marks and Apptainer's last stage.
STEP = re.compile(r"==> (.+)|INFO: +(Creating SIF file).*")
HEARTBEAT_S = 30


class SetupError(Exception):
    """Set-up can't go on; the text says in one sentence what is missing and how to get it."""


def say(text) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


def tail(log, lines=25) -> str:
    """Return the last lines of a log file, indented for display."""
    text = Path(log).read_text(errors="replace").splitlines()[-lines:]
    return "\n".join(f"    {line}" for line in text)


def run_logged(command, log, title, env=None, cwd=None) -> None:
    """Run a command, its output to a log file, its steps and elapsed seconds to the user.

    Parameters
    ----------
    command : list of str
    log : pathlib.Path
        Receives standard output and error; lines that `STEP` matches are shown.
    title : str
        What the command does; every line shown starts with it.

    Raises
    ------
    SetupError
        The command failed; the message carries the log's end and its path.
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
            process.terminate()  # interrupted: don't wait for its end
            raise
        status = process.wait()
    if status:
        raise SetupError(f"{title} failed (exit status {status}); the end of {log}:\n{tail(log)}")
    show("done")


def copy_output(source, selector, log, show) -> None:
    """Copy a command's output to its log until it ends; show its steps, and now and then a sign of life."""
    shown = time.monotonic()
    pending = b""
    while True:
        if selector.select(timeout=HEARTBEAT_S):
            chunk = os.read(source.fileno(), 1 << 16)
            if not chunk:
                return
            log.write(chunk)
            log.flush()
            *lines, pending = (pending + chunk).split(b"\n")
            for step in filter(None, (STEP.fullmatch(line.decode(errors="replace").strip()) for line in lines)):
                show(step[step.lastindex])
                shown = time.monotonic()
        if time.monotonic() - shown >= HEARTBEAT_S:
            show("still working")
            shown = time.monotonic()


def refuse(error) -> int:
    """Print the sentence of a `SetupError` and return the exit status."""
    print(f"sawtooth: {error}", file=sys.stderr, flush=True)
    return 1
