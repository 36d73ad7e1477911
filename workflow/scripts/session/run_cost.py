"""Memory and time that a run needs, for schedulers that must know them in advance.

``conditions`` is the part of the specification that all runs of a scenario share (`study_runs.run_conditions`).
"""

import math
import sys
from typing import NamedTuple

from experiment.flow_groups import LONG, PROGRAM, WEB
from experiment.specification import RunSpecification
from testbed.machine.platforms import platform_of
from testbed.machine.uml import full_packets
from wording.terminal_text import said

#: Memory in MiB that a node needs in addition to the guest: for the container, Python and the workflow's own process.
BESIDE_GUEST_MIB = 400
#: Maximum factor by which a node may be slower than the machine of benchmarks/README.md.
SLOWER = 3
#: Additional time for a job in minutes: for the job's start, and for a second attempt at one run.
SPARE_MIN = 10
#: Number of processes that read documents in the tidy stage, if the workflow has as many cores. The stage's memory in MB, and the memory of
#: each process; neither depends on the number of runs.
TIDY_PROCESSES, TIDY_MB, TIDY_PROCESS_MB = 2, 1000, 1000
#: Maximum number of runs in one job. The descriptions of all runs are part of the job's command line.
MOST_RUNS = 1000
#: Time that the tidy stage takes for a run's document, in s.
TIDY_DOCUMENT_S = 0.05
#: Core time of a run on the machine of benchmarks/README.md, in s: for container, boot and reading back; for each pair of hosts beyond the
#: first; for each connection; for each group with programs other than iperf3; for each packet.
RUN_S, PAIR_S, CONNECTION_S, GROUP_S, PACKET_S = 0.6, 0.04, 0.036, 0.27, 1.8e-6
#: Core time for a packet if two programs carry all flows, in s; a flow then takes no additional time (docs/many-flows.md).
SIDE_PACKET_S = 6.6e-6
#: Core time for a packet of a program, in s: expected (the slowest QUIC stack of benchmarks/README.md), and at most (other stacks, logs). The
#: two processes cause context switches in the guest.
PROGRAM_PACKET_S, MOST_PROGRAM_PACKET_S = 1.5e-4, 5e-4
#: Constant in the square-root law for a receiver that acknowledges each packet (Mathis and others, CCR 1997).
SQUARE_ROOT_LAW = 1.5**0.5
#: Ratio of the amount sent to the amount predicted by the square-root law, averaged over a study's CCAs.
ABOVE_LAW = 2
#: Duration of a simulated run as a share of its upper bound.
SIMULATED_PART = 0.36
#: Disk space of a compressed document, in kB: fixed, per flow, and per sample of a flow's time series.
DOCUMENT_KB, FLOW_KB, SAMPLE_KB = 6, 1.2, 0.026
#: The same if two programs carry all flows (docs/many-flows.md), in kB: per flow, and per pair of hosts beyond the first.
SIDE_FLOW_KB, SIDE_PAIR_KB = 0.44, 0.36


class JobSize(NamedTuple):
    """Limits of a job's size: the number of runs, and the seconds that the runs are expected to take on the reference machine."""

    runs: int = 1
    seconds: float = math.inf


def job_size(resources: dict) -> JobSize:
    """Return the size of jobs as set with ``--set-resources emulate_run:runs=N emulate_run:minutes=M``; the default is one run.

    ``resources`` are the rule's resources from the command line and the profile, by name. Exits if N or M is not allowed.
    """
    for name, limit in (("runs", MOST_RUNS), ("minutes", None)):
        value = resources.get(name, 1)
        if not isinstance(value, int) or value < 1 or (limit and value > limit):
            given = "an expression" if callable(value) else repr(value)
            allowed = f"from 1 to {limit:,}" if limit else "of at least 1"
            sys.exit(said(f"set-resources: emulate_run: {name} is {given}; allowed: whole numbers {allowed}."))
    if "minutes" not in resources:
        return JobSize(resources.get("runs", 1))
    return JobSize(resources.get("runs", MOST_RUNS), 60.0 * resources["minutes"])


def _specification(conditions):
    """Return the specification of a scenario's slowest runs, which use IPv6: packets carry less payload, so files take longer."""
    return RunSpecification({"ip_version": "ipv6", **conditions})


def job_memory_mb(conditions) -> int:
    """Return the memory of a job in MB: one guest at full size (guests run one at a time), and `BESIDE_GUEST_MIB`."""
    specification = _specification(conditions)
    return math.ceil((platform_of(specification).memory_mib(specification) + BESIDE_GUEST_MIB) * 1.048576)


def run_time_s(conditions) -> float:
    """Return a generous estimate of the core-seconds that a run takes."""
    specification = _specification(conditions)
    return platform_of(specification).run_time_s(specification) + _programs_s(specification, MOST_PROGRAM_PACKET_S)


def _programs_s(specification, packet_s=PROGRAM_PACKET_S):
    """Return the approximate core-seconds for the packets of a run's programs, assuming equal rates for all flows."""
    flows = sum(group.count for group in specification.groups_of(PROGRAM))
    if not flows:
        return 0.0
    others = max(specification.flows, len(specification.groups_of(WEB)))
    return packet_s * _expected_packets(specification) * flows / (flows + others)


class Work(NamedTuple):
    """Time in s that runs take on one core of the reference machine (benchmarks/README.md).

    ``own_s`` is for the start and end of runs, ``traffic_s`` for packets, and ``clock_s`` for runs with the host's clock, which take
    the same time on every machine.
    """

    own_s: float = 0.0
    traffic_s: float = 0.0
    clock_s: float = 0.0

    def plus(self, runs: int, other: "Work") -> "Work":
        """Return the sum of this work and ``runs`` times another run's work."""
        return Work(*(mine + runs * more for mine, more in zip(self, other, strict=True)))


def work_of_run(conditions) -> Work:
    """Return the work of one run of a scenario; `machine_speed.Speed.seconds` converts it to times on this machine."""
    specification = _specification(conditions)
    platform = specification.platform.partition(":")[0]
    if platform == "host":
        return Work(clock_s=run_time_s(conditions))
    if platform != "uml":
        return Work(traffic_s=SIMULATED_PART * run_time_s(conditions))
    connection_s, packet_s = (0.0, SIDE_PACKET_S) if specification.per_side else (CONNECTION_S, PACKET_S)
    own_s = RUN_S + PAIR_S * (len(specification.pairs) - 1) + connection_s * specification.connections
    own_s += GROUP_S * sum(group.application != LONG for group in specification.groups)
    return Work(own_s, packet_s * _expected_packets(specification) + _programs_s(specification))


def _expected_packets(specification):
    """Return the approximate number of packets that a run sends: what full links carry, or less if random loss limits the rate."""
    full = full_packets(specification)
    loss = specification.loss_share("forward")
    if not loss or specification.udp:
        return full
    rtts = specification.expected_s * 1e3 / max(specification.rtt_path_ms, 1e-3)
    return min(full, ABOVE_LAW * specification.connections * rtts * SQUARE_ROOT_LAW / loss**0.5)


def document_kb(conditions) -> float:
    """Return the approximate size of a run's document in kB, estimated from the included studies."""
    specification = _specification(conditions)
    interval_ms = specification.traffic.sample_interval_ms
    samples = specification.expected_s * 1e3 / interval_ms if interval_ms else 0
    flows_kb = FLOW_KB * specification.connections
    if specification.per_side:
        flows_kb = SIDE_FLOW_KB * specification.connections + SIDE_PAIR_KB * (len(specification.pairs) - 1)
    return DOCUMENT_KB + flows_kb + SAMPLE_KB * samples * specification.sampled_connections


def job_runtime_min(seconds) -> int:
    """Return the minutes after which a scheduler may terminate a job; ``seconds`` is the core time of the job's runs (`run_time_s`)."""
    return SPARE_MIN + math.ceil(SLOWER * seconds / 60)


def tidy_runtime_min(runs) -> int:
    """Return the minutes after which a scheduler may terminate the job that tidies the given number of runs."""
    return SPARE_MIN + math.ceil(SLOWER * runs * TIDY_DOCUMENT_S / 60)


def wall_limit_s(conditions) -> int:
    """Return the real time in whole seconds after which a run of a scenario is aborted."""
    specification = _specification(conditions)
    return math.ceil(platform_of(specification).wall_limit_s(specification))
