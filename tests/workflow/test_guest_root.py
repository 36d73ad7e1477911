"""What a guest can reach of the machine: it reads its root, the container's, and writes nothing there."""

import subprocess
import sys
from pathlib import Path

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
from testbed import uml
from testbed.specification import RunSpecification
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
    said = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in said if not line.startswith("reboot")] == [
        "No such file or directory",
        "read by the machine",
        "Read-only file system",
    ], done.stderr
    assert asked.read_text() == "by the machine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked", "init"]
