"""Platform ``uml``: the guest kernel as an ordinary process with a virtual clock.

The guest's clock advances only while the guest is idle (``time-travel=inf-cpu``), so neither the speed nor the load of the machine affects
a result. Everything that the guest can see is fixed or determined by the run. For example, the guest can read its command line, so the
command line must be the same on every machine.
"""

import math
import os
import signal
from collections.abc import Callable
from pathlib import Path

from experiment.definitions import boot_arguments
from experiment.flow_groups import LONG, PROGRAM
from experiment.own_kernels import has_seccomp, kernel_words, process_mode
from testbed.machine import closed_off
from testbed.machine.crash import crashed, last_words, trace_words
from testbed.machine.environment import describe_unbooted, kernel_of
from testbed.machine.execution import EndlessLoop, execute
from testbed.machine.failure import CRASH, NOT_ENDED, document_of
from testbed.machine.handover import hand_over, result
from testbed.machine.identity import program_identity
from testbed.machine.machine import (
    SHARED_MEMORY,
    ConsoleFull,
    GuestError,
    MachineFault,
    free_core,
    job_folder,
    may_have_huge_pages,
    memory_folder,
    mount_huge_pages,
    workflow_process,
)
from testbed.machine.messages import note

KERNEL = "/usr/lib/sawtooth/linux"
RANDOMNESS = "/usr/lib/sawtooth/getrandom.so"
INIT = "/usr/lib/sawtooth/init"
#: Environment variable that, if set to 1, allows custom kernels and declared programs on a machine that can't isolate them.
OPEN_VARIABLE = "SAWTOOTH_OPEN_KERNELS"
#: Time at which every guest starts, 2023-11-14T22:13:20Z, in ns.
START_NS = 1_700_000_000_000_000_000
#: Memory in MiB of a guest with hardly any traffic, including space for `READINGS` socket readings.
BASE_MEMORY_MIB = 512
#: Memory in MiB of a group's programs (nginx and a web client, or a real-time sender and receiver) with thousands of connections
#: or packets.
GROUP_MEMORY_MIB = 256
#: Memory in MiB of a flow with two threads: the threads' kernel and Python stacks, two sockets, and the flow's readings.
THREADS_MIB = 0.25
#: Memory in MiB for starting a flow of a declared program and counting its packets: two launchers, rings and written files. The memory of
#: the program itself is declared.
PROGRAM_MEMORY_MIB = 256
#: Bytes of memory per payload byte in flight, in a guest without segmentation offload: sk_buffs in
#: queues, in the sender's retransmit queue and in the receiver's out-of-order queue.
MEMORY_PER_BYTE = 8
#: BDPs in flight while BBR searches for the rate (draft-cardwell-iccrg-bbr-congestion-control: a gain of 2/ln 2), rounded up.
BBR_STARTUP_BDPS = 3
#: Assumed total rate of all flows, in Mbit/s, if only the kernel's speed limits them (platform ``host``).
UNLIMITED_MBPS = 10_000
#: Real time in s that a run takes without traffic, and additional time in s for each further host and for each packet on a fully used
#: link. These are the slowest cases in benchmarks/README.md.
START_S = 2
HOST_S = 0.5
PACKET_S = 16e-6
#: Memory in bytes that the guest's program needs for a reading of a socket: as numbers, as Python objects and as text.
MEMORY_PER_READING_BYTES = 2000
#: Number of readings up to which the guest's memory is the same with and without time series. The guest can see the
#: size of its memory, and a run shouldn't depend on the frequency of readings.
READINGS = 65_000
#: CPU time that a guest with third-party code may use, as a share of its wall-clock limit. A kernel that loops endlessly is thus terminated
#: regardless of the machine's load.
MOST_CPU = 0.25


def memory_mib(specification) -> int:
    """Return the size of a guest's memory in MiB.

    The size depends only on the specification, because the guest can see it. Unused memory costs the machine nothing.
    """
    rate_mbps = specification.most_total_rate_mbps
    if rate_mbps is None:
        bitrate_mbps = specification.traffic.bitrate_mbps
        rate_mbps = UNLIMITED_MBPS if bitrate_mbps is None else specification.flows * bitrate_mbps
    queues = (
        (one.queue_packets_in(way) or 0) * one.largest_packet_bytes + (one.queue_bytes_in(way) or 0)
        for one in specification.bottlenecks
        for way in one.ways_apart
    )
    ccas = [*specification.document.get("cca", "").split("+"), *(group.cca for group in specification.groups)]
    ccas += [specification.chain.cross_cca or ""] if specification.is_chain else []
    # A custom CCA may send as much as any other.
    changed = specification.kernel and (specification.kernel["patches"] or "tree" in specification.kernel)
    eager = any("bbr" in specification.kernel_cca(cca) for cca in ccas) or specification.sources or changed
    bdps = BBR_STARTUP_BDPS if eager else 1
    rtt_ms = specification.rtt_path_ms
    if specification.is_chain or specification.timeline:
        rtt_ms = specification.rtt_most_ms
    under_way = bdps * rate_mbps * 1e6 / 8 * rtt_ms / 1e3 + 2 * sum(queues)
    packets_mib = 64 * (1 + int(MEMORY_PER_BYTE * under_way / 2**20) // 64)
    interval_ms = specification.traffic.sample_interval_ms
    readings = specification.sampled_connections * specification.expected_s * 1e3 / interval_ms if interval_ms else 0
    samples_mib = 64 * math.ceil(MEMORY_PER_READING_BYTES * max(0, readings - READINGS) / 2**20 / 64)
    flow_mib = THREADS_MIB if specification.per_side else 16
    hosts_mib = math.ceil(flow_mib * specification.flows) + 8 * len(specification.pairs)
    hosts_mib += GROUP_MEMORY_MIB * sum(group.application not in (LONG, PROGRAM) for group in specification.groups)
    programs = specification.groups_of(PROGRAM)
    hosts_mib += sum(group.count * (PROGRAM_MEMORY_MIB + 2 * group.program["memory_mib"]) for group in programs)
    return BASE_MEMORY_MIB + packets_mib + samples_mib + hosts_mib


def run_time_s(specification) -> float:
    """Return the estimated duration of a run on one core, in s.

    The estimate is conservative, because it assumes that the link is always full.
    """
    return START_S + more_hosts_s(specification) + PACKET_S * full_packets(specification)


def full_packets(specification) -> float:
    """Return the number of packets that cross the run's links if the links are always full."""
    mbps = specification.most_total_rate_mbps or specification.flows * specification.traffic.bitrate_mbps
    # Each small message is sent as a separate packet.
    small = specification.udp or specification.transport.segment_bytes
    size = specification.packet_bytes if small else specification.largest_packet_bytes
    return mbps * 1e6 / 8 * specification.expected_s / size


def more_hosts_s(specification) -> float:
    """Return the time in s for starting all hosts except the first pair and reading back their settings."""
    return 2 * HOST_S * (len(specification.pairs) - 1)


def digest(specification) -> str:
    """Return the digest of the program that executes a run."""
    return program_identity(specification)


def wall_limit_s(specification) -> float:
    """Return the time limit of a run in s of real time, which is many times the duration of the slowest runs."""
    many_s = 10 * PACKET_S * full_packets(specification) if specification.per_side else 0
    return 120 + 30 * specification.expected_s + 5 * more_hosts_s(specification) + many_s


def kernel_file(specification) -> str:
    """Return the path of a run's guest kernel: the image's kernel, or a custom kernel of the study.

    Raises `GuestError` if the custom kernel was not built.
    """
    if (name := kernel_of(specification)) is None:
        return KERNEL
    path = specification.kernels and specification.kernels / name / "linux"
    if not (path and path.exists()):
        parts = [
            *([kernel_words(specification.kernel)] if specification.kernel else []),
            *(one.source for one in specification.sources),
        ]
        raise GuestError("guest", f"the run's kernel {name} ({' with '.join(parts)}) was not built")
    return str(path.absolute())


def command_line(specification) -> list[str]:
    """Return the command that starts the guest kernel of a run."""
    seccomp, more = has_seccomp(specification.kernel), boot_arguments(specification)
    return guest_command(
        kernel_file(specification), memory_mib(specification), seccomp, more, specification.has_own_kernel
    )


def guest_command(linux, size_mib, seccomp, more=(), loud=False) -> list[str]:
    """Return the command that starts a guest kernel.

    Parameters
    ----------
    linux : str
        Path of the kernel.
    size_mib : int
        Size of the guest's memory in MiB.
    seccomp : bool
        Whether the kernel controls its processes with seccomp.
    more : sequence of str
        Further arguments of the kernel.
    loud : bool
        Whether the console shows all kernel messages except debugging messages. These include the source line of a BUG() and the address of
        a faulting instruction, which are otherwise hidden.
    """
    return [
        linux,
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={INIT}",
        # The kernel passes unknown arguments to its first process; this argument gives sets the same order in every run.
        "PYTHONHASHSEED=0",
        f"mem={size_mib}M",
        "time-travel=inf-cpu",
        f"time-travel-start={START_NS}",
        *(["seccomp=on"] if seccomp else []),
        *more,
        "con=null",
        "con0=null,fd:1",
        "quiet",
        *(["loglevel=7"] if loud else []),
    ]


def guest_environment(job, memory, seed) -> dict[str, str]:
    """Return the complete environment of a guest kernel.

    Parameters
    ----------
    job : pathlib.Path
        Folder for the kernel's files. The kernel creates ``~/.uml`` there, and crashes if it can't.
    memory : str
        Folder for the guest's memory.
    seed : int
        Seed of the guest's random numbers.
    """
    return {
        "HOME": str(job),
        "TMPDIR": memory,
        "PATH": "/usr/bin:/bin",
        "LD_PRELOAD": RANDOMNESS,
        "SAWTOOTH_GUEST_SEED": str(seed),
    }


def boot(specification, wall_limit_s, log, packets=None, trace=None) -> dict:
    """Execute a run in a guest and return its document.

    If a guest with third-party code crashes or loops endlessly, the document reports this failure, because a second try would fail in the
    same way.

    Parameters
    ----------
    wall_limit_s : float
        Time limit of the guest, in s of real time.
    log : binary file
        Log of the run, to which the guest's console is written.
    packets : PacketsAsked, optional
        Requested packet captures.
    trace : TraceAsked, optional
        Requested kernel events, and the kernel that can trace them.

    Raises
    ------
    GuestError
        If the guest could not execute the run.
    MachineFault
        If another try may succeed.
    """
    with workflow_process() as workflow, job_folder() as job, free_core(log, workflow) as core:
        hand_over(specification, job)
        recordings = [asked for asked in (packets, trace) if asked]
        for asked in recordings:
            asked.ask(job)
        command = command_line(specification)
        if trace:
            command[0] = str(trace.kernel)
        memory = memory_folder(BASE_MEMORY_MIB)
        huge_pages = may_have_huge_pages(memory)
        prepare = mount_huge_pages if huge_pages else None
        if specification.runs_foreign_code:
            prepare, memory = closed_off_in(job, huge_pages), memory if memory == SHARED_MEMORY else str(job)
        note(
            log,
            f"guest: {' '.join(command)} on core {core}, memory in {memory}{' with huge pages' if huge_pages else ''}",
        )
        environment = guest_environment(job, memory, specification.substream("guest"))
        # The guest's processes are children of the guest kernel, in its session.
        is_foreign = specification.runs_foreign_code
        status, printed, cpu_s = None, b"", MOST_CPU * wall_limit_s if is_foreign else None
        try:
            status, printed = execute(
                command, "guest", job, environment, [core], wall_limit_s, log, workflow, prepare, cpu_s, is_foreign
            )
            document = result(specification, job, status, says_why=crashed(printed))
            for asked in recordings:
                asked.take(job)
            return document
        except ConsoleFull as error:
            if not is_foreign:
                raise
            return document_of_end(specification, error.cause, CRASH)
        except MachineFault as fault:
            if not is_foreign or fault.document is not None:
                raise
            printed, spun, crash = fault.printed or printed, status == -signal.SIGXCPU, crashed(printed)
            kind, cause, words = (NOT_ENDED if status is None else CRASH), fault.cause, last_words(printed)
            if looped := isinstance(fault, EndlessLoop):
                words = trace_words(printed)
            elif spun:
                kind, cause = NOT_ENDED, f"did not end within its limit of {cpu_s:g} s of CPU time"
            elif crash:
                cause = "the guest kernel crashed"
            fault.document = document_of_end(specification, cause + words, kind)
            if spun or looped or crash:
                return fault.document
            raise


def closed_off_in(job, huge_pages) -> Callable:
    """Return the function that isolates a guest with third-party code before the guest starts (`closed_off.close_off`).

    If this machine can't isolate the guest but `OPEN_VARIABLE` is set to 1, the function doesn't isolate it.

    Raises
    ------
    GuestError
        If this machine can't isolate the guest and `OPEN_VARIABLE` isn't set to 1.
    """
    if why := closed_off.problem(job, huge_pages):
        if os.environ.get(OPEN_VARIABLE) == "1":
            return mount_huge_pages if huge_pages else lambda: None
        raise GuestError(
            "guest",
            f"the study's own kernel or program may come from a third party, and this machine can't isolate it from your files ({why}); "
            f"if you trust it, {OPEN_VARIABLE}=1 starts it without isolation",
        )
    return lambda: closed_off.close_off(job, huge_pages)


def document_of_end(specification, cause, kind) -> dict:
    """Return the document of a failed run whose guest, with third-party code, left no document (`failure.document_of`)."""
    environment = describe_unbooted(Path(kernel_file(specification)), kernel_of(specification), digest(specification))
    return document_of(specification.document, environment | process_mode(specification), "guest", cause, kind)
