"""Platform ``ns3``: the simulation program for a version of ns-3 as an ordinary process.

The program's input doesn't depend on the machine: a plan in an empty folder, two environment variables, and a C library that computes the
same results on every processor.
"""

import json
import signal
from pathlib import Path

from experiment.packet_sizes import MTU_BYTES
from simulator import document
from simulator.plan import plan
from testbed.machine.execution import execute
from testbed.machine.failure import document_of
from testbed.machine.identity import SIMULATOR, TESTBED, package_digest
from testbed.machine.machine import GuestError, MachineFault, free_core, job_folder, workflow_process
from testbed.machine.messages import naming, note

#: Folder of the image with the programs and libraries of each version.
VERSIONS_FOLDER = Path("/opt/ns3")
#: Setting that turns off some processor instructions. Without them the C library's functions (pow, exp, cbrt) round in the same way on
#: all x86-64 processors.
SAME_ARITHMETIC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
STEP = "simulator"
#: Time in s that a run without traffic takes, and additional time in s for each data packet of a full link. The latter includes the
#: packet's acknowledgement, and applies when many packets are lost.
START_S = 0.3
PACKET_S = 150e-6
#: Memory of the program in MiB without traffic, and memory in bytes per packet in transit.
BASE_MEMORY_MIB = 64
PACKET_MEMORY_BYTES = 4000


def version(specification) -> str:
    """Return the version of ns-3, such as ``3.44``."""
    return specification.platform.partition(":")[2]


def packet_bytes(specification) -> int:
    """Return the approximate size of a full packet in bytes for either IP version.

    It is approximate because a scheduler's query doesn't refer to a single run yet.
    """
    return (specification.transport.segment_bytes or MTU_BYTES - 52) + 66


def packets(specification) -> float:
    """Return the number of data packets that a full link passes during the run."""
    return specification.rate_mbps * 1e6 / 8 * specification.traffic.duration_s / packet_bytes(specification)


def run_time_s(specification) -> float:
    """Return the estimated time in s of a run on one core. It is an overestimate, because it assumes a full link."""
    return START_S + PACKET_S * packets(specification)


def wall_limit_s(specification) -> float:
    """Return the wall-clock limit in s of a run. It is many times the duration of the slowest runs."""
    return 120 + 20 * run_time_s(specification)


def memory_mib(specification) -> int:
    """Return an overestimate of a run's memory in MiB, including packets in transit and time series."""
    under_way = 2 * specification.rate_mbps * 1e6 / 8 * specification.rtt_longest_ms / 1e3 / packet_bytes(specification)
    under_way += specification.queue_packets or specification.queue_bytes / packet_bytes(specification)
    samples = 0
    if specification.traffic.sample_interval_ms:
        samples = (
            specification.flows * specification.traffic.duration_s * 1e3 / specification.traffic.sample_interval_ms
        )
    return BASE_MEMORY_MIB + int((PACKET_MEMORY_BYTES * under_way + 1000 * samples) / 2**20)


def digest(specification) -> str:
    """Return the identity of the program that executes a run, from the specification if it has one, else computed here."""
    return specification.testbed_digest or program_digest()


def program_digest(of_packages=package_digest) -> str:
    """Return the identity of the code for simulated runs: this package and the testbed.

    ``of_packages`` is a function that computes an identity from folders.
    """
    return of_packages(*TESTBED, SIMULATOR)


def boot(specification, wall_limit_s, log) -> dict:
    """Run the simulator and return the run document. If the simulation fails, the document states the reason.

    Raises `testbed.machine.machine.GuestError` if the image has no program for the version, or `MachineFault` if the machine ended the
    program.

    Parameters
    ----------
    wall_limit_s : float
        Seconds of real time after which the program is ended.
    log : binary file
        File that receives the program's output.
    """
    folder = VERSIONS_FOLDER / version(specification)
    program = folder / "dumbbell"
    if not program.exists():
        raise GuestError(STEP, f"the image has no {program}")
    with workflow_process() as workflow, job_folder() as job, free_core(log, workflow) as core:
        with naming(job):
            (job / "plan").write_text(plan(specification))
        note(log, f"simulator: {program} on core {core}")
        made_by = (folder / "wheel").read_text(), digest(specification)
        failure = simulate(program, job, core, wall_limit_s, log, workflow)
        if failure:
            return document_of(specification.document, document.environment(specification, *made_by), STEP, failure)
        return document.compose(specification, counted(job / "counted.json"), *made_by)


def simulate(program, job, core, wall_limit_s, log, workflow) -> str | None:
    """Run the simulation program in the folder ``job``, and return the reason for a failure, or None.

    Raises `testbed.machine.machine.MachineFault` if the machine ended the program.
    """
    environment = {"LC_ALL": "C", "GLIBC_TUNABLES": SAME_ARITHMETIC}
    command = [program, "plan", "counted.json"]
    status, printed = execute(command, STEP, job, environment, [core], wall_limit_s, log, workflow)
    if status == 0:
        return None
    if -status in (signal.SIGKILL, signal.SIGBUS):
        raise MachineFault(STEP, f"was ended by {signal.Signals(-status).name} (out of memory?)")
    # A failed assertion ends ns-3 with SIGABRT; the same run would fail again.
    words = printed.decode(errors="replace").strip()
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    return f"{how}: {words.splitlines()[-1] if words else 'it gives no reason'}"


def counted(path) -> dict:
    """Return the program's output; raise `MachineFault` if it is incomplete (perhaps because the disk is full)."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, ValueError) as error:
        raise MachineFault(STEP, f"left no complete result: {error}") from None
