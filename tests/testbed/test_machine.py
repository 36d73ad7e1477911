"""What a run holds of the machine: a core, a folder, room for memory; and how errors are told."""

import contextlib
import io
import os
import stat
import threading

import pytest

from testbed import machine
from testbed.handover import result
from testbed.machine import (
    GuestError,
    free_core,
    job_folder,
    locked,
    memory_folder,
    numbers_of,
    online_cores,
    take_core,
    whole_machine,
)
from testbed.messages import in_words, naming, note


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
    with locked(at_work), job_folder() as mine:
        assert sorted(tmp_path.iterdir()) == sorted([at_work, mine])
    assert list(tmp_path.iterdir()) == [at_work]


def test_no_room_for_the_guests_memory_is_said_with_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(GuestError, match=rf"\d+ MiB at least: /dev/shm has \d+ MiB free, {tmp_path} has \d+ MiB free"):
        memory_folder(10**12)


@pytest.mark.parametrize("text", ["", '{"step": "tra', None])
def test_a_guest_that_was_ended_while_it_wrote_is_a_fault_of_the_machine(tmp_path, text):
    if text is not None:
        (tmp_path / "failure.json").write_text(text)
        (tmp_path / "document.json").write_text(text)
    with pytest.raises(machine.MachineFault, match="was ended by SIGKILL"):
        result(tmp_path, -9)


def test_a_full_disk_is_told_with_its_place():
    """/dev/full is full for whoever writes to it (full(4))."""
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
    assert log.getvalue() == b"waiting for all cores: other runs have some\n"
    with contextlib.ExitStack() as late:
        assert take_core(late, tmp_path) is None
        ended.set()
        measured.join()
        assert take_core(late, tmp_path) is not None


def test_the_machines_list_of_cores_is_read():
    assert numbers_of("0-2,8\n") == {0, 1, 2, 8}
    assert online_cores() >= os.sched_getaffinity(0)
