"""Run commands on Mininet's nodes, as argument lists without a shell; failures are never ignored."""

import json
import signal
import subprocess
import sys


class CommandError(RuntimeError):
    """A command on a node exited with a status other than 0."""

    def __init__(self, node, arguments, status, output):
        self.output = output.strip()
        super().__init__(f"{node.name}: {' '.join(arguments)}: exit status {status}: {self.output or 'no output'}")


class KilledError(RuntimeError):
    """A signal terminated a process in the guest: the machine killed the process, or the program crashed."""


def check_not_killed(what, process) -> None:
    """Raise `KilledError` if a signal terminated a process.

    In the guest, a process that is killed from outside appears to die from SIGSEGV, like a program that crashes. Only a crash recurs in a
    second try.
    """
    if (process.poll() or 0) < 0:
        raise KilledError(f"{what} was ended by {signal.Signals(-process.returncode).name}")


def run(node, arguments, stdin=None) -> str:
    """Run a command in a node's network namespace and return its output.

    Parameters
    ----------
    arguments : list of str
        The command and its arguments.
    stdin : str, optional
        Standard input of the command.

    Raises
    ------
    CommandError
        If the exit status is not 0; the error contains both output streams.
    KilledError
        If a signal terminated the command.
    """
    process = node.popen(
        list(arguments),
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = process.communicate(stdin.encode() if stdin is not None else None)
    output, errors = output.decode(), errors.decode()
    log(f"{node.name}$ {' '.join(arguments)}" + (f" <<< {stdin!r}" if stdin else ""))
    check_not_killed(arguments[0], process)
    if process.returncode != 0:
        raise CommandError(node, list(arguments), process.returncode, errors + output)
    if errors.strip():
        log(f"{node.name}: {errors.strip()}")
    return output


def run_json(node, arguments) -> list[dict]:
    """Run a command and return its output parsed as JSON (``[]`` if it printed nothing)."""
    output = run(node, arguments)
    return json.loads(output) if output.strip() else []


def batch(node, tool, lines) -> None:
    """Run many ``ip`` or ``tc`` commands in one process, which stops at the first error."""
    if lines:
        run(node, [tool, "-batch", "-"], stdin="".join(f"{line}\n" for line in lines))


def batch_json(node, tool, lines, *options) -> list[list[dict]]:
    """Run many ``ip`` or ``tc`` commands in one process and return the parsed JSON output of each; ``options`` apply to all commands."""
    answer = run(node, [tool, "-j", *options, "-batch", "-"], stdin="".join(f"{line}\n" for line in lines))
    return [json.loads(line) for line in answer.splitlines() if line]


def log(text) -> None:
    """Write a line to the run's log (standard error of the guest's program)."""
    print(text, file=sys.stderr, flush=True)
