"""The namespaces of a run under this machine's kernel: those that are made, and the messages if they can't be used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).parents[2] / "workflow"
#: Root, in a user namespace that allows no further one: what an administrator does to a whole machine.
NONE_FURTHER = [
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"',
    "sh",
]


def python(program, *arguments, within=()):
    """Return the output of a program that can import the testbed's modules, and its error message if it fails."""
    command = [*within, sys.executable, "-c", program, *map(str, arguments)]
    environment = {"PYTHONPATH": str(WORKFLOW), "PATH": os.environ["PATH"]}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.fixture(autouse=True)
def user_namespaces():
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True).returncode:
        pytest.skip("this machine refuses user namespaces")


def test_an_ordinary_user_is_root_of_a_namespace_and_root_needs_none_where_there_are_none():
    program = "from testbed.machine.host import namespaces_here; print(*namespaces_here())"
    assert "--user --map-root-user" in python(program).stdout
    without = python(program, within=NONE_FURTHER).stdout.split()
    assert without[0] == "unshare" and "--user" not in without
    # They can be made, too.
    assert subprocess.run([*NONE_FURTHER, *without, "true"], capture_output=True).returncode == 0


def test_a_mount_that_is_refused_is_said_and_not_tried_again(tmp_path):
    """Root of a user namespace, but not of a mount namespace, may not mount anything."""
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-m", "testbed.machine.host_init", str(tmp_path)]
    done = subprocess.run(command, env={"PYTHONPATH": str(WORKFLOW)}, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert json.loads((tmp_path / "failure.json").read_text()) == {
        "step": "namespaces",
        "cause": "[Errno 1] Operation not permitted: '/run'",
        "kind": "PermissionError",
    }
