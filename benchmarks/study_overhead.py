"""Print the CPU time in seconds of Snakemake calls for a study, for its runs and for later steps: ``python benchmarks/study_overhead.py``.

The calls work in copies of the checkout. Costs are also printed relative to the cost of starting the analysis image and importing pandas,
SciPy and matplotlib. These starts are measured between the calls.
"""

import argparse
import os
import statistics
import tempfile

from scale_calls import BIN, ROOT, call, checkout, head, row, snakemake, spread

IMPORTS = "import pandas, scipy.stats, matplotlib.pyplot"


def start_s() -> float:
    """Return the CPU time in seconds needed to start the analysis image and import the packages that a figure script uses."""
    image = ROOT / "envs/analysis.sif"
    command = [BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", image, "python3", "-c", IMPORTS]
    return call(command, ROOT).cpu_s


def study_calls(study) -> dict[str, float]:
    """Return the CPU time in seconds of four calls for a study, by name: runs only, all later steps, a repeated call, and a dry run."""
    calls = {"runs alone": ("--until", "emulate_run"), "from runs to report": (), "once more": (), "dry run": ("-n",)}
    with checkout() as folder:
        return {name: call(snakemake(study, *more, cores=2), folder).cpu_s for name, more in calls.items()}


def cached_calls(study) -> dict[str, float]:
    """Return the CPU time in seconds of two calls that request a study's runs, by name: with an empty and with a filled run cache."""
    took = {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"SAWTOOTH_RUN_CACHE": "1", "SAWTOOTH_CACHE": cache}
        for name in ("runs alone, into the run cache", "runs alone, from the run cache"):
            with checkout() as folder:
                took[name] = call(snakemake(study, "--until", "emulate_run", cores=2), folder).cpu_s
        os.environ["SAWTOOTH_RUN_CACHE"] = "0"
    return took


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--study", default="config/studies/smoke.yaml", help="a study's file")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    starts, rounds = [], []
    for _ in range(options.rounds):
        starts.append(start_s())
        rounds.append(study_calls(options.study) | cached_calls(options.study))
    unit = statistics.median(starts)
    head("call", "CPU s", "relative to the start of an analysis process")
    row("start of an analysis process", spread(starts), "1")
    for each in rounds:
        each["from runs to report, without Snakemake's start"] = each["from runs to report"] - each["once more"]
    for name in rounds[0]:
        values = [each[name] for each in rounds]
        row(name, spread(values), f"{statistics.median(values) / unit:.1f}")


if __name__ == "__main__":
    main()
