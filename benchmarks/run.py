"""Measure the speed of runs on one core, and compare it with ns-3 and with the machine's own kernel.

    make bench            or: .venv/bin/python benchmarks/run.py [--repeat 3] [--platforms-only] [--cases overhead "16 BBR"]

Prints a Markdown table with these columns:

- payload per wall second, relative to the payload that the machine's own kernel forwards on the same core (measured before each run);
- emulated seconds per wall second (1 is real time, the speed of a script that uses the machine's own clock);
- wall seconds, memory, and the load of other processes.

Relative numbers hold on any machine, but absolute numbers only on this one. If other processes were active, the benchmark reports this and
exits with status 1.
"""

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from scale_calls import BIN, ROOT, head, row, spread
from study_files import study as studies
from testbed.readings.deliveries import windows

GIGABIT = {"rate_mbps": 1000, "delay_ms": 10}
LOSSY = GIGABIT | {"loss_percent": {"forward": 1, "reverse": 0}}
DURATION_S = 30
#: Maximum average number of cores that other processes may use on a quiet machine.
QUIET = 0.1
QUIET_LINK = {"link": {"rate_mbps": 10, "delay_ms": 10}, "queue": {"packets": 100}, "flows": 1}
#: Name of a case -> (CCA, scenario, duration in s).
CASES = (
    {"overhead of a run (1 s at 10 Mbit/s)": ("reno", QUIET_LINK, 1)}
    | {
        f"{flows} flow{'s' if flows > 1 else ''}, 1 Gbit/s, {how}": (
            "cubic",
            {"link": GIGABIT, "flows": flows, **scenario},
            DURATION_S,
        )
        for flows in (1, 12)
        for how, scenario in (
            ("per packet", {}),
            ("per packet, receiver woken for each", {"transport": {"receive_wait": "process"}}),
            ("offload", {"transport": {"segmentation_offload": True}, "queue": {"packets": 1000}}),
        )
    }
    | {"1 flow, 1 Gbit/s, 1 % loss": ("reno", {"link": LOSSY, "flows": 1}, DURATION_S)}
)
#: The network of Kato et al. (2025) with 16 pairs of hosts and an RTT of 120 ms. The buffer is a tenth of the BDP.
DUMBBELL = {
    "link": {"rate_mbps": 1000, "delay_ms": 50},
    "hosts": {"pairs": 16, "access_delay_ms": 5},
    "queue": {"packets": 1000},
    "flows": 16,
    "transport": {"segment_bytes": 1420, "delayed_acks": False},
}
#: Cases that compare platforms, in the form of `CASES`. Runs in ns-3 last a few seconds; runs in Linux last 50 s, as in the paper.
PLATFORM_CASES = {
    "16 BBR flows, 16 pairs, 1 Gbit/s, RTT 120 ms": ("bbr", DUMBBELL | {"platform": "uml"}, 50),
    "the same in ns-3 3.39": ("bbr", DUMBBELL | {"platform": "ns3:3.39"}, 2),
    "the same in ns-3 3.44": ("bbr", DUMBBELL | {"platform": "ns3:3.44"}, 2),
    "1 flow, 1 Gbit/s, per packet, in ns-3 3.44": (
        "cubic",
        {"link": GIGABIT, "flows": 1} | {"platform": "ns3:3.44"},
        10,
    ),
}


def specification(cca, scenario, duration_s) -> str:
    """Return the specification of a run in a scenario, as JSON."""
    scenario = {"id": "bench", "traffic": {"duration_s": duration_s}, **scenario}
    config = {"study": "bench", "ccas": [cca], "ip_versions": ["ipv4"], "scenarios": [scenario]}
    study = studies.resolve(config, "benchmarks/run.py")
    return json.dumps(studies.run_specification(study, "bench", cca, "ipv4", 1))


@dataclass
class Measured:
    """The measured values of a call.

    Attributes
    ----------
    wall_s : float
        Wall-clock time in seconds.
    memory_mb : float
        Peak memory in MB.
    mbps : float
        Payload in Mbit per wall second.
    others : float
        Average number of cores that other processes kept busy.
    """

    wall_s: float
    memory_mb: float
    mbps: float
    others: float


def measure(command, core) -> tuple[float, float, str]:
    """Run a command on one core, and return its wall seconds, the load of other processes, and the command's output.

    The load is the average number of cores that other processes kept busy in the meantime.
    """
    before, own_before = busy_s(core), own_s()
    began = time.monotonic()
    done = subprocess.run(["taskset", "-c", str(core), *map(str, command)], cwd=ROOT, capture_output=True, text=True)
    wall_s = time.monotonic() - began
    if done.returncode:
        sys.exit(f"benchmark: {' '.join(map(str, command))[:200]} failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    others_s = busy_s(core) - before - (own_s() - own_before)
    return wall_s, max(0, others_s / wall_s), done.stdout


def busy_s(core) -> float:
    """Return the total busy time of all cores so far, in seconds, including time stolen by a hypervisor (steal in proc(5)).

    Soft interrupts on the measured core are excluded: packets that the measured command forwards cause them, but the kernel doesn't charge
    their time to the command.
    """
    ticks = 0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *counts = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, _, _, irq, softirq, steal, *_ = map(int, counts)
            ticks += user + nice + system + irq + steal + (0 if name == f"cpu{core}" else softirq)
    return ticks / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """Return the total CPU seconds of this program and of all child processes that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def testbed(cca, scenario, duration_s, core, folder) -> Measured:
    """Execute a run in the image for its platform, and return the measured values."""
    image = "ns3" if scenario.get("platform", "uml").startswith("ns3") else "testbed"
    document = Path(folder) / "run.json.gz"
    command = [
        *IN_IMAGE, "--cleanenv", "--bind", folder, "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / f"envs/{image}.sif",
        "python3", "-c", WITH_MEMORY, "--specification", specification(cca, scenario, duration_s), "--output", document,
    ]  # fmt: skip
    wall_s, others, output = measure(command, core)
    (kilobytes,) = (line.split()[1] for line in output.splitlines() if line.startswith("peak-memory-kb "))
    windows_of_flows = windows(json.loads(gzip.decompress(document.read_bytes())))
    goodput_mbps = sum(window.goodput_mbps(flow) for flow, window in windows_of_flows.items())
    return Measured(wall_s, int(kilobytes) / 1024, goodput_mbps * duration_s / wall_s, others)


def native(core) -> Measured:
    """Forward individual packets through four namespaces on the machine's own kernel, and return the measured values."""
    command = [
        *IN_IMAGE, "--bind", ROOT, "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / "envs/testbed.sif",
        "unshare", "--user", "--map-root-user", "--net", "--mount", "python3", "-B", ROOT / "benchmarks/host_forwarding.py",
    ]  # fmt: skip
    wall_s, others, output = measure(command, core)
    return Measured(wall_s, 0, json.loads(output)["end"]["sum_received"]["bits_per_second"] / 1e6, others)


IN_IMAGE = [BIN / "apptainer", "--silent", "exec", "--userns"]
#: Program that runs the testbed, and then prints the peak resident memory of its largest child process (the guest kernel).
WITH_MEMORY = (
    "import resource, sys; from testbed.__main__ import main; status = main(sys.argv[1:]); "
    "print('peak-memory-kb', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)"
)


def main() -> int:
    """Print the table; return 1 if other processes kept the machine too busy for valid results, otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each case")
    parser.add_argument("--platforms-only", action="store_true", help="only the cases that compare Linux with ns-3")
    parser.add_argument("--cases", nargs="+", default=[""], help="only cases whose names begin with one of these")
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    cases = {} if options.platforms_only else CASES
    cases |= {f"{name} ({duration} s)": (*case, duration) for name, (*case, duration) in PLATFORM_CASES.items()}
    cases = {name: case for name, case in cases.items() if name.startswith(tuple(options.cases))}
    if not cases:
        sys.exit(f"benchmark: no case's name begins with {' or '.join(options.cases)}")
    print(f"{options.repeat} repetitions, median (least to most), one core, {DURATION_S} s emulated each\n")
    head("what", "of native", "emulated s per wall s", "wall s", "memory MB", "cores busy with others")
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        worst = max(report(name, *case, options.repeat, core, folder) for name, case in cases.items())
    print("| the machine's own clock (a script in real time) | | 1 | | | |")
    if worst > QUIET:
        print(
            f"\nThe figures are not valid: other processes kept up to {worst:.2f} cores busy; on a quiet machine, at most {QUIET}."
        )
    return 1 if worst > QUIET else 0


def report(name, cca, scenario, duration_s, repeat, core, folder) -> float:
    """Measure a case ``repeat`` times, print its row, and return the maximum load of other processes in cores.

    Before each measurement, the machine's own kernel is measured.
    """
    rounds = [(native(core), testbed(cca, scenario, duration_s, core, folder)) for _ in range(repeat)]
    others = max(max(there.others, here.others) for there, here in rounds)
    walls, memory_mb = [here.wall_s for _, here in rounds], max(here.memory_mb for _, here in rounds)
    row(
        name,
        spread(here.mbps / there.mbps for there, here in rounds),
        spread(duration_s / wall for wall in walls),
        spread(walls),
        f"{memory_mb:.0f}",
        f"{others:.2f}{'' if others <= QUIET else ': not quiet'}",
    )
    return others


if __name__ == "__main__":
    sys.exit(main())
