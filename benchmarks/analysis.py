"""Measure the time and memory needed to analyse a full-size study.

    .venv/bin/python benchmarks/analysis.py [--replications 100] [--report]

Generates a synthetic study with 6 CCAs, 2 IP versions and 12 scenarios (14,400 runs with 100 replications), and runs each script of the
analysis stage on this study. As in the workflow, each script is a separate process in the analysis image. The scripts run in sequence on
one core. Prints a Markdown table of the wall and CPU seconds, including the start of the container and Python, and the peak resident
memory. On a busy machine, only the CPU time is meaningful. With --report, the program also draws the figures and writes the page in one
process, and prints the sizes of both.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
import tidy_tables
from built_study import Built
from topics.published.topic import IP_PAPER

BIN = Path(sys.executable).parent
#: Program that calls a script's main function with inputs, outputs and parameters, as the workflow does.
RUN_SCRIPT = """
import importlib, json, resource, sys
class Named(dict):
    __getattr__ = dict.__getitem__
name, call = sys.argv[1:]
importlib.import_module(name).main(*map(Named, json.loads(call)))
print("peak-memory-kb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def stage(built) -> Iterator[tuple[str, dict, dict, dict]]:
    """Yield the module, inputs, outputs and parameters of each analysis script, in the order of the workflow."""
    built.outline = built.outline_of_tables()
    for topic in built.outline.topics:
        for script, *files, params in built.analyses_of(topic):
            yield script, *({name: built.place(path) for name, path in part.items()} for part in files), params


def _script_of(name, params):
    return (params["calls"][0]["script"] if "calls" in params else name).replace("/", ".").rpartition(".")[2]


def cpu_of_children_s() -> float:
    """Return the total CPU time in seconds of the child processes for which this process has waited."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(name, parts, folder, core) -> tuple[float, float, float]:
    """Run a script in the analysis image, and return its wall seconds, CPU seconds and peak memory in MB."""
    paths = f"{ROOT / 'workflow' / 'scripts'}:{ROOT / 'workflow'}"
    command = [
        "taskset", "-c", core, BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--bind", folder,
        "--bind", ROOT, "--env", f"PYTHONPATH={paths}", ROOT / "envs/analysis.sif", "python3", "-B", "-c", RUN_SCRIPT,
        name, json.dumps(parts, default=str),
    ]  # fmt: skip
    began, cpu_before_s = time.monotonic(), cpu_of_children_s()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    wall_s, cpu_s = time.monotonic() - began, cpu_of_children_s() - cpu_before_s
    if done.returncode:
        sys.exit(f"benchmark: {name} failed:\n{done.stderr[-3000:]}")
    (kilobytes,) = (line.split()[1] for line in done.stdout.splitlines() if line.startswith("peak-memory-kb "))
    return wall_s, cpu_s, int(kilobytes) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=100, help="runs of each cell")
    parser.add_argument("--report", action="store_true", help="draw the figures and write the page too")
    options = parser.parse_args()
    core = str(max(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as place:
        folder = Path(place)
        (folder / "analysis").mkdir()
        study = tidy_tables.synthetic_study(replications=options.replications, invalid_share=0.01)
        tidy_tables.write_tidy(study, folder)
        built = Built(folder)
        built.claims_name = IP_PAPER
        print(f"{len(study['runs']):,} runs, one core, one script after another\n")
        print("| script | wall s | CPU s | memory MB |")
        print("|---|---|---|---|")
        measured = []
        for name, *parts in stage(built):
            measured.append(measure(name, parts, folder, core))
            print(f"| {_script_of(name, parts[-1])} | {row(*measured[-1])} |", flush=True)
        walls, cpus, peaks = zip(*measured, strict=True)
        print(f"| all, one after another | {row(sum(walls), sum(cpus), max(peaks))} |")
        if options.report:
            print_report_size(study, folder / "report")


def print_report_size(study, folder) -> None:
    """Draw a study's figures and write its page, and print the sizes of both in MB."""
    began = time.monotonic()
    built = Built(folder).build(study, claims=IP_PAPER)
    sizes = {path.name: path.stat().st_size / 1e6 for path in sorted((folder / "figures").glob("*.svg"))}
    largest = max(sizes, key=sizes.get)
    print(
        f"\nreport.html: {built.page.stat().st_size / 1e6:.1f} MB, its {len(sizes)} figures as SVG "
        f"{sum(sizes.values()):.1f} MB, the largest {largest} with {sizes[largest]:.2f} MB; "
        f"analysis, figures and page in one process took {time.monotonic() - began:.0f} s"
    )


def row(wall_s, cpu_s, memory_mb) -> str:
    """Return the last three cells of a table row: wall seconds, CPU seconds and memory in MB."""
    return f"{wall_s:.2f} | {cpu_s:.2f} | {memory_mb:.0f}"


if __name__ == "__main__":
    main()
