"""Measure the cost of a QUIC stack's flow in the guest and on the machine's own kernel.

    .venv/bin/python benchmarks/program_cost.py [--repeat 3] [--seconds 10] [quic-go:reno ...]

`make stack` builds the stacks from examples/. A single flow runs over a path with a rate of 20 Mbit/s, a queue of 66 packets and no delay.
Commands, rate, queue and duration are the same in the guest and on the machine. In the guest, the cost of a run of 1 s is subtracted from
the cost of a long run, to exclude the fixed cost of a run. On the machine, the cost is the CPU time of the two programs, which includes
most of the forwarding. If perf(1) is installed, it is used to measure how the CPU time in the guest is divided among `PARTS`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from one_run import execute
from run import IN_IMAGE, measure
from scale_calls import ROOT, head, row, spread

# isort: split
# These imports need the search path that the modules above set.
from experiment.programs import PLACEHOLDER
from session.candidate_programs import named_program
from testbed.machine.program_files import digest_of, files_of, write_archive

DEFAULT = ("quic-go:reno", "quinn:cubic", "s2n-quic:cubic", "quiche:cubic", "aioquic:cubic")
RATE_MBPS, QUEUE_PACKETS, PORT = 20, 66, 14001
PATH = {"link": {"rate_mbps": RATE_MBPS, "delay_ms": 0}, "queue": {"packets": QUEUE_PACKETS}}
#: Sampling frequency of perf in Hz.
SAMPLED_HZ = 499
#: Part of a run's CPU time -> condition on the process and the object in which the time is spent. The guest kernel is a process named
#: linux. The guest's programs are processes named uml-userspace, one for each address space.
PARTS = {
    "programs": lambda process, place: process == "uml-userspace" and place != "[kernel.kallsyms]",
    "guest kernel": lambda process, place: process == "linux" and place != "[kernel.kallsyms]",
    "machine's kernel": lambda process, place: process in ("linux", "uml-userspace") and place == "[kernel.kallsyms]",
}


def in_guest(name, programs, seconds, core, folder) -> tuple[float, int]:
    """Execute a run in the guest, and return the run's CPU seconds and the number of data packets that the flow sent."""
    scenario = PATH | {"traffic": {"duration_s": seconds}}
    done = execute(scenario, name, core, folder, programs=programs)
    if not done.document["verdict"]["valid"]:
        failed = [check for check in done.document["verdict"]["checks"] if not check["ok"]]
        sys.exit(f"benchmark: the run of {name} is not valid: {failed}")
    (packets,) = done.document["program_packets"]["flows"]
    return done.cpu_s, packets["packets_sent"]


def on_machine(name, declared, seconds, core, folder) -> tuple[float, int]:
    """Run server and client on the machine's own kernel, and return their CPU seconds and the number of packets that passed."""
    values = {
        "folder": folder, "logs": folder, "server_address": "10.0.1.2", "client_address": "10.0.2.2", "port": str(PORT), "server": f"10.0.1.2:{PORT}",
        "seconds": str(seconds), "bytes": "", "cca": name.partition(":")[2], "seed": "1",
    }  # fmt: skip
    sides = {
        side: [PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in declared[side]]
        for side in ("server", "client")
    }
    asked = sides | {"port": PORT, "rate_mbps": RATE_MBPS, "queue_packets": QUEUE_PACKETS}
    command = [
        *IN_IMAGE, "--bind", f"{ROOT},{folder}", "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / "envs/testbed.sif",
        "unshare", "--user", "--map-root-user", "--net", "--mount", "python3", "-B", ROOT / "benchmarks/host_program.py", json.dumps(asked),
    ]  # fmt: skip
    result = json.loads(measure(command, core)[2])
    return result["cpu_s"], result["packets"]


def parts_of(record_file, name, programs, seconds, core, folder) -> dict[str, float]:
    """Return the share of each of `PARTS` in a run's CPU time, in percent, measured with perf."""
    record = ["perf", "record", "--quiet", "--freq", str(SAMPLED_HZ), "--output", record_file]
    execute(PATH | {"traffic": {"duration_s": seconds}}, name, core, folder, programs=programs, before=record)
    report = ["perf", "report", "--input", record_file, "--sort", "comm,dso", "--field-separator", ";", "--stdio"]
    printed = subprocess.run(report, capture_output=True, text=True, check=True).stdout
    shares = dict.fromkeys(PARTS, 0.0)
    for line in printed.splitlines():
        if line and not line.startswith("#"):
            percent, process, place = (word.strip() for word in line.split(";")[:3])
            for part, is_in in PARTS.items():
                shares[part] += float(percent.rstrip("%")) * is_in(process, place)
    return shares


def report(name, seconds, repeat, core, folder) -> None:
    """Measure a stack alternately in the guest and on the machine, and print a row of the table."""
    name, programs, _ = named_program(name, None, SystemExit)
    (declared,) = programs.values()
    files = files_of(declared["path"])
    write_archive(files, Path(folder) / f"{digest_of(files)[:16]}.tar")
    for place, (content, executable) in files.items():
        target = Path(folder, place)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if executable else 0o644)
    here = [side_words(declared, "server"), side_words(declared, "client")]
    given = declared | dict(zip(("server", "client"), here, strict=True))
    rounds = []
    for _ in range(repeat):
        short_s, fewer = in_guest(name, programs, 1, core, folder)
        long_s, more = in_guest(name, programs, 1 + seconds, core, folder)
        machine_s, passed = on_machine(name, given, seconds, core, folder)
        rounds.append((long_s - short_s, more - fewer, machine_s, passed))
    shares = parts_of(Path(folder, "perf"), name, programs, 1 + seconds, core, folder) if shutil.which("perf") else {}
    row(
        name,
        spread(guest_s / seconds for guest_s, *_ in rounds),
        spread((1e6 * guest_s / packets for guest_s, packets, *_ in rounds), 0),
        spread((1e6 * machine_s / packets for *_, machine_s, packets in rounds), 0),
        spread((guest_s / packets) / (machine_s / passed) for guest_s, packets, machine_s, passed in rounds),
        ", ".join(f"{part} {share:.0f} %" for part, share in shares.items()) or "perf is not installed",
    )


def side_words(declared, side) -> list[str]:
    """Return the declared command of a side (``server`` or ``client``) as a list of words."""
    words = declared[side]
    return words.split() if isinstance(words, str) else words


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stacks", nargs="*", default=DEFAULT)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    head("flow", "CPU s per emulated s", "µs per packet", "native, µs per packet", "guest / native", "CPU time by part")
    for name in options.stacks:
        with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
            report(name, options.seconds, options.repeat, core, folder)


if __name__ == "__main__":
    main()
