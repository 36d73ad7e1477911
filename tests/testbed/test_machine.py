"""What a run takes of the machine: a core, a folder, memory; and how errors are reported."""

import contextlib
import io
import os
import shlex
import signal
import stat
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from testbed.machine import machine
from testbed.machine.handover import result
from testbed.machine.machine import (
    GuestError,
    free_core,
    job_folder,
    locked,
    may_have_huge_pages,
    memory_folder,
    mount_huge_pages,
    numbers_of,
    online_cores,
    take_core,
    whole_machine,
)
from testbed.machine.messages import in_words, naming, note, tell

#: A specification as far as what a run leaves is compared with it.
RUN = SimpleNamespace(document={"cca": "cubic"})


def test_two_runs_never_get_one_core(tmp_path):
    cores = os.sched_getaffinity(0)
    with contextlib.ExitStack() as runs:
        taken = [take_core(runs, tmp_path) for _ in cores]
        assert set(taken) == cores
        assert take_core(runs, tmp_path) is None
    with free_core(io.BytesIO(), folder=tmp_path) as core:
        assert core == min(cores)


def test_the_locks_of_cores_are_for_every_user_whatever_the_first_ones_mask(tmp_path):
    before = os.umask(0o077)
    try:
        with free_core(io.BytesIO(), folder=tmp_path):
            (lock,) = tmp_path.iterdir()
            assert stat.S_IMODE(lock.stat().st_mode) == 0o444
    finally:
        assert os.umask(before) == 0o077


def test_job_folders_that_killed_runs_left_are_deleted_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))
    left, at_work = tmp_path / "sawtooth-run-left", tmp_path / "sawtooth-run-at-work"
    for folder in (left, at_work):
        (folder / "testbed").mkdir(parents=True)
    with locked(at_work), job_folder() as own:
        assert sorted(tmp_path.iterdir()) == sorted([at_work, own])
    assert list(tmp_path.iterdir()) == [at_work]


def test_no_room_for_the_guests_memory_is_said_with_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(GuestError, match=rf"at least \d+ MiB: /dev/shm has \d+ MiB free, {tmp_path} has \d+ MiB free"):
        memory_folder(10**12)


def test_a_program_has_huge_pages_of_its_own_and_stays_who_it_is(tmp_path):
    if not may_have_huge_pages("/dev/shm"):
        pytest.skip("no huge pages of shared memory, or no user namespaces, on this machine")
    script = (
        f"id -u; id -g; touch /dev/shm/mine {tmp_path}/of-all; ls /dev/shm; grep ' /dev/shm ' /proc/mounts | tail -n 1"
    )
    done = subprocess.run(["sh", "-c", script], preexec_fn=mount_huge_pages, capture_output=True, text=True, check=True)
    user, group, *files, mount = done.stdout.splitlines()
    assert (user, group, files) == (str(os.geteuid()), str(os.getegid()), ["mine"])
    assert "huge=within_size" in mount
    assert (tmp_path / "of-all").stat().st_uid == os.geteuid()
    assert not os.path.exists("/dev/shm/mine")


def test_where_user_namespaces_are_forbidden_there_are_no_huge_pages_and_nothing_is_said(root):
    """The limit applies in the namespace that sets it (namespaces(7)), so nobody else's changes."""
    look = "from testbed.machine.machine import may_have_huge_pages; print(may_have_huge_pages('/dev/shm'))"
    script = f"echo 0 >/proc/sys/user/max_user_namespaces && exec {sys.executable} -c {shlex.quote(look)}"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script]
    done = subprocess.run(command, env={"PYTHONPATH": str(root / "workflow")}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_a_guest_on_disk_gets_no_shared_memory(tmp_path):
    assert not may_have_huge_pages(str(tmp_path))


@pytest.mark.parametrize("text", ["", '{"step": "tra', None])
def test_a_guest_that_was_ended_while_it_wrote_is_a_fault_of_the_machine(tmp_path, text):
    if text is not None:
        (tmp_path / "failure.json").write_text(text)
        (tmp_path / "document.json").write_text(text)
    with pytest.raises(machine.MachineFault, match="was ended by SIGKILL"):
        result(RUN, tmp_path, -9)


WRONG = '{"specification": {"cca": "reno"}, "verdict": {"valid": true, "checks": []}}'


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.symlink_to("/dev/zero"), "left no document"),
        (os.mkfifo, "left no document"),
        (lambda path: path.write_text("[" * 10**6), "left no document"),
        (lambda path: path.write_text('{"a": NaN}'), "left no document"),
        (lambda path: path.write_text("{}"), "left something that is not a document of this run"),
        (lambda path: path.write_text(WRONG), "left something that is not a document of this run"),
        (lambda path: path.write_text('{"verdict": {"checks": [1]}}'), "left something that is not a document of this run"),
        (lambda path: (path.touch(), os.truncate(path, 2**40)), "left no document"),
    ],
    ids=("device", "pipe", "deep", "number", "empty", "another run", "checks", "large"),
)  # fmt: skip
def test_what_a_kernel_of_somebody_leaves_is_a_document_of_its_run_or_refused(tmp_path, make, sentence):
    make(tmp_path / "document.json")
    with pytest.raises(GuestError, match=sentence):
        result(RUN, tmp_path, 0)


@pytest.mark.parametrize("text", ["[]", "3", '{"step": 1, "kind": [], "cause": null}', '{"step": "x"}'])
def test_a_failure_of_another_form_is_none(tmp_path, text):
    (tmp_path / "failure.json").write_text(text)
    with pytest.raises(GuestError, match="left no document"):
        result(RUN, tmp_path, 0)


def test_a_kernel_that_says_why_it_ended_needs_no_guess(tmp_path):
    for says_why, guess in ((False, " (out of memory?)"), (True, "")):
        with pytest.raises(GuestError) as caught:
            result(RUN, tmp_path, -signal.SIGABRT, says_why=says_why)
        assert caught.value.cause == f"the guest kernel was ended by SIGABRT{guess} and left no document (see the log)"


def test_a_terminal_obeys_nothing_of_a_message(capsys, tmp_path):
    with (tmp_path / "log").open("wb", buffering=0) as log:
        note(log, "a\x1b[2Jb\x9bc\ud800")
    assert (tmp_path / "log").read_bytes() == b"a\\x1b[2Jb\\x9bc\\ud800\n"
    tell("a\x1b]0;x\x07b")
    assert capsys.readouterr().err == "sawtooth: a\\x1b]0;x\\x07b\n"


def test_a_full_disk_is_told_with_its_place():
    """Every write to /dev/full finds it full (full(4))."""
    document = "results/mini/runs/1.json.gz"
    with pytest.raises(OSError) as caught, naming(document), open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")
    assert in_words(caught.value) == f"{document}: no space left on device"


def test_a_log_that_cannot_be_written_is_told_and_ends_nothing(capsys):
    with open("/dev/full", "wb", buffering=0) as log:
        note(log, "valid")
    assert capsys.readouterr().err == "sawtooth: /dev/full: no space left on device\n"


def test_a_run_that_needs_all_cores_waits_for_those_that_have_one_and_they_for_it(tmp_path):
    cores = os.sched_getaffinity(0)
    log, began = io.BytesIO(), threading.Event()

    def measure():
        with whole_machine(log, folder=tmp_path) as usable:
            assert set(usable) == cores
            began.set()
            ended.wait(10)

    with contextlib.ExitStack() as emulated:
        taken, ended = take_core(emulated, tmp_path), threading.Event()
        measured = threading.Thread(target=measure)
        measured.start()
        assert not began.wait(0.3)
    assert taken is not None
    assert began.wait(10)
    assert log.getvalue() == b"waiting for all cores: other runs use some of them\n"
    with contextlib.ExitStack() as late:
        assert take_core(late, tmp_path) is None
        ended.set()
        measured.join()
        assert take_core(late, tmp_path) is not None


def test_the_machines_list_of_cores_is_read():
    assert numbers_of("0-2,8\n") == {0, 1, 2, 8}
    assert online_cores() >= os.sched_getaffinity(0)
