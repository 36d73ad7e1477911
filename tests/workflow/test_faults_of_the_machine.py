"""Effects of the machine on runs: processes that are killed or hang, no memory. Each with the real workflow."""

import os
import signal
import time
from pathlib import Path

import pytest

from guest_processes import alive, descendants, first_guest, nothing_goes_on, to_every_guest, wait_for
from run_tables.run_documents import read_document, run_of
from study_files.study_runs import run_specification

pytestmark = [pytest.mark.long, pytest.mark.faults]

MINI = "config/studies/mini.yaml"
RUN = ("near", "reno", "ipv4", 1)
NAME = "near/reno/ipv4/1"
DOCUMENT = f"results/mini/runs/{NAME}.json.gz"
KILLED = "step 'guest': the guest kernel was ended by SIGKILL (out of memory?) and left no document (see the log)"
SEVERAL = ("--set-resources", "emulate_run:runs=4", "--keep-incomplete")
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")


@pytest.fixture(autouse=True)
def ended():
    with nothing_goes_on():
        yield


def finish(workflow):
    """Wait for the end of a workflow; return its exit status and output."""
    printed, _ = workflow.communicate(timeout=120)
    return workflow.returncode, printed


def log_lines(checkout, run=NAME):
    return (checkout.folder / f"results/mini/logs/runs/{run}.log").read_text().splitlines()


def nothing_left(guest_list, processes):
    wait_for(lambda: not alive(processes), "the end of the run's processes", limit_s=20)
    assert not [guest.folder for guest in guest_list if guest.folder.exists()]


def test_a_killed_guest_is_tried_again_and_the_log_says_so(one_missing, mini):
    workflow = one_missing.start("--cores", "1", "--", DOCUMENT, study=MINI)
    guest = first_guest(workflow)
    guest.kill()
    status, printed = finish(workflow)
    assert status == 0, printed[-2000:]
    assert f"sawtooth: run {NAME}: succeeded on the second try; first try: {KILLED}" in printed
    last = log_lines(one_missing)[-1]
    assert last.startswith(f"run {NAME}: valid; 1 s of traffic in ")
    assert last.endswith(f"; on the second try; first try: {KILLED}")
    assert not guest.folder.exists()
    one_missing.same_results_as(mini)


def test_a_killed_iperf3_inside_the_guest(fresh):
    """The run is tried a second time; its bytes are those of an undisturbed run."""
    study = fresh.folder / MINI
    study.write_text(study.read_text().replace("duration_s: 1}", "duration_s: 120}"))
    workflow = fresh.start("--cores", "1", "--", DOCUMENT, study=MINI)
    guest = first_guest(workflow)
    os.kill(guest.stopped_in_traffic(), signal.SIGKILL)
    guest.go_on()
    status, printed = finish(workflow)
    assert status == 0, printed[-2000:]
    sentence = "succeeded on the second try; first try: step 'traffic': KilledError: iperf3 was ended by SIG"
    assert f"sawtooth: run {NAME}: {sentence}" in printed
    disturbed = (fresh.folder / DOCUMENT).read_bytes()
    (fresh.folder / DOCUMENT).unlink()
    fresh.snakemake("--cores", "1", "--configfile", MINI, "--", DOCUMENT)
    assert (fresh.folder / DOCUMENT).read_bytes() == disturbed
    assert "second try" not in log_lines(fresh)[-1]


def test_a_hung_guest_is_ended_with_all_its_processes(one_missing, mini, mounts):
    """Both tries reach the wall limit; nothing of the guest remains, and the next call executes the run."""
    mounts.run("mount", "-t", "tmpfs", "-o", "size=1g", "none", "/dev/shm")
    one_missing.within = mounts.within(one_missing.folder)
    limit = ("--set-resources", "emulate_run:wall_limit_s=2")
    workflow = one_missing.start("--cores", "1", *limit, "--", DOCUMENT, study=MINI)
    processes = []
    stopped = to_every_guest(workflow, lambda guest: processes.extend(descendants(guest.stop().pid)))
    status, printed = finish(workflow)
    assert status != 0
    cause = "step 'guest': did not end within its time limit of 2 s"
    assert f"sawtooth: run {NAME}: {cause}" in printed
    assert log_lines(one_missing)[-1] == f"run {NAME}: {cause}; on the second try; first try: {cause}"
    assert len(stopped) == 2
    nothing_left(stopped, processes)
    memory = os.statvfs(mounts.seen("/dev/shm"))
    assert (memory.f_bfree, os.listdir(mounts.seen("/dev/shm"))) == (memory.f_blocks, [])
    assert not (one_missing.folder / DOCUMENT).exists()
    one_missing.snakemake("--cores", "1", "--configfile", MINI, "--", DOCUMENT)
    one_missing.same_results_as(mini)


def test_a_machine_that_sleeps_for_longer_than_a_run_may_take(one_missing, mini):
    """All its processes sleep; then the run gets its second try."""
    limit = ("--set-resources", "emulate_run:wall_limit_s=8")
    workflow = one_missing.start("--cores", "1", *limit, "--", DOCUMENT, study=MINI)
    guest = first_guest(workflow).stop()
    processes = [workflow.pid, *(process for process, _ in descendants(workflow.pid))]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    time.sleep(9)
    for process in reversed(processes):
        os.kill(process, signal.SIGCONT)
    status, printed = finish(workflow)
    assert status == 0, printed[-2000:]
    cause = "step 'guest': did not end within its time limit of 8 s"
    assert f"sawtooth: run {NAME}: succeeded on the second try; first try: {cause}" in printed
    assert not guest.folder.exists()
    one_missing.same_results_as(mini)


def test_a_job_of_several_runs_keeps_those_that_were_finished(fresh, mini):
    """One run of four fails for good, another's document is damaged: the next call executes only these."""
    of_near = ["cubic/ipv4/1", "cubic/ipv4/2", "reno/ipv4/1", "reno/ipv4/2"]
    call = ("--cores", "1", *SEVERAL, "--", *(f"results/mini/runs/near/{run}.json.gz" for run in of_near))
    workflow = fresh.start(*call, study=MINI)
    killed = to_every_guest(workflow, lambda guest: guest.kill(), of=lambda guest: guest.run == ("cubic", "ipv4", 1))
    status, printed = finish(workflow)
    assert status != 0
    assert f"sawtooth: run near/cubic/ipv4/1: {KILLED}" in printed
    assert log_lines(fresh, "near/cubic/ipv4/1")[-1].endswith(f"{KILLED}; on the second try; first try: {KILLED}")
    assert len(killed) == 2
    folder = fresh.folder / "results/mini/runs/near"
    finished = sorted(folder.rglob("*.json.gz"))
    assert finished == [folder / f"{run}.json.gz" for run in of_near[1:]]
    damaged, *kept = finished
    damaged.write_bytes(damaged.read_bytes()[:-20])
    # And this job was ended in the middle of that run, as when a node is lost.
    log = fresh.folder / "results/mini/logs/runs/near/cubic/ipv4/2.log"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    written = [path.stat() for path in kept]
    fresh.snakemake("--configfile", MINI, *call)
    assert [path.stat().st_ino for path in kept] == [before.st_ino for before in written]
    logged = (fresh.folder / "results/mini/logs/jobs/1.log").read_text().splitlines()
    assert sorted(logged[-4:]) == [
        "run near/cubic/ipv4/1: done",
        "run near/cubic/ipv4/2: done; on the second try; first try: the job was ended",
        "run near/reno/ipv4/1: already done", "run near/reno/ipv4/2: already done",
    ]  # fmt: skip
    for path in sorted(folder.rglob("*.json.gz")):
        assert path.read_bytes() == (mini.folder / path.relative_to(fresh.folder)).read_bytes()


def test_a_job_of_several_runs_that_fails_after_the_study_was_changed(fresh, monkeypatch):
    """Finished runs are kept, no result of the earlier study returns as if it were new, and the next call does the rest.

    Snakemake itself would put back what was there before the job, and enter it as made of what was asked now.
    """
    study, of_near = fresh.folder / MINI, ["cubic/ipv4/1", "cubic/ipv4/2", "reno/ipv4/1", "reno/ipv4/2"]
    documents = [f"results/mini/runs/near/{run}.json.gz" for run in of_near]
    call = ("--configfile", MINI, "--cores", "1", *SEVERAL, "--", *documents)
    fresh.snakemake(*call)
    study.write_text(study.read_text().replace("duration_s: 1}", "duration_s: 2}"))
    monkeypatch.setenv("APPTAINER_BIND", "/nowhere/that/is")
    status, _ = fresh.snakemake(*call, check=False)  # its container isn't even started
    assert status != 0
    monkeypatch.delenv("APPTAINER_BIND")
    workflow = fresh.start(*call[2:], study=MINI)
    killed = to_every_guest(workflow, lambda guest: guest.kill(), of=lambda guest: guest.run == ("reno", "ipv4", 1))
    status, printed = finish(workflow)
    assert status != 0 and len(killed) == 2
    assert "Restored previous version" not in printed
    assert [path for path in documents if (fresh.folder / path).exists()] == [documents[0], documents[1], documents[3]]
    finished = [(fresh.folder / documents[number]).stat().st_ino for number in (0, 1, 3)]
    fresh.snakemake(*call)
    assert [(fresh.folder / documents[number]).stat().st_ino for number in (0, 1, 3)] == finished
    wanted = fresh.study(MINI)
    for path in documents:
        read_document(fresh.folder / path, run_specification(wanted, *run_of(path)))


def test_shared_memory_that_fills_up(one_missing, mini, mounts):
    """The guest's memory can't grow, so the guest ends, and the second try has its memory on disk. The bytes are the same."""
    mounts.run("mount", "-t", "tmpfs", "-o", "size=600m", "none", "/dev/shm")
    one_missing.within = mounts.within(one_missing.folder)
    workflow = one_missing.start("--cores", "1", "--", DOCUMENT, study=MINI)
    guest = first_guest(workflow).stop()
    # Its own, where it may have huge pages, and the machine's, so that the second try finds no room there.
    for shared_memory in (f"/proc/{guest.pid}/root/dev/shm", "/dev/shm"):
        mounts.run("sh", "-c", f"cat /dev/zero >{shared_memory}/filler || true")
    guest.go_on()
    status, printed = finish(workflow)
    assert status == 0, printed[-2000:]
    assert f"sawtooth: run {NAME}: succeeded on the second try; first try: step 'guest': the guest kernel " in printed
    one_missing.same_results_as(mini)


def test_out_of_memory(one_missing, mini, memory_group):
    """The kernel's out-of-memory killer ends the guest both times: no document, and the next call makes one."""
    workflow = one_missing.start("--cores", "1", "--", DOCUMENT, study=MINI)
    caught = to_every_guest(workflow, memory_group.take_in)
    status, printed = finish(workflow)
    assert status != 0
    assert memory_group.kills() >= 2
    assert len(caught) == 2
    (sentence,) = {line for line in printed.splitlines() if line.startswith(f"sawtooth: run {NAME}: ")}
    assert "the guest kernel was ended by SIG" in sentence
    assert "(out of memory?)" in sentence
    nothing_left(caught, [])
    assert not (one_missing.folder / DOCUMENT).exists()
    one_missing.snakemake("--cores", "1", "--configfile", MINI, "--", DOCUMENT)
    one_missing.same_results_as(mini)


@pytest.fixture
def memory_group():
    """A control group (v1) that kills any process in it that uses more than a few MB."""
    group = MEMORY_GROUPS / f"sawtooth-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control groups of memory that this user may make ({error.strerror}: {group})")

    class Group:
        def take_in(self, guest):
            guest.stop()
            (group / "cgroup.procs").write_text(str(guest.pid))
            guest.go_on()

        def kills(self):
            return int((group / "memory.oom_control").read_text().split("oom_kill ")[1].split()[0])

    try:
        (group / "memory.limit_in_bytes").write_text("8M")
        yield Group()
    finally:
        wait_for(lambda: not (group / "cgroup.procs").read_text(), "the end of the group's processes")
        group.rmdir()
