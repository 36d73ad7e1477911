"""The detected features of a machine's kernel and its refusals: really tested, in namespaces that refuse some of them."""

import errno
import json
import shlex
import subprocess

import pytest

from session import kernel_features
from session.host_needs import PARTS, PROBE, PROBE_ENVIRONMENT, REFUSALS, kernel_now

#: Root of a separate user namespace, which may narrow down what its processes find.
AS_ROOT = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
#: The probe as a command of the shell.
ASK = shlex.join(["env", *(f"{name}={value}" for name, value in PROBE_ENVIRONMENT.items()), *PROBE])
NO_USER_NAMESPACES = "echo 0 > /proc/sys/user/max_user_namespaces"
#: Exit status of the shell where it may not.
MAY_NOT = 77


@pytest.fixture(scope="module")
def kernel():
    """The features of this machine's kernel."""
    features = kernel_now()
    if features["refused"]:
        pytest.skip(f"this machine refuses: {features['refused']}")
    return features


def kernel_after(command):
    """Return the features detected by root of a user namespace that has executed a shell command."""
    return json.loads(output_of_root(f"{{ {command}; }} || exit {MAY_NOT}; exec {ASK}"))


def output_of_root(script):
    """Return the output of a shell script executed by root of a user namespace."""
    done = subprocess.run([*AS_ROOT, script], capture_output=True, text=True)
    if done.returncode == MAY_NOT or done.stderr.startswith("unshare:"):
        pytest.skip(f"this machine does not let a test narrow it down: {done.stderr}")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_this_machines_kernel_is_asked_for_real(kernel):
    """On any kernel: Reno and the fifos are always built in (net/sched/Kconfig, net/ipv4/Kconfig)."""
    assert "reno" in kernel["ccas"]
    assert kernel["parts"].keys() == PARTS.keys()
    assert kernel["parts"]["pfifo"] is True
    # Without the one there is not the other.
    for kind in ("gretap", "ip6gretap"):
        assert kernel["parts"][f"fou for {kind}"] <= (kernel["parts"][kind] and kernel["parts"]["fou"])


def test_a_family_of_generic_netlink_is_asked_for_by_name():
    """`nlctrl` is the family that lists the others, so every kernel with generic netlink has it."""
    assert kernel_features.family("nlctrl") == 0
    assert kernel_features.family("no-such-thing") == errno.ENOENT


def test_a_refused_mount_is_said_with_its_place(kernel):
    """As in a container that hides a part of /proc: namespaces can be made, but then the run can't mount its own."""
    refusal = {"refuses": "mounts", "refused": "/proc: Operation not permitted", "parts": {}}
    assert kernel_after("mount -t tmpfs none /proc/fs") == kernel | refusal


def test_root_does_without_a_user_namespace(kernel):
    assert kernel["user_namespaces"]
    assert kernel_after(NO_USER_NAMESPACES) == kernel | {"user_namespaces": False}


def test_the_mounts_that_root_tries_are_not_the_machines(kernel):
    """This also holds where mounts propagate from one mount namespace to its parent."""
    shared = f"{{ mount --make-rshared / && {NO_USER_NAMESPACES}; }} || exit {MAY_NOT}"
    script = f"{shared}; cat /proc/self/mounts; {ASK}; echo; cat /proc/self/mounts"
    lines = output_of_root(script).splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("{"))
    assert json.loads(lines[at])["refuses"] is None
    assert lines[:at] == lines[at + 1 :]


def test_where_neither_is_allowed_namespaces_are_refused(kernel):
    limits = " && ".join(f"echo 0 > /proc/sys/user/max_{kind}_namespaces" for kind in ("user", "net"))
    refused = "No space left on device"  # so unshare(2) says that there may be no more
    refusal = {"refuses": "namespaces", "refused": refused, "user_namespaces": False, "parts": {}}
    assert kernel_after(limits) == kernel | refusal


def test_a_kernel_that_does_not_answer_refuses_nothing(monkeypatch, capsys):
    def no_answer():
        raise TimeoutError("timed out")

    monkeypatch.setattr(kernel_features, "enter_namespaces", lambda: True)
    monkeypatch.setattr(kernel_features, "mount_refusal", lambda: "")
    monkeypatch.setattr(kernel_features, "ATTEMPTS", {"htb": lambda: 0, "netem": no_answer})
    kernel_features.main()
    silent = json.loads(capsys.readouterr().out)
    assert (silent["refuses"], silent["refused"]) == ("answer", "no answer within 10 s when asked for netem")
    assert silent["refuses"] in REFUSALS
