"""Measure what planning, starting runs, tidying and storage cost in a study with thousands of runs.

    .venv/bin/python benchmarks/scale.py planning [--runs 100 1000 14400]
    .venv/bin/python benchmarks/scale.py overhead|parallel [--repeat 3]
    .venv/bin/python benchmarks/scale.py tidy|storage [--documents results/ipv4-ipv6-full]

Prints Markdown tables. Works in copies of the checkout in temporary folders. `tidy` and `storage` use the results folder of
config/studies/ipv4-ipv6-full.yaml, with at least one replication. Without `--documents`, they first run this study (144 runs of 30 s,
twenty minutes on one core). CPU seconds include all processes of a call unless stated otherwise.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterator

import scale_documents
from scale_calls import (
    BIN,
    CCAS,
    FIFTY,
    ROOT,
    SIZES,
    Call,
    call,
    call_until,
    checkout,
    cpu_s,
    documents,
    head,
    pretend_done,
    row,
    snakemake,
    spread,
    started,
    threads,
    write_study,
)
from study_files import study as studies

ONE_RUN_A_JOB = ("--until", "emulate_run")
ONE_JOB = (*FIFTY, "--until", "emulate_runs_1")
#: Scenario in which packet loss limits the flows, rather than the speed of a core.
LOSSY = {"link": {"rate_mbps": 1000, "delay_ms": 10, "loss_percent": {"forward": 1, "reverse": 0}}, "queue": {"bdp": 1}}


def planning(options) -> None:
    """Print the time and memory that Snakemake needs before it starts a job, for new, resumed and finished studies."""
    head("runs", "call", "wall s", "CPU s", "memory MB")
    for runs in options.runs:
        for runs_per_job, settings in ((1, ()), (50, FIFTY)):
            if runs < 10_000 and runs_per_job > 1:
                continue  # with few runs, the number of runs per job makes hardly any difference
            with checkout() as folder:
                scenarios, ccas, replications = SIZES[runs]
                study, results = write_study(folder, scenarios, CCAS[:ccas], replications)
                name = f"{runs:,}" + (f", {runs_per_job} per job" if runs_per_job > 1 else "")
                for what, took in planned(study, results, folder, settings):
                    row(name, what, f"{took.wall_s:.1f}", f"{took.cpu_s:.1f}", f"{took.memory_mb:.0f}")


def planned(study, results, folder, settings) -> Iterator[tuple[str, Call]]:
    """Measure calls for a study that is new, finished, and finished except for one run; yield the name and cost of each call."""
    begin = snakemake(study, *settings)
    yield "`snakemake -n`", call([*begin, "-n"], folder)
    yield "new: until the first run starts", call_until(lambda _: started(folder), begin, folder)
    reset(folder, results)
    pretend_done(study, folder, *settings)
    yield "all done: until Snakemake reports it", call(begin, folder)
    documents(results)[-1].unlink()
    yield "all but one run done: until that run starts", call_until(lambda _: started(folder), begin, folder)


def reset(folder, results) -> None:
    """Restore a checkout to the state before the first call."""
    for rest in (results, folder / ".snakemake"):
        shutil.rmtree(rest)


def overhead(options) -> None:
    """Print the workflow's overhead per run, excluding planning.

    The same 24 runs of one second are executed on one core in three ways.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # for this program and its child processes
    ways = {"the testbed called in a loop": [], "workflow, one run per job": [], "workflow, 24 runs per job": []}
    with checkout() as folder:
        study, results = write_study(folder, 1, CCAS[:2], 6)
        resolved = studies.resolve(studies.load(folder / study), study)
        specifications = [studies.run_specification(resolved, *of_run) for of_run in studies.runs(resolved)]
        for _ in range(options.repeat):
            loop, *workflows = ways.values()
            loop.append(call(["sh", "-c", testbed_loop(specifications)], folder))
            for took, settings in zip(workflows, (ONE_RUN_A_JOB, ONE_JOB), strict=True):
                begin = snakemake(study, *settings)
                start = call_until(lambda _: started(folder), begin, folder)
                reset(folder, results)
                whole = call(begin, folder)
                reset(folder, results)
                took.append(Call(whole.wall_s - start.wall_s, whole.cpu_s - start.cpu_s, whole.memory_mb))
    runs = len(specifications)
    head(
        "24 runs of 1 s at 10 Mbit/s, one core",
        "wall s per run",
        "CPU s per run",
        "more than the loop: wall s per run",
        "more than the loop: CPU s per run",
    )
    for name, took in ways.items():
        beyond = [[(c.wall_s - b.wall_s) / runs for c, b in zip(took, loop, strict=True)],
                  [(c.cpu_s - b.cpu_s) / runs for c, b in zip(took, loop, strict=True)]]  # fmt: skip
        row(name, spread(c.wall_s / runs for c in took), spread(c.cpu_s / runs for c in took),
            *(map(spread, beyond) if took is not loop else ("", "")))  # fmt: skip
    print()
    report_full_grid()


def testbed_loop(specifications) -> str:
    """Return a shell script that executes runs in sequence, each in a separate container."""
    exec_in_image = [
        BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--env", f"PYTHONPATH={ROOT / 'workflow'}",
        "--bind", ROOT / "workflow", ROOT / "envs/testbed.sif", "python3", "-B", "-m", "testbed",
    ]  # fmt: skip
    of_runs = (
        [*map(str, exec_in_image), "--specification", json.dumps(specification), "--output", f"{number}.json.gz"]
        for number, specification in enumerate(specifications)
    )
    return "\n".join(["set -e", *map(shlex.join, of_runs)])


def report_full_grid() -> None:
    """Print how much CPU time per run and how many threads Snakemake's own process needs while 14,400 runs are ready."""
    seen = []

    def enough(pid):
        done = len(documents(results))
        if done >= (5, 25, 45)[len(seen)]:
            seen.append((done, cpu_s(pid), threads(pid)))
        return len(seen) == 3

    with checkout() as folder:
        scenarios, ccas, replications = SIZES[14400]
        study, results = write_study(folder, scenarios, CCAS[:ccas], replications)
        call_until(enough, snakemake(study), folder)
    head(
        "14,400 runs ready, one run per job: runs",
        "CPU s of Snakemake's own process per run",
        "threads of that process at the end",
    )
    for (done, cpu, _), (next_done, next_cpu, next_threads) in zip(seen, seen[1:], strict=False):
        row(f"{done + 1} to {next_done}", f"{(next_cpu - cpu) / (next_done - done):.2f}", next_threads)


def parallel(options) -> None:
    """Print the speed of two cores relative to one core, with and without the workflow, and compare the bytes of all runs."""
    both = sorted(os.sched_getaffinity(0))[:2]
    speedups, machine, digests = [], [], set()
    with checkout() as folder:
        study, results = write_study(folder, 2, ["reno", "cubic"], 4, duration_s=30, **LOSSY)
        resolved = studies.resolve(studies.load(folder / study), study)
        some = list(studies.runs(resolved))[:5]
        loop = testbed_loop([studies.run_specification(resolved, *of_run) for of_run in some])
        for _ in range(options.repeat):
            walls = {}
            for cores in (1, 2):
                os.sched_setaffinity(0, both[:cores])
                begin = snakemake(study, *ONE_RUN_A_JOB, cores=cores)
                start = call_until(lambda _: started(folder), begin, folder)
                reset(folder, results)
                walls[cores] = call(begin, folder).wall_s - start.wall_s
                digests.add(digest(results))
                reset(folder, results)
            speedups.append(walls[1] / walls[2])
            machine.append(ceiling(loop, folder, both))
    head("32 runs of 30 s, 1 Gbit/s, 1 % loss", "speed of two cores relative to one")
    row("workflow, after planning", spread(speedups))
    row("the testbed in a loop on each core, relative to one loop alone", spread(machine))
    print(f"\nBytes of all runs, {2 * options.repeat} times: {'the same' if len(digests) == 1 else 'DIFFERENT'}.")


def ceiling(loop, folder, cores) -> float:
    """Return the speed of two cores relative to one core, without the workflow."""
    on_one_core = ["taskset", "-c", cores[0], "sh", "-c", loop]
    places = [folder / str(core) for core in cores]
    for place in places:
        place.mkdir(exist_ok=True)
    alone = call(on_one_core, places[0]).wall_s
    os.sched_setaffinity(0, cores)
    pair = [
        f"(cd {place} && taskset -c {core} sh -c {shlex.quote(loop)})"
        for place, core in zip(places, cores, strict=False)
    ]
    return 2 * alone / call(["sh", "-c", f"{' & '.join(pair)} & wait"], folder).wall_s


def digest(results) -> str:
    """Return the SHA-256 of the names and contents of all run documents."""
    sha256 = hashlib.sha256()
    for path in documents(results):
        sha256.update(str(path.relative_to(results)).encode() + path.read_bytes())
    return sha256.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["planning", "overhead", "parallel", "tidy", "storage"])
    parser.add_argument("--runs", type=int, nargs="+", choices=SIZES, default=[100, 1000, 14400], help="for planning")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, for overhead and parallel")
    parser.add_argument("--documents", help="for tidy and storage: a results folder of the study ipv4-ipv6-full")
    options = parser.parse_args()
    parts = {"planning": planning, "overhead": overhead, "parallel": parallel}
    parts |= {"tidy": scale_documents.tidy, "storage": scale_documents.storage}
    parts[options.what](options)


if __name__ == "__main__":
    main()
