"""From a cluster's login node to the report in one command, on a real Slurm cluster, as an ordinary user."""

import os
import pwd
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from guest_processes import guests
from slurm_cluster import SlurmCluster, requirements

pytestmark = pytest.mark.long

SMOKE = "config/studies/smoke.yaml"
MINI = "config/studies/mini.yaml"
RUNS_PER_JOB = 4
#: What differs from a real cluster: no accounting, a first look at jobs after seconds, and a smaller study.
MACHINE = (
    "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5",
    "--set-resources", f"emulate_run:runs={RUNS_PER_JOB}",
)  # fmt: skip


@pytest.fixture(scope="module")
def place():
    """A folder that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="sawtooth-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def cluster(place, root):
    if missing := requirements():
        pytest.skip(missing)
    cache = (root / "envs/testbed.sif").resolve().parents[2]
    with SlurmCluster(place / "cluster", pwd.getpwnam("nobody"), shown=[Path(sys.base_prefix), root, cache]) as cluster:
        yield cluster


@pytest.fixture
def on_cluster(cluster, place, checkout_in):
    """A function that starts the workflow in the user's own checkout; its remains are ended afterwards."""
    started = []
    checkout = checkout_in(place / f"checkout-{len(list(place.iterdir()))}")
    for path in (checkout.folder, *checkout.folder.rglob("*")):
        os.chown(path, cluster.user.pw_uid, cluster.user.pw_gid, follow_symlinks=False)

    def start(*arguments, study=SMOKE):
        snakemake = Path(sys.executable).with_name("snakemake")
        started.append(
            cluster.log_in(
                snakemake,
                "--profile",
                "profiles/slurm",
                "--configfile",
                study,
                *MACHINE,
                *arguments,
                cwd=checkout.folder,
                HOME=str(checkout.folder),
            )  # fmt: skip
        )
        return started[-1]

    yield checkout, start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_node_goes_down_and_the_results_are_those_of_one_machine(smoke, cluster, on_cluster):
    checkout, start = on_cluster
    results = checkout.folder / "results/smoke"
    workflow = start()

    def node_in_the_middle_of_a_job():
        """Return a job's log and its node once it has executed some but not all of its runs."""
        for log in sorted(results.glob("logs/jobs/*.log")):
            done = re.findall(r"run (\S+): done", log.read_text())
            if 0 < len(done) < RUNS_PER_JOB - 1:
                return log, carried_out_on(results, done[0]), done
        assert workflow.poll() is None, workflow.stdout.read()
        return None

    job_log, node, done_before = cluster.wait(node_in_the_middle_of_a_job, "a job in the middle of its runs")
    cluster.cut_power(node)
    printed, _ = workflow.communicate(timeout=500)
    assert workflow.returncode == 0, printed[-4000:]

    # Slurm knows of the node and of the job that it lost, and gave the second one to another node.
    assert cluster.ask("sinfo", "-h", "-n", node, "-o", "%T") == "down*"
    jobs = [dict(re.findall(r"(\S+?)=(\S+)", job)) for job in cluster.ask("scontrol", "show", "job", "-o").splitlines()]
    assert sorted(job["JobState"] for job in jobs) == ["COMPLETED"] * (len(jobs) - 1) + ["NODE_FAIL"]
    # The runs of the lost job that were done are not carried out again, and the others are; its log says which.
    text = job_log.read_text()
    kept = re.findall(r"run (\S+): already done", text)
    again = [run for run in re.findall(r"run (\S+): done", text) if run not in kept]
    assert set(done_before) <= set(kept)
    assert len(kept) + len(again) == RUNS_PER_JOB
    assert again
    assert {carried_out_on(results, run) for run in done_before} == {node}
    assert node not in {carried_out_on(results, run) for run in again}
    # The one that the node was at took a second try, and says so.
    cut_off = [
        run for run in again if last_line(results, run).endswith("; on the second try; first try: the job was ended")
    ]
    assert len(cut_off) == 1
    # Nothing of all this is in the results.
    checkout.same_results_as(smoke, study="smoke")

    # Four jobs of runs, one of them twice, and two that read them all; the user's, with what they need and no more.
    assert len(jobs) == 4 + 1 + 2
    assert {job["UserId"] for job in jobs} == {f"nobody({cluster.user.pw_uid})"}
    asked = {(job["NumCPUs"], job["MinMemoryNode"], job["TimeLimit"]) for job in jobs}
    assert asked == {("1", "1049M", "00:11:00"), ("1", "1099M", "00:11:00"), ("1", "2000M", "00:11:00")}


def test_a_cancelled_job_says_so_and_leaves_no_run_behind(cluster, on_cluster):
    """As for jobs that exceed their time: Slurm's message is on the screen and in the job's log."""
    checkout, start = on_cluster
    study = checkout.folder / MINI
    study.write_text(
        study.read_text().replace("duration_s: 1", "duration_s: 600").replace("rate_mbps: 10,", "rate_mbps: 1000,")
    )
    workflow = start("--retries", "0", "--until", "emulate_runs_1", "emulate_runs_2", study=MINI)
    cluster.wait(lambda: len(runs_under_way(cluster)) == 2 or workflow.poll() is not None, "two runs")
    cluster.ask("scancel", f"--user={cluster.user.pw_name}")
    printed, _ = workflow.communicate(timeout=120)
    assert workflow.returncode == 1, printed[-4000:]
    assert runs_under_way(cluster) == []
    for number in (1, 2):
        log = checkout.folder / f"results/mini/logs/jobs/{number}.log"
        (sentence,) = (line for line in log.read_text().splitlines() if line.startswith("scheduler: "))
        assert "SLURM status is: 'CANCELLED'" in sentence
        assert "CANCELLED AT" in log.read_text()
    assert printed.count("SLURM status is: 'CANCELLED'") == 2
    assert not list(checkout.folder.rglob("*.partial"))


def test_without_slurm_one_sentence_says_so(fresh, mounts):
    if sbatch := shutil.which("sbatch"):
        mounts.run("mount", "--bind", "/dev/null", sbatch)
    fresh.within = mounts.within(fresh.folder)
    status, output = fresh.snakemake("--profile", "profiles/slurm", "--configfile", MINI, check=False)
    assert status == 1
    (sentence,) = (line for line in output.splitlines() if line.startswith("sawtooth: "))
    assert sentence.startswith("sawtooth: there is no Slurm here (sbatch is missing): start this on a login node")
    assert "Traceback" not in output


def runs_under_way(cluster):
    """Return the guests on all nodes."""
    return [
        guest for node in cluster.nodes if node in cluster.processes for guest in guests(cluster.processes[node].pid)
    ]


def carried_out_on(results, run):
    """Return the node that the last line of a run's log names."""
    return re.search(r" s on (node\d)(;|$)", last_line(results, run))[1]


def last_line(results, run):
    return (results / "logs/runs" / f"{run}.log").read_text().splitlines()[-1]
