"""Commands on Mininet's nodes: argument lists, never a shell, never ignored."""
import json
import subprocess
import sys


class CommandError(RuntimeError):
    """A command on a node ended with a status other than 0."""

    def __init__(self, node, arguments, status, output):
        self.output = output.strip()
        super().__init__(
            f"{node.name}: {' '.join(arguments)}: exit status {status}: {self.output or 'no output'}"
        )


def run(node, arguments, stdin=None):
    """Run a command in a node's network namespace and return what it printed.

    Parameters
    ----------
    node : mininet.node.Node
    arguments : list of str
    stdin : str, optional

    Raises
    ------
    CommandError
        If the exit status is not 0; it carries both output streams.
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
    if process.returncode != 0:
        raise CommandError(node, list(arguments), process.returncode, errors + output)
    if errors.strip():
        log(f"{node.name}: {errors.strip()}")
    return output


def run_json(node, arguments):
    """Run a command and return its output parsed as JSON (``[]`` if it printed nothing)."""
    output = run(node, arguments)
    return json.loads(output) if output.strip() else []


def batch(node, tool, lines):
    """Run many lines of ``ip`` or ``tc`` in one process; the first error ends it."""
    run(node, [tool, "-batch", "-"], stdin="".join(f"{line}\n" for line in lines))


def log(text):
    """Write a line to the run's log (standard error of the guest's program)."""
    print(text, file=sys.stderr, flush=True)
