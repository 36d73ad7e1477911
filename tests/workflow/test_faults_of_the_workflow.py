"""A workflow that is killed, interrupted, started twice, or can't write: the messages, what remains, how it continues."""

import itertools
import os
import re
import signal
from pathlib import Path

import pytest

from guest_processes import Guest, alive, descendants, first_guest, guests, nothing_goes_on, to_every_guest, wait_for
from other_user import nobody
from study_files import study as studies

pytestmark = [pytest.mark.long, pytest.mark.faults]

MINI = ("--configfile", "config/studies/mini.yaml")
DOCUMENT = "results/mini/runs/near/reno/ipv4/1.json.gz"
# A document that is missing under a finished table is only missed if it is asked for.
TIDY = ("--", "results/mini/tidy/runs.csv", DOCUMENT)


@pytest.fixture(autouse=True)
def ended():
    with nothing_goes_on():
        yield


def told(printed):
    """Return Sawtooth's own messages to the user."""
    return [line for line in printed.splitlines() if line.startswith("sawtooth: ")]


def test_a_killed_workflow_resumes_to_the_same_results(fresh, mini):
    """kill -9 in the middle of runs; the next call continues to the tables as if nothing had happened."""
    workflow = fresh.start("--cores", "2", *TIDY, study=MINI[1])
    # Once three runs have ended no other can: it is held in its middle.
    held = to_every_guest(workflow, Guest.stop, of=lambda guest: len(fresh.finished_runs(study="mini")) >= 3)
    wait_for(lambda: held, "a run in its middle")
    processes = descendants(workflow.pid)
    os.killpg(workflow.pid, signal.SIGKILL)
    workflow.communicate()
    wait_for(lambda: not alive(processes), "the end of its runs", limit_s=20)
    finished = {path: path.stat().st_ino for path in fresh.finished_runs(study="mini")}
    assert len(finished) < 8
    fresh.snakemake("--cores", "all", *MINI, *TIDY)
    fresh.same_results_as(mini, "runs", "tidy")
    # A run that ended in the same moment, one a core, is whole but was not entered as done: it is carried out again.
    assert sum(path.stat().st_ino != before for path, before in finished.items()) <= 2


@pytest.mark.parametrize("fault", ["kill -9 of the workflow alone", "Ctrl-C", "kill of the run's job"])
def test_runs_end_with_their_workflow(one_missing, mini, fault):
    """Even a run that hangs: no process, no folder and no half-written file remains, and the next call executes it."""
    workflow = one_missing.start("--cores", "1", *TIDY, study=MINI[1])
    guest = first_guest(workflow).stop()
    processes = descendants(workflow.pid)
    if fault == "Ctrl-C":
        os.killpg(workflow.pid, signal.SIGINT)  # as a terminal does it: to all in the foreground
    elif fault == "kill of the run's job":
        os.kill(int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{guest.pid}/status").read_text())[1]), signal.SIGTERM)
    else:
        workflow.kill()
    # The output's other end is open until the last of its runs has ended.
    printed, _ = workflow.communicate(timeout=60)
    assert workflow.returncode != 0
    if fault == "Ctrl-C":
        (sentence,) = told(printed)
        assert sentence.startswith("sawtooth: interrupted; 7 of 8 runs of mini are kept, continue with: snakemake --")
        assert "Failed" not in printed and "Error" not in printed
    wait_for(lambda: not alive(processes), "the end of its run", limit_s=20)
    assert not guest.folder.exists()
    documents = one_missing.folder / "results/mini/runs"
    assert {path.name for path in documents.rglob("*") if path.is_file()} == {"1.json.gz", "2.json.gz"}
    assert not (one_missing.folder / DOCUMENT).exists()
    one_missing.snakemake("--cores", "1", *MINI, *TIDY)
    one_missing.same_results_as(mini)


def test_two_workflows_in_one_folder(one_missing, mini):
    """The second one prints a message and ends; the first one is not disturbed."""
    first = one_missing.start("--cores", "1", *TIDY, study=MINI[1])
    guest = first_guest(first).stop()
    status, printed = one_missing.snakemake("--cores", "1", *MINI, *TIDY, check=False)
    assert status != 0
    assert "sawtooth: another workflow is at work on results/mini: wait until it has ended." in told(printed)
    guest.go_on()
    printed, _ = first.communicate(timeout=120)
    assert first.returncode == 0, printed[-2000:]
    one_missing.same_results_as(mini)


def test_a_disk_that_is_full_in_the_middle_of_runs(fresh, mini, mounts):
    """Finished documents stay, unfinished ones don't exist, and once there is space the next call executes the rest."""
    (fresh.folder / "results").mkdir()
    fresh.within = mounts.within(fresh.folder)
    # A run takes 20 KiB, its log included: there is room for five of eight.
    mounts.run("mount", "-t", "tmpfs", "-o", "size=116k", "none", str(fresh.folder / "results"))
    status, printed = fresh.snakemake("--cores", "2", *MINI, *TIDY, check=False)
    assert status != 0
    sentences = told(printed)
    assert sentences
    full = re.compile(r"sawtooth: .*results/mini/.*: no space left on device$")
    assert [line for line in sentences if not full.match(line)] == []
    results = mounts.seen(fresh.folder / "results/mini")
    finished = sorted((results / "runs").rglob("*.json.gz"))
    assert 1 <= len(finished) < 8
    for path in finished:
        assert path.read_bytes() == (mini.folder / "results/mini" / path.relative_to(results)).read_bytes()
    assert not list((results / "runs").rglob(".*"))
    mounts.run("mount", "-o", "remount,size=50m", str(fresh.folder / "results"))
    assert fresh.planned(*MINI, *TIDY) == {"emulate_run": 8 - len(finished), "check_documents": 1, "tidy_runs": 1}
    fresh.snakemake("--cores", "2", *MINI, *TIDY)
    fresh.folder = mounts.seen(fresh.folder)
    fresh.same_results_as(mini, "runs", "tidy")


#: A stage of the workflow -> what it makes, which is deleted with all that follows from it.
STAGES = {
    "tidy": ("tidy", "analysis", "figures", "report.html", "details.html", "ro-crate-metadata.json"),
    "analysis": ("analysis", "figures", "report.html", "details.html", "ro-crate-metadata.json"),
    "figures": ("figures", "report.html", "details.html", "ro-crate-metadata.json"),
    "report": ("report.html", "details.html", "ro-crate-metadata.json"),
    "manifest": ("ro-crate-metadata.json",),
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_disk_that_is_full_at_each_stage(copy_of_mini, mini, mounts, stage):
    """One sentence at every step; once there is space the next call continues, and nothing is wrong."""
    results = copy_of_mini.folder / "results"
    copy_of_mini.within = mounts.within(copy_of_mini.folder)
    mounts.run("sh", "-c", f"cp -a '{results}' /tmp/kept-of-a-test && mount -t tmpfs -o size=60m none '{results}' "
               f"&& cp -a /tmp/kept-of-a-test/. '{results}' && rm -r /tmp/kept-of-a-test")  # fmt: skip
    mounts.run(
        "sh",
        "-c",
        f"cd '{results}/mini' && rm -r {' '.join(STAGES[stage])}; dd if=/dev/zero of=ballast bs=4k; truncate -s -8k ballast",
    )
    status, printed = copy_of_mini.snakemake("--cores", "2", *MINI, check=False)
    assert status != 0
    assert "Traceback" not in printed
    assert any("no space left on device" in line.lower() for line in told(printed)), printed[-3000:]
    mounts.run("rm", f"{results}/mini/ballast")
    copy_of_mini.snakemake("--cores", "2", *MINI)
    copy_of_mini.folder = mounts.seen(copy_of_mini.folder)
    copy_of_mini.same_results_as(mini)


def test_a_read_only_results_folder(one_missing, mini, mounts):
    folder = str(one_missing.folder / "results")
    one_missing.within = mounts.within(one_missing.folder)
    mounts.run("mount", "--bind", folder, folder)
    mounts.run("mount", "-o", "remount,bind,ro", folder)
    status, printed = one_missing.snakemake("--cores", "1", *MINI, "--", DOCUMENT, check=False)
    assert status != 0
    assert told(printed) == ["sawtooth: results/mini can't be written (Read-only file system)."]
    mounts.run("mount", "-o", "remount,bind,rw", folder)
    one_missing.snakemake("--cores", "1", *MINI, *TIDY)
    one_missing.same_results_as(mini)


def test_two_users_never_share_a_core(one_missing, mini, runs_of_another_user):
    """A workflow's run, and as many runs of another user as there are cores: each guest has one core, the last run waits."""
    first = one_missing.start("--cores", "1", "--", DOCUMENT, study=MINI[1])
    stopped = [first_guest(first).stop()]
    cores = os.sched_getaffinity(0)
    others = runs_of_another_user(len(cores))

    def a_guest_on_each_core():
        at_work = [guest for other in others for guest in guests(other.pid)]
        stopped.extend(guest.stop() for guest in at_work if guest.pid not in [known.pid for known in stopped])
        return len(stopped) >= len(cores)

    wait_for(a_guest_on_each_core, "a guest on each core")
    waiting = "waiting for a core: other runs use all cores"
    wait_for(lambda: any(waiting in other.log.read_text() for other in others), "a run that waits")
    assert len([guest for process in (first, *others) for guest in guests(process.pid)]) == len(stopped)
    assert sorted(guest.core() for guest in stopped) == sorted(cores)
    for guest in stopped:
        guest.go_on()
    printed, _ = first.communicate(timeout=120)
    assert first.returncode == 0, printed[-2000:]
    one_missing.same_results_as(mini)
    for other in others:
        assert other.wait(timeout=120) == 0, other.log.read_text()[-2000:]
        assert other.user.written_by(other) == mini.document_path(*other.run, study="mini").read_bytes()


@pytest.fixture
def runs_of_another_user(one_missing):
    """A function that starts runs of the mini study as the user `nobody`, without a workflow; it returns the processes."""
    with nobody(one_missing.folder) as user:

        def start(count):
            study = one_missing.study(MINI[1])
            chosen = list(itertools.islice(studies.runs(study), count))
            processes = [user.start(studies.run_specification(study, *run), f"{n}") for n, run in enumerate(chosen)]
            for process, process.run in zip(processes, chosen, strict=True):
                process.user = user
            return processes

        yield start
