"""Measure how the set-up cost of a run (CPU time of each step, memory and document) grows with the number of hosts.

    make bench-flows      or: .venv/bin/python benchmarks/many_hosts.py [--pairs 100 250 500]

Prints a Markdown table of dumbbells with increasing numbers of host pairs, and the exponents b of cost = a * pairs^b, computed from the
first and the last number in `--pairs`. Between the hosts of each pair, one flow of 2 Mbit/s runs for a second. The step "built" builds the
network with the addresses, routes, queues and settings of all hosts. The next steps read all settings back, and measure the RTT of each
pair's empty path.

The guest's clock stands still during these steps. Therefore each step is timed by the machine's clock, and the measured time is multiplied
by the run's share of the core. The cost of a run with one pair is subtracted before the exponents are computed.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from one_run import execute, exponent
from scale_calls import ROOT, head, row

SHARE_MBPS = 2
#: Code that is added to the guest's program, and prints the machine's time at the beginning of each step: that of a new folder of the machine.
TIMED_STEPS = """
_begin = Steps.__call__
def _timed(self, name):
    folder = Path(__file__).parents[1] / f"begins-{name}"
    folder.mkdir()
    log(f"step-begins {name.replace(' ', '-')} {folder.stat().st_mtime_ns}")
    _begin(self, name)
Steps.__call__ = _timed
"""
STEPS = {
    "topology": "built",
    "transport": "built",
    "read-back": "read back",
    "idle-RTT": "idle RTT",
    "traffic": "traffic",
}
COLUMNS = ("built", "read back", "idle RTT", "traffic", "run")


def cost(pairs, core, folder) -> dict[str, float | bool]:
    """Execute a run on one core, and return its costs.

    The keys of the result are `COLUMNS` (CPU seconds), ``memory_mb``, ``document_mb`` and ``valid``.
    """
    scenario = {
        "link": {"rate_mbps": SHARE_MBPS * pairs, "delay_ms": 10}, "queue": {"bdp": 1}, "flows": pairs,
        "hosts": {"pairs": pairs}, "traffic": {"processes": "per-side", "duration_s": 1, "start_within_ms": 200},
    }  # fmt: skip
    run = execute(scenario, "cubic", core, folder, f"{folder}/workflow")
    begins = [line.split()[1:] for line in run.errors.splitlines() if line.startswith("step-begins ")]
    costs = dict.fromkeys(COLUMNS, 0.0)
    for (name, begin), (_, end) in zip(begins, begins[1:], strict=False):
        if name in STEPS:
            costs[STEPS[name]] += (int(end) - int(begin)) / 1e9 * run.cpu_s / run.wall_s
    size = {"memory_mb": run.memory_mb, "document_mb": run.document_mb}
    return costs | size | {"run": run.cpu_s, "valid": run.document["verdict"]["valid"]}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[100, 250, 500])
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        for package in ("testbed", "experiment"):
            shutil.copytree(ROOT / "workflow" / package, Path(folder, "workflow", package))
        guest = Path(folder, "workflow/testbed/guest.py")
        guest.write_text(
            guest.read_text().replace('\nif __name__ == "__main__":', f'{TIMED_STEPS}\nif __name__ == "__main__":')
        )
        head("pairs of hosts, CPU s", *COLUMNS, "ms per pair", "memory MB", "document MB")
        least = cost(1, core, folder)
        costs = {pairs: cost(pairs, core, folder) for pairs in options.pairs}
        for pairs, one in ({1: least} | costs).items():
            row(
                f"{pairs:,}{'' if one['valid'] else ' (invalid)'}", *(f"{one[name]:.2f}" for name in COLUMNS),
                f"{1e3 * (one['run'] - least['run']) / max(1, pairs - 1):.0f}", f"{one['memory_mb']:.0f}", f"{one['document_mb']:.2f}",
            )  # fmt: skip
    if len(costs) > 1:
        (few, first), *_, (many, last) = costs.items()
        grown = [
            f"{name} {exponent(first[name] - least[name], last[name] - least[name], many / few)}"
            for name in (*COLUMNS, "memory_mb", "document_mb")
        ]
        print(f"\nExponents from {few:,} to {many:,} pairs: {', '.join(grown)}.")


if __name__ == "__main__":
    main()
