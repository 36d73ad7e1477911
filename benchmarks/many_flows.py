"""Measure how the cost of a run (CPU time, memory, document and tables) grows with the number of flows, the rate and the duration.

    make bench-flows      or: .venv/bin/python benchmarks/many_flows.py [--flows 10 100 1000] [--seconds 5 20] [--ccas cubic bbr]

Prints Markdown tables. Below each table are the exponents b of cost = a * x^b, computed from the last two rows, because the fixed cost of a
run dominates in the first rows. An exponent of 1 means linear growth. One program sends all flows, and another receives them
(`processes: per-side`). Each flow's fair share is 2 Mbit/s and its RTT is 50 ms, so that 5,000 flows fill 10 Gbit/s. Before exponents are
computed, the cost of a run of one second with one flow is subtracted from CPU time and memory. Ratios within one call hold on any machine.
CPU seconds are specific to a machine, and increase if other processes use its caches.
"""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass

from one_run import execute, exponent
from scale_calls import head, row

# isort: split
# These imports need the search path that the two modules above set.
from experiment.run_document import specification_of
from run_tables.tidy_rows import rows_of_run
from testbed.checks.verification import judge

SHARE_MBPS, LENGTH_S = 2, 10
#: Number of flows in the runs that vary the rate or the duration, and the rates.
FLOWS_OVER_TIME, RATES_MBPS = 100, (10, 100, 1000)


@dataclass
class Cost:
    """The cost of a run.

    Attributes
    ----------
    packets : int
        Number of packets sent.
    wall_s, cpu_s : float
        Wall-clock time and CPU time in seconds.
    memory_mb, document_mb : float
        Peak memory, and size of the run document, in MB.
    judge_s, tidy_s : float
        CPU time in seconds needed to check the run, and to make the run's table rows.
    valid : bool
        Whether the run is valid.
    """

    packets: int
    wall_s: float
    cpu_s: float
    memory_mb: float
    document_mb: float
    judge_s: float
    tidy_s: float
    valid: bool


def cost(cca, flows, rate_mbps, seconds, core, folder) -> Cost:
    """Execute a run on one core, and return its cost."""
    scenario = {
        "link": {"rate_mbps": rate_mbps, "delay_ms": 25}, "queue": {"bdp": 1}, "flows": flows,
        "traffic": {"processes": "per-side", "duration_s": seconds, "sample_interval_ms": 100},
    }  # fmt: skip
    one = execute(scenario, cca, core, folder)
    began_s = time.process_time()
    judge(specification_of(one.document), one.document)
    judged_s = time.process_time()
    run, *_ = rows_of_run(one.document, "bench", "0" * 64)
    tidied_s = time.process_time()
    return Cost(
        run["packets_sent"], one.wall_s, one.cpu_s, one.memory_mb, one.document_mb, judged_s - began_s, tidied_s - judged_s, run["valid"]
    )  # fmt: skip


def table(what, cases, least, core, folder) -> list[Cost]:
    """Execute a run of each case, print a table of the costs and the exponents of their growth, and return the costs.

    Parameters
    ----------
    what : str
        Heading of the first column.
    cases : dict
        Name of a case -> (CCA, number of flows, rate in Mbit/s, duration in s).
    least : Cost
        Cost of the smallest run.
    core : int
        Core on which runs are executed.
    folder : str
        Temporary folder.
    """
    head(
        what,
        "packets",
        "CPU s",
        "CPU s per emulated s",
        "us per packet",
        "memory MB",
        "document MB",
        "judging s",
        "rows s",
    )
    costs = []
    for name, (cca, flows, rate_mbps, seconds) in cases.items():
        one = cost(cca, flows, rate_mbps, seconds, core, folder)
        if not one.valid:
            print(f"\n{name}: the run is invalid")
        costs.append(one)
        row(
            name, f"{one.packets:,}", f"{one.cpu_s:.1f}", f"{one.cpu_s / seconds:.2f}", f"{1e6 * (one.cpu_s - least.cpu_s) / one.packets:.1f}",
            f"{one.memory_mb:.0f}", f"{one.document_mb:.2f}", f"{one.judge_s:.2f}", f"{one.tidy_s:.2f}",
        )  # fmt: skip
    if len(costs) > 1:
        print(f"\n{exponents(costs[-2], costs[-1], list(cases.values()), least)}\n")
    return costs


def exponents(first, last, cases, least) -> str:
    """Return a sentence with the exponents of the growth in cost from the last but one case (``first``) to the last (``last``)."""
    packets = last.packets / first.packets
    words = [f"CPU time by packets {exponent(first.cpu_s - least.cpu_s, last.cpu_s - least.cpu_s, packets)}"]
    if (grown := cases[-1][1] / cases[-2][1]) > 1:
        for name, of in (
            ("memory", lambda one: one.memory_mb - least.memory_mb),
            ("document", lambda one: one.document_mb),
            ("judging", lambda one: one.judge_s),
            ("rows", lambda one: one.tidy_s),
        ):
            words.append(f"{name} by flows {exponent(of(first), of(last), grown)}")
    return "Exponents: " + ", ".join(words) + "."


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flows", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--seconds", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--ccas", nargs="+", default=["cubic", "bbr"])
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        least = min((cost("cubic", 1, SHARE_MBPS, 1, core, folder) for _ in range(3)), key=lambda one: one.cpu_s)
        for cca in options.ccas:
            cases = {f"{n:,}": (cca, n, SHARE_MBPS * n, LENGTH_S) for n in options.flows}
            table(f"{cca} flows, {LENGTH_S} s", cases, least, core, folder)
        rates = {f"{rate:,} Mbit/s": ("cubic", FLOWS_OVER_TIME, rate, LENGTH_S) for rate in RATES_MBPS}
        table(f"{FLOWS_OVER_TIME} cubic flows, {LENGTH_S} s", rates, least, core, folder)
        lengths = {
            f"{length} s": ("cubic", FLOWS_OVER_TIME, SHARE_MBPS * FLOWS_OVER_TIME, length)
            for length in options.seconds
        }
        table(f"{FLOWS_OVER_TIME} cubic flows", lengths, least, core, folder)


if __name__ == "__main__":
    main()
