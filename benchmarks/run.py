"""How fast runs are, on one core, beside ns-3 and beside the machine's own kernel.

    make bench            or: .venv/bin/python benchmarks/run.py [--repeat 3] [--platforms-only]

Prints a Markdown table: emulated seconds per second of wall time (real time is 1,
what a script on the machine's own clock needs at least), the spread over the
repetitions, and memory. Everything is measured in one call, pinned to one core, so
that ratios hold on a noisy machine; absolute figures belong to the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scale_calls import BIN, ROOT, head, row, spread

from study_files import study as studies

GIGABIT = {"rate_mbps": 1000, "delay_ms": 10}
LOSSY = GIGABIT | {"loss_percent": {"forward": 1, "reverse": 0}}
#: name -> (CCA, scenario)
CASES = {
    f"{flows} flow{'s' if flows > 1 else ''}, 1 Gbit/s, {how}": ("cubic", {"link": GIGABIT, "flows": flows, **scenario})
    for flows in (1, 12)
    for how, scenario in (
        ("per packet", {}),
        ("per packet, receiver woken for each", {"transport": {"receive_wait": "process"}}),
        ("offload", {"transport": {"segmentation_offload": True}, "queue": {"packets": 1000}}),
    )
} | {"1 flow, 1 Gbit/s, 1 % loss": ("reno", {"link": LOSSY, "flows": 1})}
DURATION_S = 30
#: The network of Kato et al. (2025): 16 pairs of hosts, RTT 120 ms, here with a buffer of a tenth of the BDP.
DUMBBELL = {
    "link": {"rate_mbps": 1000, "delay_ms": 50},
    "hosts": {"pairs": 16, "access_delay_ms": 5},
    "queue": {"packets": 1000},
    "flows": 16,
    "transport": {"segment_bytes": 1420, "delayed_acks": False},
}
#: name -> (platform, scenario, CCA, duration in s): ns-3 gets seconds, where Linux gets the paper's 50.
PLATFORM_CASES = {
    "16 BBR flows, 16 pairs, 1 Gbit/s, RTT 120 ms": ("uml", DUMBBELL, "bbr", 50),
    "the same in ns-3 3.39": ("ns3:3.39", DUMBBELL, "bbr", 2),
    "the same in ns-3 3.44": ("ns3:3.44", DUMBBELL, "bbr", 2),
    "1 flow, 1 Gbit/s, per packet, in ns-3 3.44": ("ns3:3.44", {"link": GIGABIT, "flows": 1}, "cubic", 10),
}


def specification(cca, scenario, duration_s) -> str:
    """Return a run specification of one scenario."""
    scenario = {"id": "bench", "traffic": {"duration_s": duration_s}, **scenario}
    config = {"study": "bench", "ccas": [cca], "ip_versions": ["ipv4"], "scenarios": [scenario]}
    study = studies.resolve(config, "benchmarks/run.py")
    return json.dumps(studies.run_specification(study, "bench", cca, "ipv4", 1))


def measure(command, core, cwd=ROOT) -> tuple[float, str]:
    """Run a command pinned to a core; return (wall seconds, what it printed)."""
    began = time.monotonic()
    done = subprocess.run(["taskset", "-c", str(core), *map(str, command)], cwd=cwd, capture_output=True, text=True)
    wall_s = time.monotonic() - began
    if done.returncode:
        sys.exit(f"benchmark: {' '.join(map(str, command))[:200]} failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return wall_s, done.stdout


def testbed(cca, scenario, duration_s, core, folder) -> tuple[float, float]:
    """Carry out one run and return (wall seconds, peak memory in MB of the run's largest process)."""
    image = "ns3" if scenario.get("platform", "uml").startswith("ns3") else "testbed"
    command = [
        BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--bind", folder,
        "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / f"envs/{image}.sif",
        "python3", "-B", "-c", WITH_MEMORY, "--specification", specification(cca, scenario, duration_s),
        "--output", Path(folder) / "run.json.gz",
    ]  # fmt: skip
    wall_s, output = measure(command, core)
    (kilobytes,) = (line.split()[1] for line in output.splitlines() if line.startswith("peak-memory-kb "))
    return wall_s, int(kilobytes) / 1024


#: The testbed's program, and then the largest resident set among its children (the guest kernel).
WITH_MEMORY = (
    "import resource, sys; from testbed.__main__ import main; status = main(sys.argv[1:]); "
    "print('peak-memory-kb', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="counted repetitions of each case")
    parser.add_argument("--platforms-only", action="store_true", help="only the cases of Linux beside ns-3")
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    print(f"{options.repeat} repetitions, median (least to most), one core, {DURATION_S} s emulated each\n")
    head("what", "emulated s per wall s", "wall s", "memory MB")
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        if not options.platforms_only:
            report_overhead(options, core, folder)
            for name, (cca, scenario) in CASES.items():
                report_case(name, cca, scenario, DURATION_S, options.repeat, core, folder)
            report_forwarding(core)
        for name, (platform, scenario, cca, duration_s) in PLATFORM_CASES.items():
            named = f"{name} ({duration_s} s)"
            report_case(named, cca, scenario | {"platform": platform}, duration_s, options.repeat, core, folder)
    print("| the machine's own clock (a script in real time) | 1 | | |")


def report_case(name, cca, scenario, duration_s, repeat, core, folder) -> None:
    """Carry a case out so many times and print its row."""
    walls, memory_mb = zip(*(testbed(cca, scenario, duration_s, core, folder) for _ in range(repeat)), strict=True)
    row(name, spread(duration_s / wall for wall in walls), spread(walls), f"{max(memory_mb):.0f}")


def report_overhead(options, core, folder) -> None:
    """Print what a run costs beside its traffic: container, boot, topology, checks, document."""
    quiet = {"link": {"rate_mbps": 10, "delay_ms": 10}, "queue": {"packets": 100}, "flows": 1}
    walls = [testbed("reno", quiet, 1, core, folder)[0] for _ in range(options.repeat)]
    print(f"| overhead of a run (1 s at 10 Mbit/s) | | {spread(walls)} | |", flush=True)


def report_forwarding(core) -> None:
    """Print how fast the machine's own kernel forwards through the same four namespaces, per packet."""
    command = [
        BIN / "apptainer", "--silent", "exec", "--userns", ROOT / "envs/testbed.sif",
        "unshare", "--user", "--map-root-user", "--net", "--mount", "bash", ROOT / "benchmarks/host_forwarding.sh",
    ]  # fmt: skip
    _, output = measure(command, core)
    mbps = json.loads(output)["end"]["sum_received"]["bits_per_second"] / 1e6
    print(f"| the machine's own kernel, the same four namespaces, per packet: {mbps / 1000:.2f} Gbit/s |"
          f" {mbps / 956.4:.2f} (of 1 Gbit/s) | | |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
