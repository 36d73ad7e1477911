"""Platform ``ns3``: the simulation program of a version as an ordinary process.

Nothing that it sees depends on the machine: a plan in an empty folder, hardly any
environment, and a C library that computes as on every processor.
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

#: Folder of the image -> programs and libraries of each version.
VERSIONS_FOLDER = Path("/opt/ns3")
#: Without these instructions the C library's functions (pow, exp, cbrt) round alike on all x86-64 processors.
SAME_ARITHMETIC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
STEP = "simulator"
#: A run without traffic, in s; and each data packet of a full link with its acknowledgement, while many are lost.
START_S = 0.3
PACKET_S = 150e-6
#: Memory of the program without traffic in MiB; and what a packet under way costs, in bytes.
BASE_MEMORY_MIB = 64
PACKET_MEMORY_BYTES = 4000


def version(specification) -> str:
    """Return the version of ns-3, such as ``3.44``."""
    return specification.platform.partition(":")[2]


def packet_bytes(specification) -> int:
    """Return about the bytes of a full packet, of either IP version: what a scheduler asks about is not a run yet."""
    return (specification.transport.segment_bytes or MTU_BYTES - 52) + 66


def packets(specification) -> float:
    """Return how many data packets a full link passes in the run."""
    return specification.rate_mbps * 1e6 / 8 * specification.traffic.duration_s / packet_bytes(specification)


def run_time_s(specification) -> float:
    """Return about how many seconds of one core a run takes, rather too many: as if its link were full."""
    return START_S + PACKET_S * packets(specification)


def wall_limit_s(specification) -> float:
    """Return the real seconds that a run may take: many times what the slowest need."""
    return 120 + 20 * run_time_s(specification)


def memory_mib(specification) -> int:
    """Return what a run needs of memory in MiB, rather too much: packets under way, and its time series."""
    under_way = 2 * specification.rate_mbps * 1e6 / 8 * specification.rtt_longest_ms / 1e3 / packet_bytes(specification)
    under_way += specification.queue_packets or specification.queue_bytes / packet_bytes(specification)
    samples = 0
    if specification.traffic.sample_interval_ms:
        samples = (
            specification.flows * specification.traffic.duration_s * 1e3 / specification.traffic.sample_interval_ms
        )
    return BASE_MEMORY_MIB + int((PACKET_MEMORY_BYTES * under_way + 1000 * samples) / 2**20)


def digest(specification) -> str:
    """Return the identity of the program that carries a run out: as handed over, computed here if nothing was."""
    return specification.testbed_digest or program_digest()


def program_digest(of_packages=package_digest) -> str:
    """Return the identity of what carries simulated runs out: this package and the testbed's; ``of_packages`` returns that of folders."""
    return of_packages(*TESTBED, SIMULATOR)


def boot(specification, wall_limit_s, log) -> dict:
    """Carry out a run in the simulator and return its document, or the one that says why it failed.

    Raises `testbed.machine.machine.GuestError` if the image has no such program; `MachineFault` if the machine ended
    it.

    Parameters
    ----------
    wall_limit_s : float
        Real seconds after which the program is ended.
    log : binary file
        Gets what the program says.
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
    """Run the simulation program in the folder ``job``; return why it failed, None if it did not.

    Raises `testbed.machine.machine.MachineFault` if the machine ended it.
    """
    environment = {"LC_ALL": "C", "GLIBC_TUNABLES": SAME_ARITHMETIC}
    command = [program, "plan", "counted.json"]
    status, printed = execute(command, STEP, job, environment, [core], wall_limit_s, log, workflow)
    if status == 0:
        return None
    if -status in (signal.SIGKILL, signal.SIGBUS):
        raise MachineFault(STEP, f"was ended by {signal.Signals(-status).name} (out of memory?)")
    # An assertion of ns-3 that failed ends it with SIGABRT; the same run would fail again.
    words = printed.decode(errors="replace").strip()
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    return f"{how}: {words.splitlines()[-1] if words else 'it gives no reason'}"


def counted(path) -> dict:
    """Return what the program wrote; raise `MachineFault` if it is not whole (no room?)."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, ValueError) as error:
        raise MachineFault(STEP, f"left no whole result: {error}") from None
