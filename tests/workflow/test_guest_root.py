"""A run's access to the machine: its guest reads the container's files but can't write them, and there is no network."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from guest_processes import descendants, first_guest, nothing_goes_on
from publishing.result_checks.reruns import module_command, mount

ROOT = Path(__file__).resolve().parents[2]
INIT = """#!/usr/bin/python3
import ctypes
for place in ("{folder}/touched", "{folder}/asked"):
    try:
        print("read", open(place).read().strip(), flush=True)
        open(place, "w").write("by the guest")
        print("written", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
ctypes.CDLL(None).reboot(0x4321FEDC)
"""
#: The guest kernel as a run starts it, with another first process.
START = """
import os
from testbed.machine import uml
from experiment.specification import RunSpecification
kernel, *arguments = uml.command_line(RunSpecification({specification!r}))
arguments = ["init={init}" if word.startswith("init=") else word for word in arguments]
os.execv(kernel, [kernel, *arguments])
"""


def test_a_guest_writes_nothing_outside_of_its_job(specification, tmp_path):
    init, asked = tmp_path / "init", tmp_path / "asked"
    init.write_text(INIT.format(folder=tmp_path))
    init.chmod(0o755)
    asked.write_text("by the machine")
    start = START.format(specification=specification(), init=init)
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("apptainer"), "--silent", "exec", "--userns", "--cleanenv", "--bind", tmp_path),
            *("--env", f"PYTHONPATH={ROOT / 'workflow'}", "--bind", ROOT / "workflow", ROOT / "envs/testbed.sif"),
            *("python3", "-B", "-c", start),
        ],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    printed = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in printed if not line.startswith("reboot")] == [
        "No such file or directory",
        "read by the machine",
        "Read-only file system",
    ], done.stderr
    assert asked.read_text() == "by the machine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked", "init"]


def devices(text):
    """Return the network devices that /proc/<process>/net/dev lists."""
    return [line.split(":")[0].strip() for line in text.splitlines()[2:]]


@pytest.mark.slow
def test_a_run_of_the_workflow_has_no_network_of_the_machine(fresh):
    """This holds for the guest kernel's process and for the program that started it, observed from outside during the run."""
    with nothing_goes_on():
        workflow = fresh.start(
            "--cores", "1", "--", "results/mini/runs/near/reno/ipv4/1.json.gz", study="config/studies/mini.yaml"
        )
        guest = first_guest(workflow).stop()
        here = Path("/proc/self/ns/net").readlink()
        inside = []
        for process, _ in descendants(workflow.pid):
            with contextlib.suppress(FileNotFoundError):  # Snakemake's own helpers come and go
                if Path(f"/proc/{process}/ns/net").readlink() != here:
                    inside.append(process)
        by_process = {
            process: devices(Path(f"/proc/{process}/net/dev").read_text()) for process in {guest.pid, *inside}
        }
        guest.go_on()
        printed, _ = workflow.communicate(timeout=120)
    assert workflow.returncode == 0, printed[-2000:]
    assert set(map(tuple, by_process.values())) == {("lo",)}
    # The program that carries the run out, Python, is in there too.
    assert len(inside) >= 2 and guest.pid in inside


def test_a_verification_has_no_network_of_the_machine(tmp_path):
    (tmp_path / "shown.py").write_text("print(open('/proc/net/dev').read(), end='')")
    command = module_command(
        ROOT / "envs/analysis.sif", [mount(tmp_path)], {"PYTHONPATH": tmp_path, "PATH": "/usr/bin:/bin"}, ["shown"]
    )
    done = subprocess.run(
        [Path(sys.executable).with_name("apptainer"), *command[1:]], capture_output=True, text=True, check=True
    )
    assert devices(done.stdout) == ["lo"]
