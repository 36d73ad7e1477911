"""How long the analysis of a full-size study takes, and how much memory.

    .venv/bin/python benchmarks/analysis.py [--replications 100] [--report]

Draws a synthetic study (6 CCAs x 2 IP versions x 12 scenarios x replications: 14,400 runs at 100), runs
each script of the analysis stage on it as the workflow does, a process each in the analysis image, one after
another on one core, and prints a Markdown table: seconds of wall and of CPU time, start of container and Python
included, and the peak of resident memory. CPU time is what holds on a busy machine. With --report it draws the
figures and writes the page too, in one process, and prints their sizes.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "workflow" / "scripts"
sys.path[:0] = [str(ROOT / "tests"), str(SCRIPTS)]
import tidy_tables  # noqa: E402
from study_files import study as studies  # noqa: E402
from study_files.claims import load_claims  # noqa: E402

BIN = Path(sys.executable).parent
#: script -> what it reads, and its tables, as in workflow/rules/analyse.smk
STAGE = {
    "describe_cells": (["runs"], ["descriptive"]),
    "summarise_validity": (["runs", "checks"], ["validity", "checks"]),
    "compare_ip_versions": (["runs"], ["ip_versions"]),
    "compare_overall": (["runs"], ["ip_overall"]),
    "compare_ccas": (["runs"], ["ccas", "cca_pairs"]),
    "describe_pooled": (["runs"], ["pooled", "pooled_tests"]),
    "fit_models": (["runs", "scenarios"], ["models", "regressions"]),
    "check_claims": (["runs", "flows", "scenarios", "sockets"], ["claims"]),
    "find_mislabelled": (["runs", "flows", "provenance"], ["mislabelled"]),
}
CLAIMS = "config/claims/lima-ccas-ipv4-ipv6.yaml"
#: What a script does under the workflow: its own main with inputs, outputs and parameters.
RUN_SCRIPT = """
import importlib, inspect, json, resource, sys
from types import SimpleNamespace
name, scripts, call = sys.argv[1:]
sys.path.insert(0, scripts)
main = importlib.import_module(name).main
parts = [SimpleNamespace(**part) for part in json.loads(call)]
main(*parts[: len(inspect.signature(main).parameters)])
print("peak-memory-kb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def parameters():
    """Return the parameters of all scripts: the default study's, and the constants of the Snakefile."""
    study = studies.resolve(studies.load(ROOT / "config" / "config.yaml"), "config/config.yaml")
    return {
        "confidence": 0.95,
        "significance": 0.05,
        "power": 0.8,
        "resamples": 2000,
        "seed": study["seed"],
        "margins": studies.differences(study["analysis"]["equivalence_margin"]),
        "detect": studies.differences(study["analysis"]["detect"]),
        "claims": load_claims(ROOT / CLAIMS),
    }


def table_path(folder, name):
    """Return the table that a script reads: drawn, or made by an earlier script; time series, which none reads here."""
    places = (f"tidy/{name}.csv", f"tidy/{name}.json", f"analysis/{name}.csv")
    return next((str(folder / place) for place in places if (folder / place).exists()), str(folder / f"tidy/{name}.parquet"))


def cpu_of_children_s():
    """Return the CPU seconds of all processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(name, inputs, outputs, params, folder, core):
    """Run one script in the analysis image; return (wall seconds, CPU seconds, peak memory in MB)."""
    call = json.dumps([inputs, {table: str(folder / "analysis" / f"{table}.csv") for table in outputs}, params])
    command = [
        "taskset", "-c", core, BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--bind", folder,
        "--bind", ROOT, ROOT / "envs/analysis.sif", "python3", "-B", "-c", RUN_SCRIPT, name, SCRIPTS, call,
    ]  # fmt: skip
    began, cpu_before_s = time.monotonic(), cpu_of_children_s()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    wall_s, cpu_s = time.monotonic() - began, cpu_of_children_s() - cpu_before_s
    if done.returncode:
        sys.exit(f"benchmark: {name} failed:\n{done.stderr[-3000:]}")
    (kilobytes,) = (line.split()[1] for line in done.stdout.splitlines() if line.startswith("peak-memory-kb "))
    return wall_s, cpu_s, int(kilobytes) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=100, help="runs of each cell")
    parser.add_argument("--report", action="store_true", help="draw the figures and write the page too")
    options = parser.parse_args()
    core = str(max(os.sched_getaffinity(0)))
    params = parameters()
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as place:
        folder = Path(place)
        (folder / "analysis").mkdir()
        study = tidy_tables.synthetic_study(replications=options.replications, invalid_share=0.01)
        tidy_tables.write_tidy(study, folder)
        print(f"{len(study['runs']):,} runs, one core, one script after another\n")
        print("| script | wall s | CPU s | memory MB |")
        print("|---|---|---|---|")
        measured = []
        for name, (inputs, outputs) in STAGE.items():
            found = {table: table_path(folder, table) for table in inputs}
            measured.append(measure(name, found, outputs, params, folder, core))
            print(f"| {name} | {row(*measured[-1])} |", flush=True)
        walls, cpus, peaks = zip(*measured, strict=True)
        print(f"| all, one after another | {row(sum(walls), sum(cpus), max(peaks))} |")
        if options.report:
            print_report_size(study, folder / "report")


def print_report_size(study, folder):
    """Take the study to its page, and print the sizes of page and figures in MB."""
    sys.path.insert(0, str(ROOT / "tests" / "report"))
    from built_study import Built  # noqa: PLC0415, it imports matplotlib

    began = time.monotonic()
    built = Built(folder).build(study, claims=True)
    sizes = {path.name: path.stat().st_size / 1e6 for path in sorted((folder / "figures").glob("*.svg"))}
    largest = max(sizes, key=sizes.get)
    print(
        f"\nreport.html: {built.page.stat().st_size / 1e6:.1f} MB, its {len(sizes)} figures as SVG "
        f"{sum(sizes.values()):.1f} MB, the largest {largest} with {sizes[largest]:.2f} MB; "
        f"analysis, figures and page in one process took {time.monotonic() - began:.0f} s"
    )


def row(wall_s, cpu_s, memory_mb):
    """Return the cells of a row."""
    return f"{wall_s:.2f} | {cpu_s:.2f} | {memory_mb:.0f}"


if __name__ == "__main__":
    main()
