"""Runs in the testbed's container by a process that has imported the program already: starting a container and importing is a third of a short run.

Each run is a process of its own, forked off, and goes through the program's command line from its beginning; so one container
carries out several runs, as a job of several runs does.
"""

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def call(arguments, folder, timeout):
    """Carry out ``python3 -m testbed <arguments>``, whose files are below a folder, in the container; return the finished process."""
    asked = {"arguments": arguments, "timeout": timeout}
    asked |= {name: str(folder / f".testbed-{name}") for name in ("stdout", "stderr")}
    status = int(_answer(json.dumps(asked), folder))
    printed = {name: Path(asked[name]).read_text(encoding="utf-8") for name in ("stdout", "stderr")}
    for name in printed:
        Path(asked[name]).unlink()
    return subprocess.CompletedProcess(["testbed", *arguments], status, **printed)


def _answer(line, folder):
    """Return what the process says to a line; a test may have ended the last one with all that it had started."""
    if _process(folder).poll() is not None:
        _process.cache_clear()
    process = _process(folder)
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


@cache
def _process(folder):
    """Return the process in a container that sees a folder. It ends with its input, hence with the tests."""
    command = [
        str(Path(sys.executable).with_name("apptainer")), "--silent", "exec", "--userns", "--cleanenv",
        "--bind", str(folder), "--bind", str(ROOT / "workflow"), "--bind", __file__, "--env", f"PYTHONPATH={ROOT / 'workflow'}",
        str(ROOT / "envs/testbed.sif"), "python3", __file__,
    ]  # fmt: skip
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _answer_calls():
    """For each line of the input carry out its run and print the exit status."""
    sys.path[0] = os.getcwd()  # as with -m
    import testbed.__main__  # noqa: F401

    gc.freeze()  # what is imported stays shared with the forks
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _carry_out(asked)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _carry_out(asked):
    """Be the called program, from its arguments to its exit status."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    sys.argv[1:] = asked["arguments"]
    signal.alarm(asked["timeout"])
    del sys.modules["testbed.__main__"]
    runpy.run_module("testbed", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _answer_calls()
