"""From a login node to the report with a submit command, as on PBS: a stand-in for its commands really queues and runs the jobs."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

import batch_queue

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        importlib.util.find_spec("snakemake_executor_plugin_cluster_generic") is None,
        reason="snakemake-executor-plugin-cluster-generic, which set-up leaves out, is not installed",
    ),
]
MINI = "config/studies/mini.yaml"


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """The folder of a batch system whose worker loses the first job, with its commands in PATH."""
    spool, programs = tmp_path / "spool", tmp_path / "programs"
    spool.mkdir()
    programs.mkdir()
    for name in ("qsub", "qstat", "qdel"):
        (programs / name).write_text(
            f'#!/bin/sh\nexec {sys.executable} -c \'import sys; sys.argv[0] = "{name}"; exec(open("{batch_queue.__file__}").read())\' "$@"\n'
        )
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("BATCH_SPOOL", str(spool))
    worker = subprocess.Popen([sys.executable, batch_queue.__file__, "worker", spool, "1"])
    yield spool
    worker.kill()
    worker.wait()


def test_jobs_go_through_the_queue_and_a_lost_one_again(batch, checkout_in, tmp_path, mini):
    checkout = checkout_in(tmp_path / "checkout")
    checkout.snakemake(
        "--profile", "profiles/cluster-generic", "--configfile", MINI, "--latency-wait", "5",
        "--set-resources", "emulate_run:runs=4",
    )  # fmt: skip
    jobs = {path.stem: json.loads(path.read_text()) for path in batch.glob("*.json")}
    assert (
        jobs["1"]["exit_status"] == 256 + 9
        and [job["exit_status"] for name, job in jobs.items() if name != "1"] == [0] * 4
    )
    memory, walltime = (jobs["1"]["asked"][n].rpartition("=")[2] for n in (0, 1))
    assert memory.endswith("mb") and int(memory[:-2]) > 500 and walltime.startswith("00:")
    # Two jobs of four runs, one of them twice, then what reads all documents; the rest was made where Snakemake ran.
    assert len(jobs) == 5
    checkout.same_results_as(mini, "runs", "tidy", "analysis")
