"""The program that executes a run as root in the guest.

`main` reads ``specification.json`` and ``testbed_digest`` from a folder and writes ``document.json`` to the same folder. If the run
fails, `main` writes ``failure.json`` instead, with the failed step and the reason. The program is started by the guest's first process
(envs/guest/init), or by `host_init` as ``python3 -m testbed.guest FOLDER``.
"""

import contextlib
import json
import logging
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from mininet.net import Mininet
from mininet.util import numCores

from experiment import own_kernels
from experiment.specification import DOCUMENT_VERSION, RunSpecification
from testbed.checks import verification
from testbed.checks.read_back_checks import counted_otherwise
from testbed.checks.unchanged_checks import changed
from testbed.machine.surroundings import surroundings_of
from testbed.network import chain, links, multipath, topology, transport
from testbed.network.commands import log
from testbed.network.outage import Outage
from testbed.network.path_changes import PathChanges
from testbed.readings import probes
from testbed.readings.cca_parameters import cca_parameters
from testbed.traffic import traffic
from testbed.traffic.background import Background

#: Names of the files that request packet captures and kernel events.
PACKETS, TRACE = "packets.json", "trace.json"

#: Limits on open files: per pair of hosts (for clients, servers and readers), for everything else, and minimum total.
OPEN_FILES_OF_A_PAIR, OTHER_OPEN_FILES, LEAST_OPEN_FILES = 10, 640, 1280


class Steps:
    """Progress of a run: the current step, which a failure report names, and the run's ``environment`` once it is known."""

    def __init__(self):
        self.current, self.environment = "start", None

    def __call__(self, name):
        self.current = name
        log(f"--- {name}")


def carry_out(specification, step, folder=None) -> dict:
    """Execute the steps of a run and return its document.

    ``step`` is called with the name of each step when the step begins. The files `PACKETS` and `TRACE` in ``folder`` request recordings,
    which are written to the same folder.
    """
    step("environment")
    surroundings = surroundings_of(specification)
    surroundings.fall_into_step()
    step.environment = surroundings.describe(specification.testbed_digest) | own_kernels.process_mode(specification)
    # Mininet would start a program to count the cores.
    numCores.ncores = os.cpu_count()
    # Mininet raises the kernel's limits when it starts, so set ours afterwards.
    net = Mininet(controller=None, host=surroundings.host)
    # Mininet sets this limit to 16,384, and closes that many descriptors for every host that it starts.
    most = max(LEAST_OPEN_FILES, OPEN_FILES_OF_A_PAIR * len(specification.pairs) + OTHER_OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    surroundings.prepare(specification)
    dropped_before = probes.backlog_drops()

    step("topology")
    path = topology.build(specification, net)
    multipath.set_up(path, specification)

    step("transport")
    for host in path.end_hosts:
        transport.configure_host(host, specification)

    step("read back")
    network = {
        "set": as_set(path, specification),
        "read_back": read_back(path, specification) | surroundings.network(path),
    }

    meters = program_meters(path, specification)
    recordings = [*packet_captures(path, specification, folder), *meters, *kernel_traces(path, folder)]

    step("idle RTT")
    # The number of values read back, such as parameters of a CCA, must not affect the following steps.
    surroundings.fall_into_step()
    idle = probes.idle_rtt(path, specification)

    step("traffic")
    if specification.program_flows:
        go_first()
    with group_programs(path, specification, folder) as programs:
        before, outage = probes.link_counters(path, specification), Outage(path, specification)
        for recording in recordings:
            recording.begin()
        with (
            Background(path, specification) as background,
            PathChanges(path, specification) as changes,
            surroundings.traffic() as origin,
        ):
            carry = carry_per_side() if specification.per_side else traffic.carry
            carried = carry(path, specification, origin, programs, (changes, outage), recordings)
        groups = programs.sections() if programs else {}
    processes, looks, series, delivered = carried
    for recording in recordings:
        recording.end()
    after = probes.link_counters(path, specification)
    stack = probes.stack_counters(path, dropped_before)
    again = read_back(path, specification) | surroundings.network(path)
    network |= {"changed": different} if (different := changed(network["read_back"], again)) else {}

    step("probe")
    in_place = not counted_otherwise(network["set"], {"after": after})
    afterwards = surroundings.probe(path, specification) if in_place else {}

    step("verification")
    document = {
        "schema_version": DOCUMENT_VERSION,
        "specification": specification.document,
        "environment": step.environment,
        "network": network,
        "idle_rtt": idle,
        "traffic": processes,
        "sockets": looks,
        **({"delivered": delivered} if delivered else {}),
        **({"series": series} if series else {}),
        **({"timeline": changes.result} if changes.result else {}),
        **surroundings.sections(path),
        **({"background": background.result} if background.result else {}),
        **groups,
        **{meter.name: meter.section() for meter in meters},
        **({"outage": outage.result} if outage.result else {}),
        "links": {"before": before, "after": after},
        "stack": stack,
        **afterwards,
    }
    document |= loss_bursts(specification, document)
    document["verdict"] = verification.judge(specification, document)
    for recording in recordings:
        recording.close()
    if programs:
        programs.keep_logs()
    return document


def go_first() -> None:
    """Give this process priority over all other processes while it has work to do.

    Each reading of the clock advances the clock by 256 ns. Without priority, another program could run first whenever this process makes a
    system call, has a page fault or collects garbage, and this process would then read and act at different times. Capturing packets would
    thus change a run's document.
    """
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def carry_per_side() -> Callable:
    """Return the function that carries the traffic of a run with ``processes: per-side``, in which two programs carry all flows."""
    # Imported here because other runs don't need it.
    from testbed.traffic.both_sides import carry_per_side

    return carry_per_side


def packet_captures(path, specification, folder) -> list:
    """Return a list with the run's packet capture, or an empty list if no capture was requested."""
    if not folder or not (folder / PACKETS).exists():
        return []
    # Imported here because other runs don't need it.
    from testbed.readings.packet_capture import PacketCapture

    return [PacketCapture(path, specification, json.loads((folder / PACKETS).read_text()), folder / "packets")]


def kernel_traces(path, folder) -> list:
    """Return a list with the run's kernel trace, or an empty list if no trace was requested."""
    if not folder or not (folder / TRACE).exists():
        return []
    # Imported here because other runs don't need it.
    from testbed.readings.kernel_trace import KernelTrace

    return [KernelTrace(path, json.loads((folder / TRACE).read_text()), folder / "trace")]


def loss_bursts(specification, document) -> dict:
    """Return a dict with the document's section ``loss_bursts``; it is empty for a run without loss bursts."""
    if not specification.has_loss_bursts:
        return {}
    # Imported here because other runs don't need it.
    from testbed.checks import loss_replay

    return {"loss_bursts": loss_replay.loss_bursts(specification, document)}


def program_meters(path, specification) -> list:
    """Return a list with the readers of the declared programs' packets and TCP sockets; it is empty for a run without such programs.

    Also make the programs' hosts segment UDP super-packets.
    """
    if not specification.program_flows:
        return []
    # Imported here because other runs don't need it.
    from testbed.network.udp_segmentation import cut_datagrams
    from testbed.readings.flow_packets import PacketMeter, interface_of
    from testbed.readings.program_sockets import ProgramSockets

    for host in sorted({host for flow in specification.program_flows for host in flow.pair.ends}):
        cut_datagrams(interface_of(path, host))
    sockets = [ProgramSockets(path, specification)] if specification.tcp_program_flows else []
    return [PacketMeter(path, specification), *sockets]


def group_programs(path, specification, folder) -> contextlib.AbstractContextManager:
    """Return a context manager that yields the programs of a run's groups, or None for a run without groups.

    ``folder`` is the run's folder.
    """
    if not specification.groups:
        return contextlib.nullcontext()
    # Imported here because other runs don't need it.
    from testbed.traffic.group_programs import GroupPrograms

    return GroupPrograms(path, specification, folder)


def as_set(path, specification) -> dict:
    """Return the intended settings of each interface and, for each network effect, the interfaces that apply it."""
    netem = {d: [i.name for i in devices] for d, devices in path.netem.items()}
    return {
        "qdiscs": {name: device.expected() for name, device in path.devices.items()},
        "bottleneck": {d: [i.name for i in interfaces] for d, interfaces in path.bottleneck.items()},
        "netem": netem,
        **({"arrivals": path.arrivals} if path.arrivals else {}),
        **({"chain": chain.as_set(specification, netem)} if specification.is_chain else {}),
        **({"policer": policed} if (policed := path.policers) else {}),
    }


def read_back(path, specification) -> dict:
    """Return the settings of interfaces and hosts, read back from the kernel."""
    return {
        "interfaces": links.read_back(path),
        "hosts": {host.name: transport.read_back(host, specification) for host in path.end_hosts},
        **({"cca_parameters": cca_parameters(specification)} if specification.definitions else {}),
        **({"multipath": joined} if (joined := multipath.read_back(path, specification)) else {}),
    }


def main(folder) -> None:
    """Execute the run in ``folder`` and write either ``document.json`` or ``failure.json``."""
    folder = Path(folder)
    # Mininet logs to a separate handler, but errors belong in the run's log.
    logging.getLogger("mininet").setLevel(logging.WARNING)
    step = Steps()
    try:
        step("specification")
        document = json.loads((folder / "specification.json").read_text())
        specification = RunSpecification(document, testbed_digest=(folder / "testbed_digest").read_text())
        result, name = carry_out(specification, step, folder), "document.json"
    except Exception as error:
        log(traceback.format_exc())
        result, name = {"step": step.current, "cause": f"{error}", "kind": type(error).__name__}, "failure.json"
        result["environment"] = step.environment
    (folder / name).write_text(json.dumps(result, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
