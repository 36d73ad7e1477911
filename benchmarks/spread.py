"""Measure how much runs of a cell with the same seed differ, under the machine's own clock and in virtual time.

    .venv/bin/python benchmarks/spread.py [--repeat 10] [--duration 5]

Prints a Markdown table of the number of runs with identical bytes for each case and platform, and of the mean, standard deviation, minimum
and maximum of each quantity. Only valid runs are used for these statistics. Invalid runs are counted by the checks that they failed. Runs
on `host` need the entire machine, so don't use the machine while they are running.
"""

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
from study_files import study as studies
from testbed.readings.cpu import shares_of

BIN = Path(sys.executable).parent
CABLE = {
    "topology": "cable",
    "link": {"rate_mbps": 100, "delay_ms": 0, "frame_overhead_bytes": 24},
    "queue": {"packets": 100},
}
#: Name of a case -> (CCA, IP version, scenario).
CASES = {
    "TCP, Reno, IPv4": ("reno", "ipv4", CABLE),
    "TCP, CUBIC, IPv6": ("cubic", "ipv6", CABLE),
    "TCP round trips, 128 bytes, IPv4": ("reno", "ipv4", CABLE | {"traffic": {"application": "round-trip", "block_bytes": 128}}),
    "UDP round trips, 1,408 bytes, IPv6": (
        "reno", "ipv6", CABLE | {"traffic": {"application": "round-trip", "protocol": "udp", "block_bytes": 1408}},
    ),
}  # fmt: skip
PLATFORMS = ("uml", "host")


def specification(cca, ip_version, scenario, platform, duration_s) -> str:
    """Return the specification of all runs of a cell, which have the same seed, as JSON."""
    scenario = {"id": "spread", "platform": platform} | scenario
    scenario["traffic"] = {"duration_s": duration_s} | scenario.get("traffic", {})
    config = {"study": "spread", "ccas": [cca], "ip_versions": [ip_version], "scenarios": [scenario]}
    study = studies.resolve(config, "benchmarks/spread.py")
    return json.dumps(studies.run_specification(study, "spread", cca, ip_version, 1))


def carry_out(asked, folder) -> bytes:
    """Execute a run, and return the run document's bytes."""
    output = Path(folder) / "run.json.gz"
    command = [
        BIN / "apptainer", "--silent", "exec", "--userns", "--cleanenv", "--bind", folder, "--bind", ROOT / "workflow",
        "--env", f"PYTHONPATH={ROOT / 'workflow'}", ROOT / "envs/testbed.sif",
        "python3", "-B", "-m", "testbed", "--specification", asked, "--output", output,
    ]  # fmt: skip
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"benchmark: a run failed:\n{done.stderr[-2000:]}")
    return output.read_bytes()


def measured(document) -> dict[str, float]:
    """Return a run's measured values, by name and unit."""
    values = {}
    (entry,) = document["traffic"]
    if "round_trip" in entry:
        values["round trip, us"] = entry["round_trip"]["rtt_us"]
    else:
        end = entry["client"]["end"]
        values["goodput, Mbit/s"] = end["sum_received"]["bits_per_second"] / 1e6
        values["retransmits"] = end["sum_sent"]["retransmits"]
    values["idle RTT, mean, us"] = 1e3 * document["idle_rtt"][0]["mean_ms"]
    for core, section in document.get("cpu", {}).get("cores", {}).items():
        values[f"{section['roles'][0]}' core busy, %"] = 100 * shares_of(document["cpu"], core, "busy")[0]
    return values


def validity_words(documents) -> str:
    """Return a text with the number of valid runs and the checks that other runs failed, such as "3 valid; clock failed in 2"."""
    failed = Counter(c["name"] for d in documents for c in d["verdict"]["checks"] if not c["ok"])
    valid = sum(document["verdict"]["valid"] for document in documents)
    words = "all valid" if valid == len(documents) else f"{valid or 'none'} valid"
    return "; ".join([words, *(f"{check} failed in {count}" for check, count in failed.items())])


def rows(name, platform, contents) -> list[str]:
    """Return the Markdown rows for a case on a platform; the statistics include only valid runs."""
    documents = [json.loads(gzip.decompress(content)) for content in contents]
    most = Counter(contents).most_common(1)[0][1]
    same = f"the same bytes in {most}" if most > 1 else "no two with the same bytes"
    lines = [f"| {name} | {platform} | {len(contents)} runs, {same}; {validity_words(documents)} | | | |"]
    results = [measured(document) for document in documents if document["verdict"]["valid"]]
    for quantity in results[0] if results else ():
        values = [result[quantity] for result in results]
        deviation = f"{statistics.stdev(values):.3f}" if len(values) > 1 else "–"
        span = f"{min(values):.3f} to {max(values):.3f}"
        lines.append(f"| | | {quantity} | {statistics.mean(values):.3f} | {deviation} | {span} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=10, help="runs of each case and platform, all with one seed")
    parser.add_argument("--duration", type=int, default=5, help="seconds of traffic")
    options = parser.parse_args()
    print("| case | platform | what | mean | standard deviation | least to most |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="sawtooth-bench-") as folder:
        for name, (cca, ip_version, scenario) in CASES.items():
            for platform in PLATFORMS:
                asked = specification(cca, ip_version, scenario, platform, options.duration)
                contents = [carry_out(asked, folder) for _ in range(options.repeat)]
                print("\n".join(rows(name, platform, contents)), flush=True)


if __name__ == "__main__":
    main()
