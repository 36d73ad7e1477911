"""How fast runs are, on one core, beside ns-3 and beside the machine's own kernel.

    make bench            or: .venv/bin/python benchmarks/run.py [--repeat 3] [--no-ns3]

Prints a Markdown table: emulated seconds per second of wall time (real time is 1,
what a script on the machine's own clock needs at least), the spread over the
repetitions, and memory. Everything is measured in one call, pinned to one core, so
that ratios hold on a noisy machine; absolute figures belong to the machine.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))
from study_files import study as studies  # noqa: E402

BIN = Path(sys.executable).parent
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


def specification(cca, scenario, duration_s):
    """Return a run specification of one scenario."""
    scenario = {"id": "bench", "traffic": {"duration_s": duration_s}, **scenario}
    config = {"study": "bench", "ccas": [cca], "scenarios": [scenario]}
    study = studies.resolve(config, "benchmarks/run.py")
    return json.dumps(studies.run_specification(study, "bench", cca, study["ip_versions"][0], 1))


def measure(command, core, cwd=ROOT):
    """Run a command pinned to a core; return (wall seconds, what it printed)."""
    began = time.monotonic()
    done = subprocess.run(["taskset", "-c", str(core), *map(str, command)], cwd=cwd, capture_output=True, text=True)
    wall_s = time.monotonic() - began
    if done.returncode:
        sys.exit(f"benchmark: {' '.join(map(str, command))[:200]} failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return wall_s, done.stdout


def testbed(cca, scenario, duration_s, core, folder):
    """Carry out one run and return (wall seconds, peak memory in MB of the run's largest process)."""
    command = [
        BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--bind", folder,
        "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / "envs/testbed.sif",
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


def ns3(core, folder, duration_s):
    """Return (wall seconds of a start, of `duration_s` simulated seconds) of ns-3 3.44 from PyPI."""
    place = Path(folder) / "ns3"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", place, "ns3==3.44.post0"],
        check=True, cwd=folder, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    empty = Path(folder) / "empty"
    empty.mkdir()
    shutil.copy(ROOT / "benchmarks" / "ns3_bulk.py", place / "ns3_bulk.py")
    command = ["env", f"PYTHONPATH={place}", sys.executable, place / "ns3_bulk.py"]
    return measure([*command, 0], core, empty)[0], measure([*command, duration_s], core, empty)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="counted repetitions of each case")
    parser.add_argument("--no-ns3", action="store_true", help="leave ns-3 out (it takes minutes)")
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    print(f"{options.repeat} repetitions, median (least to most), one core, {DURATION_S} s emulated each\n")
    print("| what | emulated s per wall s | wall s | memory MB |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        report_overhead(options, core, folder)
        for name, (cca, scenario) in CASES.items():
            runs = [testbed(cca, scenario, DURATION_S, core, folder) for _ in range(options.repeat)]
            row(name, DURATION_S, [wall for wall, _ in runs], max(memory for _, memory in runs))
        report_forwarding(core)
        if not options.no_ns3:
            start_s, (wall_s, output) = ns3(core, folder, 2)
            row(f"ns-3 3.44, 1 flow, 1 Gbit/s, per packet ({output.strip()})", 2, [wall_s - start_s], None)
    print("| the machine's own clock (a script in real time) | 1 | | |")


def report_overhead(options, core, folder):
    """Print what a run costs beside its traffic: container, boot, topology, checks, document."""
    quiet = {"link": {"rate_mbps": 10, "delay_ms": 10}, "queue": {"packets": 100}, "flows": 1}
    walls = [testbed("reno", quiet, 1, core, folder)[0] for _ in range(options.repeat)]
    print(f"| overhead of a run (1 s at 10 Mbit/s) | | {spread(walls)} | |", flush=True)


def report_forwarding(core):
    """Print how fast the machine's own kernel forwards through the same four namespaces, per packet."""
    command = [
        BIN / "apptainer", "--silent", "exec", "--userns", ROOT / "envs/testbed.sif",
        "unshare", "--user", "--map-root-user", "--net", "--mount", "bash", ROOT / "benchmarks/host_forwarding.sh",
    ]  # fmt: skip
    _, output = measure(command, core)
    mbps = json.loads(output)["end"]["sum_received"]["bits_per_second"] / 1e6
    print(f"| the machine's own kernel, the same four namespaces, per packet: {mbps / 1000:.2f} Gbit/s |"
          f" {mbps / 956.4:.2f} (of 1 Gbit/s) | | |", flush=True)  # fmt: skip


def row(name, emulated_s, walls, memory_mb):
    """Print one row: ratio and wall time as median (least to most)."""
    ratios = [emulated_s / wall for wall in walls]
    memory = f"{memory_mb:.0f}" if memory_mb else ""
    print(f"| {name} | {spread(ratios)} | {spread(walls)} | {memory} |", flush=True)


def spread(values):
    """Return the median, and the least and most where there are several."""
    text = f"{statistics.median(values):.2f}"
    return text if len(values) == 1 else f"{text} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()
