"""What a run asks of a machine: memory and time, for schedulers that want to know beforehand.

``conditions`` are what the specifications of a scenario's runs share (`study_runs.run_conditions`).
"""

import math
import sys

from experiment.specification import RunSpecification
from testbed.machine.platforms import platform_of
from wording.terminal_text import said

#: What container, Python and the workflow's own process on the node take beside the guest, in MiB.
BESIDE_GUEST_MIB = 400
#: How much slower than the machine of the benchmarks a node may be.
SLOWER = 3
#: What a job is given on top, in minutes: to start, and for one run that is tried again.
SPARE_MIN = 10
#: Memory of the tidy stage in MB; it doesn't depend on the number of runs.
TIDY_MEMORY_MB = 2000
#: Time that the tidy stage takes for a run's document, in s.
TIDY_DOCUMENT_S = 0.05
#: What a compressed document takes of the disk, in kB: itself, for each flow, for each flow's sample of a time series.
DOCUMENT_KB, FLOW_KB, SAMPLE_KB = 6, 1.2, 0.026


def runs_per_job(resources: dict) -> int:
    """Return how many runs a job carries: ``--set-resources emulate_run:runs=N``, or 1.

    ``resources`` are what call and profile set for this rule, by name. Leave unless N is a whole number from 1 on.
    """
    value = resources.get("runs", 1)
    if not isinstance(value, int) or value < 1:
        shown = "an expression" if callable(value) else repr(value)
        sys.exit(said(f"set-resources: emulate_run: runs is {shown}; allowed are whole numbers from 1 on."))
    return value


def _specification(conditions):
    """Return the specification of a scenario's slowest runs: in IPv6 a packet carries less, so that a file takes longer."""
    return RunSpecification({"ip_version": "ipv6", **conditions})


def job_memory_mb(conditions) -> int:
    """Return what a job is to be given in MB: its guest at its full size, one at a time, and what is beside."""
    specification = _specification(conditions)
    return math.ceil((platform_of(specification).memory_mib(specification) + BESIDE_GUEST_MIB) * 1.048576)


def run_time_s(conditions) -> float:
    """Return about how many seconds of one core a run takes, rather too many."""
    specification = _specification(conditions)
    return platform_of(specification).run_time_s(specification)


def document_kb(conditions) -> float:
    """Return about how many kB a run's document takes, by what those of the shipped studies took."""
    specification = _specification(conditions)
    interval_ms = specification.traffic.sample_interval_ms
    samples = specification.expected_s * 1e3 / interval_ms if interval_ms else 0
    return DOCUMENT_KB + specification.connections * (FLOW_KB + SAMPLE_KB * samples)


def job_runtime_min(conditions, runs) -> int:
    """Return the minutes after which a scheduler may end a job of so many runs of a scenario."""
    return SPARE_MIN + math.ceil(SLOWER * runs * run_time_s(conditions) / 60)


def tidy_runtime_min(runs) -> int:
    """Return the minutes after which a scheduler may end the tidying of so many runs."""
    return SPARE_MIN + math.ceil(SLOWER * runs * TIDY_DOCUMENT_S / 60)


def wall_limit_s(conditions) -> int:
    """Return the real seconds after which a run of a scenario is ended, in whole seconds."""
    specification = _specification(conditions)
    return math.ceil(platform_of(specification).wall_limit_s(specification))
