"""Calls of Snakemake by a process that has already imported it: importing takes more than half of the time of a dry run or a refusal.

Each call is a separate forked process with its own folder, environment and output, and goes through Snakemake's command
line from the beginning.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

#: Modules that Snakemake imports only while it plans; with the plugins they take half of a dry run.
LATER = ("packaging.version", "rich._emoji_codes", "smart_open", "snakemake.benchmark", "snakemake.storage", "snakemake_logger_plugin_rich", "yte")  # fmt: skip


def call(arguments, folder, environment, timeout):
    """Return exit status and output of ``snakemake <arguments>`` in a folder; after ``timeout`` seconds a signal ends it."""
    with tempfile.NamedTemporaryFile() as output:
        command = [str(Path(sys.executable).with_name("snakemake")), *map(str, arguments)]
        asked = {"command": command, "folder": str(folder), "environment": environment, "timeout": timeout}
        status = int(_answer(json.dumps(asked | {"output": output.name})))
        return status, Path(output.name).read_text(encoding="utf-8")


def _answer(line):
    """Return the process's answer to a line; a test may have ended the last process with everything that it had started."""
    if _process().poll() is not None:
        _process.cache_clear()
    process = _process()
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


@cache
def _process():
    # -I: as in the command's own first line. It ends with its input, hence with the tests.
    return subprocess.Popen([sys.executable, "-I", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _answer_calls():
    """Execute the call in each line of the input and print its exit status."""
    from snakemake.cli import get_argument_parser, main

    get_argument_parser()  # loads all plugins and their modules
    for name in LATER:
        importlib.import_module(name)
    gc.freeze()  # imported modules stay shared with the forks
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _carry_out(asked, main)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _carry_out(asked, main):
    """Act as the called command, from changing to its folder to its exit status."""
    output = os.open(asked["output"], os.O_WRONLY)
    for stream, place in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(stream, place)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[:] = asked["command"]
    signal.alarm(asked["timeout"])
    sys.exit(main())


if __name__ == "__main__":
    _answer_calls()
