"""Platform ``ns3``: run the simulation program for a version of ns-3 as an ordinary process.

The program depends only on things that are the same on every machine: a plan in an otherwise empty folder, two environment variables, and a
C library that computes the same results on every processor.
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

#: Folder in the image with the programs and libraries of each version.
VERSIONS_FOLDER = Path("/opt/ns3")
#: Setting that disables some processor instructions. Without them, the C library's functions (pow, exp, cbrt) round in the same way on all
#: x86-64 processors.
SAME_ARITHMETIC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
STEP = "simulator"
#: Time in s that a run without traffic takes, and additional time in s for each data packet on a fully used link. The latter includes the
#: time for the packet's acknowledgement, and suffices even if many packets are lost.
START_S = 0.3
PACKET_S = 150e-6
#: The program's memory in MiB without traffic, and additional memory in bytes for each packet in transit.
BASE_MEMORY_MIB = 64
PACKET_MEMORY_BYTES = 4000


def version(specification) -> str:
    """Return the version of ns-3, such as ``3.44``."""
    return specification.platform.partition(":")[2]


def packet_bytes(specification) -> int:
    """Return the approximate size of a full packet in bytes, regardless of the IP version.

    The size is approximate, because the IP version isn't known when a scheduler asks for the resources of several runs.
    """
    return (specification.transport.segment_bytes or MTU_BYTES - 52) + 66


def packets(specification) -> float:
    """Return the number of data packets that a fully used link passes during the run."""
    return specification.rate_mbps * 1e6 / 8 * specification.traffic.duration_s / packet_bytes(specification)


def run_time_s(specification) -> float:
    """Return the estimated real time of a run on one core, in s; it is an overestimate, because it assumes a fully used link."""
    return START_S + PACKET_S * packets(specification)


def wall_limit_s(specification) -> float:
    """Return the limit on a run's real time in s, which is many times the time that the slowest runs take."""
    return 120 + 20 * run_time_s(specification)


def memory_mib(specification) -> int:
    """Return an overestimate of a run's memory in MiB, including the packets in transit and the time series."""
    under_way = 2 * specification.rate_mbps * 1e6 / 8 * specification.rtt_longest_ms / 1e3 / packet_bytes(specification)
    under_way += specification.queue_packets or specification.queue_bytes / packet_bytes(specification)
    samples = 0
    if specification.traffic.sample_interval_ms:
        samples = (
            specification.flows * specification.traffic.duration_s * 1e3 / specification.traffic.sample_interval_ms
        )
    return BASE_MEMORY_MIB + int((PACKET_MEMORY_BYTES * under_way + 1000 * samples) / 2**20)


def digest(specification) -> str:
    """Return the digest of the program that executes a run: the specification's ``testbed_digest`` if set, otherwise a computed digest."""
    return specification.testbed_digest or program_digest()


def program_digest(of_packages=package_digest) -> str:
    """Return the digest of the code for simulated runs: this package and the testbed.

    ``of_packages`` is a function that computes a digest from folders.
    """
    return of_packages(*TESTBED, SIMULATOR)


def boot(specification, wall_limit_s, log) -> dict:
    """Run the simulator and return the run document; if the simulation fails, the document states the reason.

    Raises `testbed.machine.machine.GuestError` if the image contains no program for the version, or `MachineFault` if the machine
    terminated the program.

    Parameters
    ----------
    wall_limit_s : float
        Real time in s after which the program is terminated.
    log : binary file
        File to which the program's output is written.
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
    """Run the simulation program in the folder ``job``; return the reason if it fails, otherwise None.

    Raises `testbed.machine.machine.MachineFault` if the machine terminated the program.
    """
    environment = {"LC_ALL": "C", "GLIBC_TUNABLES": SAME_ARITHMETIC}
    command = [program, "plan", "counted.json"]
    status, printed = execute(command, STEP, job, environment, [core], wall_limit_s, log, workflow)
    if status == 0:
        return None
    if -status in (signal.SIGKILL, signal.SIGBUS):
        raise MachineFault(STEP, f"was ended by {signal.Signals(-status).name} (out of memory?)")
    # A failed assertion terminates ns-3 with SIGABRT; the same run would fail again.
    words = printed.decode(errors="replace").strip()
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    return f"{how}: {words.splitlines()[-1] if words else 'it gives no reason'}"


def counted(path) -> dict:
    """Return the program's output; raise `MachineFault` if it is incomplete (perhaps because the disk is full)."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, ValueError) as error:
        raise MachineFault(STEP, f"left no complete result: {error}") from None
