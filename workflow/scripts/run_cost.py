"""What a run asks of a machine: memory and time, for schedulers that want to know beforehand."""
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from testbed.platforms import platform_of  # noqa: E402
from testbed.specification import RunSpecification  # noqa: E402

#: Of container, Python and the workflow's own process on the node, beside the guest, in MiB.
BESIDE_GUEST_MIB = 400
#: How much slower than the machine of the benchmarks a node may be.
SLOWER = 3
#: What a job is given on top, in minutes: to start, and for one run that is tried again.
SPARE_MIN = 10
#: Of tidying, whatever the number of runs, in MB; and of a run's document, in s.
TIDY_MEMORY_MB = 2000
TIDY_DOCUMENT_S = 0.05


def runs_per_job(set_resources):
    """Return how many runs a job carries: ``--set-resources emulate_run:runs=N``, or 1.

    Parameters
    ----------
    set_resources : mapping
        Rule -> resource -> value, as Snakemake got it from command line and profile.

    Raises
    ------
    SystemExit
        If it is no whole number from 1 on.
    """
    of_rule = set_resources["emulate_run"] if "emulate_run" in set_resources else {}
    value = of_rule["runs"] if "runs" in of_rule else 1
    value = getattr(value, "value", value)
    if not isinstance(value, int) or value < 1:
        sys.exit(f"sawtooth: set-resources: emulate_run: runs is {value!r}; allowed are whole numbers from 1 on.")
    return value


def specification_of(conditions):
    """Return the specification of a scenario's slowest runs: in IPv6 a packet carries less, so that a file takes longer."""
    return RunSpecification({"ip_version": "ipv6", **conditions})


def job_memory_mb(conditions):
    """Return what a job is to be given in MB: its guest at its full size, one at a time, and what is beside.

    Parameters
    ----------
    conditions : dict
        What the specifications of a scenario's runs share (`study_runs.run_conditions`).
    """
    specification = specification_of(conditions)
    return math.ceil((platform_of(specification).memory_mib(specification) + BESIDE_GUEST_MIB) * 1.048576)


def run_time_s(conditions):
    """Return about how many seconds of one core a run takes, rather too many."""
    specification = specification_of(conditions)
    return platform_of(specification).run_time_s(specification)


def job_runtime_min(conditions, runs):
    """Return the minutes after which a scheduler may end a job of so many runs of a scenario."""
    return SPARE_MIN + math.ceil(SLOWER * runs * run_time_s(conditions) / 60)


def tidy_runtime_min(runs):
    """Return the minutes after which a scheduler may end the tidying of so many runs."""
    return SPARE_MIN + math.ceil(SLOWER * runs * TIDY_DOCUMENT_S / 60)


def wall_limit_s(conditions):
    """Return the real seconds after which a run of a scenario is ended, in whole seconds."""
    specification = specification_of(conditions)
    return math.ceil(platform_of(specification).wall_limit_s(specification))
