"""The kernel's own tests in the guest: they pass, with the same bytes under load, and a failure, hang or crash is the result of one
test."""

import difflib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from kernel_tests.results import entry_of
from kernel_tests.run_selftests import outcomes_of, plan_of
from own_commands import own_command
from publishing.result_checks import reruns
from selftests.verdicts import FAILED, NOT_FIT, PASSED

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))

import images  # noqa: E402
import kernel_scripts  # noqa: E402
import kernels  # noqa: E402
from kernel_scripts import SCRIPTS  # noqa: E402
from progress import SetupError  # noqa: E402

#: Of packetdrill, which no registry has, an archive may lie beside the checkout.
ARCHIVE = next(iter((ROOT.parent / "shared/prototype/packetdrill").glob("packetdrill-*.tar.xz")), None)
pytestmark = pytest.mark.skipif(
    ARCHIVE is None, reason="no archive of packetdrill in ../shared/prototype/packetdrill; no registry has it"
)
IPV4 = (
    "--ip_version=ipv4 --local_ip=192.168.0.1 --gateway_ip=192.168.0.1 --netmask_ip=255.255.0.0 --remote_ip=192.0.2.1"
)
#: A connection's beginning, as in tcp_basic_server.pkt.
ACCEPTED = """`./defaults.sh`
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 1) = 0
  +0 < S 0:0(0) win 32792 <mss 1000,nop,wscale 7>
  +0 > S. 0:0(0) ack 1 <mss 1460,nop,wscale 8>
+.01 < . 1:1(0) ack 1 win 257
  +0 accept(3, ..., ...) = 4
"""
#: A command that ends the guest.
POWER_OFF = 'python3 -c "import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)"'


def first(command):
    """Return `ACCEPTED` with one more command before it."""
    return ACCEPTED.replace("`", f"`{command}\n", 1)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A folder with packetdrill and the scripts of the image's kernel, as set-up makes it."""
    folder = tmp_path_factory.mktemp("parts")
    command = [sys.executable, ROOT / "setup", "selftests", folder, ARCHIVE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def carried_out(parts, tmp_path):
    """A function that executes a test's own scripts over IPv4, name -> text; it returns their results by name."""

    def carry_out(scripts):
        (tmp_path / "programs").symlink_to(parts / "programs")
        (tmp_path / "scripts").mkdir()
        for file in (file for file in (parts / "scripts").iterdir() if file.suffix != ".pkt"):
            os.link(file, tmp_path / "scripts" / file.name)
        for name, text in scripts.items():
            (tmp_path / "scripts" / name).write_text(text)
        commands = [[name, *IPV4.split()] for name in scripts]
        plan = plan_of(tmp_path, commands) | {"workers": 1}
        plan["plan"]["programs"] = str(parts / "programs")
        outcomes = outcomes_of(plan, tmp_path, [parts])
        made = [entry_of(*one, scripts[one[0][0]], set()) for one in zip(commands, outcomes, strict=True)]
        return {entry["script"]: entry for entry in made}

    return carry_out


def test_results_of_planted_scripts(carried_out):
    found = carried_out(
        {
            "right.pkt": ACCEPTED + "+.01 write(4, ..., 1000) = 1000\n  +0 > P. 1:1001(1000) ack 1\n",
            "wrong.pkt": ACCEPTED + "+.01 write(4, ..., 1000) = 1000\n  +0 > P. 1:1001(1000) ack 2\n",
            "late.pkt": ACCEPTED + "+.01 write(4, ..., 1000) = 1000\n+.3 > P. 1:1001(1000) ack 1\n",
            "unread.pkt": ACCEPTED + "+.01 wrote(4 = \n",
            "waits.pkt": first("sleep 1000"),
            "lacks.pkt": first("no-such-program -K tun0 || exit 1"),
            "ends.pkt": f"{ACCEPTED}+0 `{POWER_OFF}`\n",
            "after.pkt": ACCEPTED,
        }
    )
    assert {name: entry["result"] for name, entry in found.items()} == {
        **{f"{name}.pkt": FAILED for name in ("wrong", "late", "unread", "waits", "ends")},
        "lacks.pkt": NOT_FIT,
        "right.pkt": PASSED,
        "after.pkt": PASSED,
    }
    assert found["wrong.pkt"]["reason"].startswith(
        "wrong.pkt:11: error handling packet: live packet field tcp_ack_seq: expected: 2"
    )
    assert any("outbound sniffed packet" in line for line in found["wrong.pkt"]["last_lines"])
    assert "timing error" in found["late.pkt"]["reason"]
    assert "syntax error" in found["unread.pkt"]["reason"]
    assert found["waits.pkt"]["reason"] == "the test did not end within 120 s of the guest's time"
    assert int(found["waits.pkt"]["seconds"]) == 120
    assert "no-such-program" in found["lacks.pkt"]["reason"]
    assert found["ends.pkt"]["reason"].startswith("the guest ended without an outcome")


def selftests(folder, *arguments, **options):
    command = own_command(ROOT, "kernel_tests.run_selftests", ARCHIVE, *arguments)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, **options)


def document_in(folder):
    (file,) = folder.glob("results/selftests/*/selftests.json")
    return file.read_bytes()


@pytest.mark.slow
def test_some_of_the_kernel_s_scripts_pass(parts, tmp_path):
    done = selftests(tmp_path, "--only", "tcp_nagle_*")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(document_in(tmp_path))
    assert document["counts"] == {"passed": 9, "failed": 0, "not fit": 0}
    assert {entry["ip_version"] for entry in document["tests"]} == {"ipv4", "ipv6", "ipv4-mapped-ipv6"}
    assert "3 scripts, 9 tests" in done.stdout
    unknown = selftests(tmp_path, "--only", "udp_*")
    assert unknown.returncode == 1 and unknown.stderr.startswith("sawtooth: ONLY=udp_* matches none of ")


@pytest.mark.parametrize(
    "given, sentence",
    [
        ("PACKETDRILL=", "google/packetdrill"),
        ("PACKETDRILL=/nowhere.tar.xz", "there is no such file or folder"),
        (f"PACKETDRILL={ROOT}/docs", "has no source of packetdrill"),
    ],
)
def test_what_is_wrong_is_one_sentence(given, sentence):
    done = subprocess.run(["make", "--no-print-directory", "selftests", given], cwd=ROOT, capture_output=True, text=True, timeout=300)  # fmt: skip
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("sawtooth: ")]
    assert done.returncode and sentence in said


def test_an_interrupted_call_ends_at_once_and_leaves_nothing(parts, tmp_path):
    command = own_command(ROOT, "kernel_tests.run_selftests", ARCHIVE)
    # A shell's background job ignores the signal, and so would what it starts.
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, **pipes, text=True, preexec_fn=heeds) as process:
        for line in process.stdout:
            if " tests of " in line:
                break
        time.sleep(3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert time.monotonic() - began < reruns.END_S
    assert (process.returncode, said) == (1, "sawtooth: interrupted; there are no results.\n")
    assert list(tmp_path.iterdir()) == []


def test_scripts_of_a_tree_with_a_patch(parts, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    tree, place = tmp_path / "tree", tmp_path / "place"
    place.mkdir()
    compiler = kernels.provide_compiler()
    shutil.copytree(kernel_scripts.unpacked_scripts("linux", compiler), tree)
    for file in (tree / SCRIPTS).glob("tcp_[b-z]*.pkt"):
        file.unlink()
    (tree / SCRIPTS / "tcp_link.pkt").symlink_to("/etc/passwd")
    text = patch_of({f"{SCRIPTS}/tcp_new.pkt": ("", f"--ip_version=ipv6\n{ACCEPTED}")})
    (tmp_path / "new.patch").write_text(text)
    patch = {"path": str(tmp_path / "new.patch"), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    kernel = {"tree": str(tree), "version": "7.2.13", "patches": [patch]}
    commands = kernel_scripts.provide_scripts(kernel, compiler, place / "scripts")
    assert [command[1] for command in commands if command[0] == "tcp_new.pkt"] == ["--ip_version=ipv6"]
    assert {command[0] for command in commands} == {file.name for file in (place / "scripts").glob("*.pkt")}
    assert "tcp_link.pkt" not in {command[0] for command in commands}
    assert len(commands) > 100
    (tree / SCRIPTS / "ksft_runner.sh").unlink()
    with pytest.raises(SetupError, match=r"Linux 7.2.13 has no packetdrill scripts .* since 6.12"):
        kernel_scripts.provide_scripts(kernel | {"patches": []}, compiler, place / "none")


@pytest.mark.long
def test_a_program_that_spins_is_ended(carried_out):
    found = carried_out({"spins.pkt": first("while :; do :; done")})
    assert found["spins.pkt"]["reason"].startswith("used up 30 s of CPU time")


@pytest.mark.long
def test_all_scripts_pass_in_the_same_bytes_under_load(tmp_path):
    documents = []
    for name, burners in (("quiet", 0), ("busy", 2 * os.cpu_count())):
        (tmp_path / name).mkdir()
        burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(burners)]
        try:
            done = selftests(tmp_path / name)
        finally:
            for process in burning:
                process.kill()
                process.wait()
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
        documents.append(document_in(tmp_path / name))
    assert documents[0] == documents[1]
    assert json.loads(documents[0])["counts"]["passed"] > 450


#: What is planted in CUBIC: its kernel crashes, or warns, as a script wants.
PLANTED = "\tBUG_ON(hystart == 7);\n\tWARN_ON(hystart == 8);\n"


def patch_of(changes):
    """Return a patch, path -> text before and after; the text before is "" for a new file."""
    return "".join(
        line
        for path, (before, after) in changes.items()
        for line in difflib.unified_diff(
            before.splitlines(True), after.splitlines(True), f"a/{path}" if before else "/dev/null", f"b/{path}"
        )
    )


@pytest.mark.long
def test_a_patch_that_crashes_warns_and_changes_scripts(tmp_path, monkeypatch):
    cubic = "net/ipv4/tcp_cubic.c"
    monkeypatch.chdir(ROOT)
    before = (images.cached_image(images.KERNEL)[1] / "root/build/source" / cubic).read_text()
    start = before.index("static void cubictcp_init")
    place = before.index("\tbictcp_reset(ca);", start)
    set_to = "echo {} >/sys/module/tcp_cubic/parameters/hystart"
    scripts = {
        "crash": first(set_to.format(7)),
        "warning": first(set_to.format(8)),
        "wrong": ACCEPTED + "+.01 write(4, ..., 1000) = 999\n",
        "right": ACCEPTED,
    }
    changes = {cubic: (before, before[:place] + PLANTED + before[place:])}
    changes |= {f"{SCRIPTS}/tcp_planted_{name}.pkt": ("", text) for name, text in scripts.items()}
    (tmp_path / "planted.patch").write_text(patch_of(changes))
    done = selftests(tmp_path, "--kernel", "planted.patch", "--only", "tcp_planted_*")
    assert done.returncode == 1, done.stdout + done.stderr
    document = json.loads(document_in(tmp_path))
    found = {(entry["script"][12:-4], entry["ip_version"]): entry for entry in document["tests"]}
    assert {key: entry["result"] for key, entry in found.items() if entry["result"] == PASSED} == {
        ("right", version): PASSED for version in ("ipv4", "ipv6", "ipv4-mapped-ipv6")
    }
    assert len(found) == 12
    for version in ("ipv4", "ipv6", "ipv4-mapped-ipv6"):
        assert "the guest kernel crashed" in found["crash", version]["reason"]
        assert "cubictcp_init" in found["crash", version]["reason"]
        assert found["warning", version]["reason"].startswith("the kernel warns: WARNING: ")
        assert "tcp_planted_wrong.pkt:10" in found["wrong", version]["reason"]
    assert list((tmp_path / "results/selftests").iterdir())[0].name.endswith("-planted")
