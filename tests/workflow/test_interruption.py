"""Ctrl-C in a running workflow: a terminal's signal to real processes, and their output."""

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fresh_clone import Clone
from session.interruption import command_of_call

MINI = "config/studies/mini.yaml"
#: What Snakemake prints of jobs that were stopped.
OF_FAILURES = ("Failed", "RuleException", "CalledProcessError", "did not complete", "--specification", "Complete Log")


def in_terminal(words, folder, environ, is_time):
    """Run a command in a terminal, press Ctrl-C there once it is time, and return its exit status and output.

    ``is_time`` is given what was printed until then.
    """
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.execvpe(words[0], words, {**environ, "TERM": "xterm", "COLUMNS": "120"})
    parts, pressed = [], False
    while True:  # whoever reads nothing of a terminal stops its programs
        try:
            parts.append(os.read(terminal, 2**16))
        except OSError:
            break
        if not pressed and is_time(b"".join(parts).decode(errors="replace")):
            os.write(terminal, b"\x03")
            pressed = True
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(parts).decode(errors="replace"))


def a_moment_after(pattern, wait_s=0.3):
    """Return an `is_time` that is true once a text has been there for a while."""
    seen_s = []

    def is_time(text):
        if re.search(pattern, text) and not seen_s:
            seen_s.append(time.monotonic())
        return bool(seen_s) and time.monotonic() >= seen_s[0] + wait_s

    return is_time


def test_one_line_says_what_is_kept_and_what_goes_on(fresh):
    snakemake = str(Path(sys.executable).with_name("snakemake"))
    words = [snakemake, "--use-apptainer", "--cores", "1", "--configfile", MINI]
    # Runs of the cache end too fast to be interrupted. Once the bar says so Snakemake has noted the first run's end; a Python
    # that is only just starting in the next one's container would say that it was interrupted.
    environ = {name: value for name, value in os.environ.items() if name != "SAWTOOTH_CALL"}  # that of `make test`
    environ["SAWTOOTH_RUN_CACHE"] = "0"
    status, printed = in_terminal(words, fresh.folder, environ, a_moment_after(r"\D1/8"))
    assert status != 0
    assert [words for words in OF_FAILURES if words in printed] == [], printed[-2500:]
    assert "sawtooth: interrupted" in printed, printed[-3000:]
    (sentence,) = re.findall(
        r"sawtooth: interrupted; (\d+) of 8 runs of mini are kept, continue with: (snakemake .+?)\r", printed
    )
    assert 1 <= int(sentence[0]) <= len(fresh.finished_runs(study="mini")) < 8
    planned = fresh.planned(*shlex.split(sentence[1])[1:])
    assert planned["emulate_run"] == 8 - int(sentence[0])
    assert re.search(r"Total Progress .* 1/\d+ ", printed)  # bars have a count


@pytest.mark.long
def test_a_study_that_make_was_interrupted_in_goes_on_by_the_command_that_is_named(root, tmp_path):
    clone = Clone(root, tmp_path, own_runs=True)
    documents = clone.folder / "results/smoke/runs"
    words = ["make", "STUDY=smoke"]
    status, printed = in_terminal(words, clone.folder, clone.environ, lambda _: any(documents.rglob("*.json.gz")))
    assert status != 0
    assert [words for words in OF_FAILURES if words in printed] == []
    ((kept, command),) = re.findall(
        r"sawtooth: interrupted; (\d+) of 16 runs of smoke are kept, continue with: (make .+?)\r", printed
    )
    assert int(kept) == len([*documents.rglob("*.json.gz")]) < 16
    status, printed = clone.run(command)
    assert status == 0, printed
    # A run that ended just then is in the run cache, and may have lost its document.
    executed, taken = re.search(r"sawtooth: (\d+) runs of smoke were executed here, (\d+) taken", printed).groups()
    assert int(executed) + int(taken) == 16 and int(taken) <= os.cpu_count()
    assert printed.endswith("report: results/smoke/report.html\n")


@pytest.mark.parametrize(
    "words",
    [
        ["STUDY=smoke", "ARGS=--config replications=1"],
        ["ARGS=--config 'ccas=[reno, vegas]' \"title=A & B\"", "STUDY=smoke", "PLATFORM=uml"],
        ["exam", "CCA=my dir/tcp_mine.c", "MORE=5", "QUICK=1"],
    ],
)
def test_make_names_its_own_command(root, words):
    """Pasted into a shell, the command has the same words."""
    done = subprocess.run(
        ["make", "--dry-run", "--old-file", "setup", *words], cwd=root, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    lines += [shlex.split(line)[-1] for line in lines if " setup --check " in line]  # a command in a command
    commands = [line for line in lines if "SAWTOOTH_CALL=" in line and " setup --check " not in line]
    settings = [line[line.index("SAWTOOTH_CALL=") :].partition(" PATH=")[0] for line in commands]
    (call,) = {shlex.split(setting)[0].partition("=")[2] for setting in settings}
    pasted = shlex.split(command_of_call([], {"SAWTOOTH_CALL": call}))
    assert pasted[0] == "make" and {word for word in words if "=" in word} <= {*pasted}


def test_a_dry_run_names_scenarios_and_ccas(fresh):
    printed = fresh.snakemake("--cores", "1", "-n", "--configfile", "config/studies/smoke.yaml")[1]
    assert re.search(
        r"sawtooth: 16 runs would be carried out, in about \d+ core-seconds? \(less where the run cache has them\):\n",
        printed,
    )
    assert "  10mbit-20ms-0pct-1flow: 8 runs, of reno, vegas\n" in printed


def test_a_dry_run_names_what_a_change_makes_stale(one_missing):
    printed = one_missing.snakemake("--cores", "1", "-n", "--configfile", MINI)[1]
    assert re.search(
        r"sawtooth: 1 run would be carried out, in about \d+ core-seconds? \(.*\):\n  near: 1 run, of reno\n", printed
    )


def test_a_dry_run_of_a_finished_study_names_none(mini):
    assert "would be carried out" not in mini.snakemake("--cores", "1", "-n", "--configfile", MINI)[1]
