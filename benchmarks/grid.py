"""Estimate the cost in core-hours of all runs in the full study, from one run of each cell.

    .venv/bin/python benchmarks/grid.py [--duration-s 10] [--cells 6]

Executes the first replication of each cell in sequence on one core. Prints one row per scenario with the CPU seconds of a run for each CCA,
averaged over IP versions. The last line is the sum over all replications. All 144 cells take about ten minutes. With `--duration-s`, runs
are shorter. The fixed cost of a run is then measured separately, and the rest of the cost is assumed to be proportional to the duration.
With `--cells`, only a random sample of the given number of cells is run, drawn with a fixed seed.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from dataclasses import dataclass

from run import IN_IMAGE, QUIET, QUIET_LINK, ROOT, measure, own_s
from run import specification as specification_of
from scale_calls import head, row
from study_files import study as studies

STUDY = ROOT / "config/studies/ipv4-ipv6-full.yaml"


@dataclass
class Cost:
    """The cost of a run.

    Attributes
    ----------
    cpu_s, wall_s : float
        CPU time and wall-clock time in seconds.
    others : float
        Average number of cores that other processes kept busy in the meantime.
    """

    cpu_s: float
    wall_s: float
    others: float


def cost(specification, core, folder) -> Cost:
    """Execute a run in a container, as a workflow job does, and return the run's cost."""
    command = [
        *IN_IMAGE, "--cleanenv", "--bind", folder, "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / "envs/testbed.sif",
        "python3", "-m", "testbed", "--specification", specification, "--output", f"{folder}/run.json.gz",
    ]  # fmt: skip
    before = own_s()
    wall_s, others, _ = measure(command, core)
    return Cost(own_s() - before, wall_s, others)


def at_full_length(short, overhead, ratio) -> Cost:
    """Extrapolate the cost of a short run to ``ratio`` times as much traffic.

    ``overhead`` is the cost of a run with hardly any traffic.
    """
    cpu_s = overhead.cpu_s + ratio * (short.cpu_s - overhead.cpu_s)
    wall_s = overhead.wall_s + ratio * (short.wall_s - overhead.wall_s)
    return Cost(cpu_s, wall_s, max(short.others, overhead.others))


def sample(cells, number) -> list:
    """Return a random sample of ``number`` cells, in the order of the study; the sample is the same at each call."""
    drawn = random.Random(1).sample(range(len(cells)), min(number or len(cells), len(cells)))
    return [cells[place] for place in sorted(drawn)]


def costs_of_cells(study, cells, duration_s, core) -> list[Cost]:
    """Execute a run of each cell, print one row per scenario, and return the costs of the runs, extrapolated to full length."""
    costs, overheads = [], {}
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        for scenario in study["scenarios"]:
            traffic = scenario["traffic"]
            full_s, traffic["duration_s"] = traffic["duration_s"], duration_s or traffic["duration_s"]
            of_cca = {cca: [] for cca in study["ccas"]}
            for cell in (cell for cell in cells if cell[0] == scenario["id"]):
                spent = cost(json.dumps(studies.run_specification(study, *cell, 1)), core, folder)
                if duration_s:
                    flows = scenario["flows"]
                    if flows not in overheads:
                        quiet = specification_of("reno", QUIET_LINK | {"flows": flows}, 1)
                        overheads[flows] = cost(quiet, core, folder)
                    spent = at_full_length(spent, overheads[flows], full_s / duration_s)
                costs.append(spent)
                of_cca[cell[1]].append(spent.cpu_s)
            if any(of_cca.values()):
                row(scenario["id"], *(f"{statistics.mean(cpu_s):.2f}" if cpu_s else "" for cpu_s in of_cca.values()))
    return costs


def main() -> int:
    """Print the table and the sum; return 1 if the machine was too busy with other processes for valid results, otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration-s", type=int, help="seconds of traffic per run, instead of the study's")
    parser.add_argument("--cells", type=int, help="number of cells to run")
    options = parser.parse_args()
    study = studies.resolve(studies.load(STUDY), str(STUDY))
    every_cell = list(studies.cells(study))
    cells = sample(every_cell, options.cells)
    head("CPU s of a run", *study["ccas"])
    costs = costs_of_cells(study, cells, options.duration_s, max(os.sched_getaffinity(0)))
    runs = len(every_cell) * study["replications"]
    hours = {unit: statistics.mean(getattr(one, unit) for one in costs) * runs / 3600 for unit in ("cpu_s", "wall_s")}
    busiest = max(one.others for one in costs)
    short = (
        f", extrapolated from {options.duration_s} s of traffic to the study's duration" if options.duration_s else ""
    )
    print(
        f"\n{runs:,} runs, from {len(cells)} of {len(every_cell)} cells{short}: {hours['cpu_s']:.1f} core-hours of CPU time, "
        f"{hours['wall_s']:.1f} of wall time. Other processes kept up to {busiest:.2f} cores busy."
    )
    if busiest > QUIET:
        print(f"The figures are not valid: on a quiet machine, other processes use at most {QUIET} cores.")
    return 1 if busiest > QUIET else 0


if __name__ == "__main__":
    sys.exit(main())
