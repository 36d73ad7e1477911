"""Does the receive low-water mark change results? The default study with and without it.

    .venv/bin/python benchmarks/low_water.py [--replications 3] [--cores 2]

Runs the default study's scenarios and CCAs over IPv4 twice, with
`receive_low_water_bytes` 0 and 16384 and the same seeds, and prints a line a cell:
mean of each metric without the mark, its change with it, and the spread between
replications without it (the yardstick: a change within the spread is noise).
"""
import argparse
import csv
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
METRICS = ("goodput_mbps", "rtt_mean_ms", "loss_percent", "retransmits")
MARKS = {"low-water-off": 0, "low-water-on": 16384}


def write_study(name, mark, replications):
    """Write the default study with another name, mark and number of replications; return its path."""
    study = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    study |= {"study": name, "replications": replications, "ip_versions": ["ipv4"]}
    study["defaults"]["transport"]["receive_low_water_bytes"] = mark
    path = ROOT / "results" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


def cells(name):
    """Return (scenario, cca) -> metric -> values over valid replications."""
    values = defaultdict(lambda: defaultdict(list))
    with (ROOT / "results" / name / "tidy" / "runs.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["valid"] == "True":
                for metric in METRICS:
                    values[row["scenario"], row["cca"]][metric].append(float(row[metric]))
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=3)
    parser.add_argument("--cores", default="all")
    options = parser.parse_args()
    for name, mark in MARKS.items():
        path = write_study(name, mark, options.replications)
        subprocess.run(
            [
                Path(sys.executable).with_name("snakemake"), "--cores", options.cores, "--use-apptainer",
                "--configfile", path, "--", f"results/{name}/tidy/runs.csv",
            ],
            cwd=ROOT, check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    off, on = (cells(name) for name in MARKS)
    print("| scenario | CCA | " + " | ".join(f"{m} | change % | spread %" for m in METRICS) + " |")
    print("|---|---|" + "---|" * 3 * len(METRICS))
    for cell in off:
        line = []
        for metric in METRICS:
            base, other = statistics.fmean(off[cell][metric]), statistics.fmean(on[cell][metric])
            spread = max(off[cell][metric]) - min(off[cell][metric])
            share = 100 / base if base else 0
            line += [f"{base:.4g}", f"{(other - base) * share:+.2f}", f"{spread * share:.2f}"]
        print(f"| {cell[0]} | {cell[1]} | " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
