"""Platform ``host``: runs on this machine's own kernel and clock.

A run is executed in separate user, network, mount and process namespaces inside its container, and its program is root in these namespaces.
Creating them needs no privileges. (On a machine without user namespaces, root creates only the other three.) The run has exclusive use of
the machine: no other run, of any workflow, is executed at the same time. Measurements depend on the machine and its load, so two runs with
the same seed don't give the same bytes.
"""

import os
import subprocess
import time

from testbed.machine.execution import execute
from testbed.machine.handover import hand_over, result
from testbed.machine.identity import program_identity
from testbed.machine.machine import MachineFault, job_folder, whole_machine, workflow_process
from testbed.machine.messages import note
from testbed.machine.uml import memory_mib, more_hosts_s  # noqa: F401  (packets in flight need the same memory in any kernel)
from testbed.traffic.client_plan import time_limit_s

#: Command that starts the run's first process in separate namespaces, which end with it (unshare(1)), and options that make it root there.
NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child"]
AS_ROOT_OF_THEM = ["--user", "--map-root-user"]
#: Duration in s of a run without traffic: starting the container, building the network, readings, and 10 pings.
START_S = 5
#: Time in s, in addition to the traffic's limit (`traffic.time_limit_s`), for start-up and for terminating hung processes.
SPARE_S = 180


#: If the difference between the time of day and the monotonic clock changes by more than this, in s, the clock was set or the machine
#: slept. The value must not be below the resolution of the readings.
STEP_S = 1e-3
#: Number of readings of both clocks, of which only the fastest is used.
CLOCK_READINGS = 10


def run_time_s(specification) -> float:
    """Return the estimated duration of a run in s: start-up plus traffic, which takes its full duration under a real clock."""
    return START_S + more_hosts_s(specification) + specification.expected_s


def wall_limit_s(specification) -> float:
    """Return the time limit of a run, in s of real time."""
    return SPARE_S + 2 * more_hosts_s(specification) + time_limit_s(specification)


def digest(specification) -> str:
    """Return the digest of the program that executes a run."""
    return program_identity(specification)


def namespaces_here() -> list[str]:
    """Return `NAMESPACES` with options for a user namespace, unless this user is root and can't create one."""
    can = subprocess.run(["unshare", "--user", "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    return NAMESPACES if os.geteuid() == 0 and not can else [*NAMESPACES, *AS_ROOT_OF_THEM]


def boot(specification, wall_limit_s, log) -> dict:
    """Execute a run under this machine's kernel and return its document.

    Parameters
    ----------
    wall_limit_s : float
        Time limit of the run, in s of real time.
    log : binary file
        Log for the output of the run's program.

    Raises
    ------
    GuestError
        If the run crashed, hung, or could not be executed.
    """
    with workflow_process() as workflow, job_folder() as job, whole_machine(log, workflow) as cores:
        hand_over(specification, job)
        namespaces = namespaces_here()
        note(log, f"host: {' '.join(namespaces)} on cores {', '.join(map(str, cores))}, load {os.getloadavg()[0]:.2f}")
        command = [*namespaces, "python3", "-B", "-m", "testbed.machine.host_init", str(job)]
        before_s = clock_difference_s()
        # All other processes in the namespaces end with the first one.
        status, _ = execute(command, "host", job, {"PATH": "/usr/bin:/bin"}, cores, wall_limit_s, log, workflow)
        # ping and the kernel's packet timestamps use the time of day.
        if abs(step_s := clock_difference_s() - before_s) > STEP_S:
            raise MachineFault(
                "host",
                f"the machine's clock jumped by {step_s:+.3f} s during the run: it was set, or the machine slept",
            )
        return result(specification, job, status, "host", "the run's first process")


def clock_difference_s() -> float:
    """Return the time of day minus the monotonic clock, in s.

    The difference is constant unless the clock is set or the machine sleeps.
    """
    readings = []
    for _ in range(CLOCK_READINGS):
        before_ns, day_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        readings.append((after_ns - before_ns, day_ns - before_ns))
    return min(readings)[1] / 1e9
