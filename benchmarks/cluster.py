"""Run studies on several Slurm nodes on this machine, while one of the nodes fails.

``python benchmarks/cluster.py config/studies/smoke.yaml ...`` prints the cost of the jobs, and repeats some runs outside the cluster. The
program must be run as root, and needs the Debian packages slurmctld, slurmd, slurm-client and munge.
"""

import argparse
import os
import pwd
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from scale_calls import BIN, ROOT, checkout, head, row

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "setup")]
from cache import cache_dir
from slurm_cluster import SlurmCluster, requirements

#: Snakemake's options for a cluster without accounting.
STATUS = ("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "5")
TIMES = re.compile(r"JobId=(\d+).*? JobState=(\S+).*? RunTime=(\d\d):(\d\d):(\d\d)")
RAN = re.compile(r"of traffic in ([\d.]+) s on (\S+?)(?:;|$)")


def run_study(cluster, folder, jobs, options, study) -> bool:
    """Run a study as the cluster's user, print its duration, and repeat some of its runs outside the cluster.

    If the study fails, the study's output is printed.

    Parameters
    ----------
    cluster : SlurmCluster
        Cluster on this machine.
    folder : pathlib.Path
        Checkout that belongs to the cluster's user.
    jobs : dict
        Result of `jobs_of`. The cluster's current jobs are added, because Slurm forgets jobs after a while.
    options : argparse.Namespace
        Options from the command line.
    study : str
        Path to the study file in the checkout.

    Returns
    -------
    bool
        Whether the study succeeded and all repeated runs yielded the same bytes.
    """
    began = time.monotonic()
    command = [BIN / "snakemake", "--profile", "profiles/slurm", "--configfile", study, *STATUS]
    if options.config:
        command += ["--config", *options.config]
    workflow = cluster.log_in(*command, cwd=folder, HOME=str(folder), SAWTOOTH_RUN_CACHE="0")
    printed, _ = workflow.communicate()
    failed = f" failed:\n{printed[-4000:]}" if workflow.returncode else ""
    print(f"{study}: {time.monotonic() - began:.0f} s{failed}", flush=True)
    jobs.update(jobs_of(cluster))
    if failed:
        return False
    results = folder / "results" / Path(study).stem
    if options.keep:
        shutil.copytree(results, options.keep / results.name, dirs_exist_ok=True, symlinks=True)
    return verify(results, options.repeat)


def cut_one(cluster, after_s) -> None:
    """Cut the power of a node after ``after_s`` seconds, and switch the node on again a minute later."""
    time.sleep(after_s)
    node = cluster.nodes[0]
    cluster.cut_power(node)
    print(f"{node} lost its power", flush=True)
    time.sleep(60)
    cluster.power_on(node)
    print(f"{node} is on again", flush=True)


def jobs_of(cluster) -> dict[str, tuple[str, int]]:
    """Return the state and the duration in seconds of each job in a cluster, by job number."""
    jobs = {}
    for line in cluster.ask("scontrol", "show", "job", "-o").splitlines():
        number, state, hours, minutes, seconds = TIMES.search(line).groups()
        jobs[number] = state, 3600 * int(hours) + 60 * int(minutes) + int(seconds)
    return jobs


def runs_of(folder) -> list[tuple[str, float, str]]:
    """Return the study, the duration in seconds and the node of each run in a checkout, read from the runs' logs."""
    found = []
    for log in sorted(folder.glob("results/*/logs/runs/*/*/*/*.log")):
        if match := RAN.search(log.read_text().splitlines()[-1]):
            found.append((log.relative_to(folder / "results").parts[0], float(match[1]), match[2]))
    return found


def main() -> None:
    """Run the studies, print tables, and repeat runs drawn at random."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="+", help="files of studies")
    parser.add_argument("--config", nargs="*", help="settings for the studies, as for snakemake --config")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--at-once", type=int, default=1, help="number of Snakemake calls at the same time")
    parser.add_argument("--cut-after", type=float, default=60, help="seconds after which a node loses its power")
    parser.add_argument("--repeat", type=int, default=20, help="number of runs per study to repeat outside the cluster")
    parser.add_argument("--keep", type=Path, help="folder to copy results to")
    options = parser.parse_args()
    if missing := requirements():
        sys.exit(f"benchmark: {missing}")
    os.environ["TMPDIR"] = tempfile.tempdir = "/var/tmp"
    os.environ["PYTHONPATH"] = os.pathsep.join(str(ROOT / name) for name in ("workflow/scripts", "workflow"))
    with checkout() as folder, tempfile.TemporaryDirectory(prefix="sawtooth-cluster-") as state:
        user = pwd.getpwnam("nobody")
        # Set-up writes to the environment and the cache when it builds a study's kernels, so the user needs a copy of each.
        shutil.copytree(ROOT / ".venv", folder / ".venv", symlinks=True)
        for name in ("images", "kernels", "toolbox"):
            if (part := cache_dir() / name).exists():
                left_out = shutil.ignore_patterns("steps-*")
                shutil.copytree(part, folder / ".cache/sawtooth" / name, symlinks=True, ignore=left_out)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        for path in (folder, Path(state)):
            path.chmod(0o755)
        shown = [Path(sys.base_prefix), ROOT, (ROOT / "envs/testbed.sif").resolve().parents[2]]
        with SlurmCluster(Path(state) / "cluster", user, options.nodes, shown=shown) as cluster:
            threading.Thread(target=cut_one, args=(cluster, options.cut_after), daemon=True).start()
            jobs = {}
            with ThreadPoolExecutor(options.at_once) as calls:
                done = list(calls.map(partial(run_study, cluster, folder, jobs, options), options.studies))
        report(jobs, runs_of(folder))
    if not all(done):
        sys.exit(
            "benchmark: some studies failed, or give different bytes outside the cluster; their messages are above."
        )


def report(jobs, runs) -> None:
    """Print the cost of the jobs and runs."""
    ended = [seconds for state, seconds in jobs.values() if state == "COMPLETED"]
    states = {
        state: sum(one == state for one, _ in jobs.values()) for state in sorted({state for state, _ in jobs.values()})
    }
    in_runs = sum(seconds for _, seconds, _ in runs)
    head("what", "value")
    row("jobs, by Slurm's state", ", ".join(f"{number} {state}" for state, number in states.items()))
    row(
        "runs, by node",
        ", ".join(f"{node} {sum(one == node for *_, one in runs)}" for node in sorted({node for *_, node in runs})),
    )
    row("a job's duration: median, longest", f"{statistics.median(ended):.0f} s, {max(ended)} s")
    row("overhead of the jobs per run", f"{(sum(ended) - in_runs) / len(runs):.2f} s")


def verify(results, runs) -> bool:
    """Verify a results folder and repeat some of its runs, as `make verify` does; return whether this succeeded.

    The last line of the output is printed or, after a failure, the entire output.
    """
    command = [sys.executable, "-m", "publishing.verify_results", results, "--count", runs, "--no-derived"]
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    printed = (done.stdout + done.stderr).splitlines()
    print(
        f"{results.name}, verified outside the cluster: {printed[-1] if done.returncode == 0 else printed}", flush=True
    )
    return done.returncode == 0


if __name__ == "__main__":
    main()
