"""Runs forked from a process in the testbed's container that has imported the program: this saves a fifth of a short run.

Each run is a separate process and goes through the program's command line from the beginning, so one container executes
several runs, as a job of several runs does.
"""

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Held during a call: of several simultaneous runs only one is forked, and the others have separate containers.
BUSY = threading.Lock()


def call(arguments, folder, timeout):
    """Execute ``python3 -m testbed <arguments>``, whose files are below a folder, and return the finished process."""
    asked = {"arguments": arguments, "timeout": timeout}
    asked |= {name: str(folder / f".testbed-{name}") for name in ("stdout", "stderr")}
    status = int(_answer(json.dumps(asked), folder))
    printed = {name: Path(asked[name]).read_text(encoding="utf-8") for name in ("stdout", "stderr")}
    for name in printed:
        Path(asked[name]).unlink()
    return subprocess.CompletedProcess(["testbed", *arguments], status, **printed)


def _answer(line, folder):
    """Return the process's answer to a line; it is started again if a test has ended it."""
    if _process(folder).poll() is not None:
        _process.cache_clear()
    process = _process(folder)
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


@cache
def _process(folder):
    """Start the process in a container with a folder. It ends with its input, hence with the tests."""
    command = [
        str(Path(sys.executable).with_name("apptainer")), "--silent", "exec", "--userns", "--cleanenv",
        "--bind", str(folder), "--bind", str(ROOT / "workflow"), "--bind", __file__, "--env", f"PYTHONPATH={ROOT / 'workflow'}",
        str(ROOT / "envs/testbed.sif"), "python3", __file__,
    ]  # fmt: skip
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _answer_calls():
    """Execute the run in each line of the input and print its exit status."""
    sys.path[0] = os.getcwd()  # as with -m
    import testbed.__main__  # noqa: F401

    gc.freeze()  # imported modules stay shared with the forks
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _carry_out(asked)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _carry_out(asked):
    """Act as the called program, from its arguments to its exit status."""
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
