"""Start the servers and clients of a run's application, read their sockets while they run, and wait until they have ended."""

import bisect
import itertools
import math
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import NotEndedError, TrafficError
from testbed.network.addresses import destination
from testbed.network.commands import check_not_killed, log
from testbed.network.netlink import network_namespace
from testbed.readings.deliveries import PARTS, Deliveries, reading_times_ns
from testbed.readings.sampling import Sampler, connections_of_senders
from testbed.traffic import file_transfer, iperf3, round_trip
from testbed.traffic.alarm import Alarm
from testbed.traffic.client_plan import (
    GRACE_S,
    application_of,
    look_times_s,
    plan_clients,
    set_up_rtts,
    start_within_s,
    time_limit_s,
)

#: State TCP_LISTEN in /proc/net/tcp.
LISTENING = "0A"
#: Kind of the events that change a path. These events come first among simultaneous events.
OF_PATH = -1


@dataclass(frozen=True)
class Output:
    """The result of a process.

    ``text`` is the standard output, and ``errors`` the error output. ``ended_s`` is the time at which the last client had ended, in s
    since the traffic's origin.
    """

    status: int
    text: str
    errors: str
    ended_s: float | None = None


def carry(
    path, specification, origin=time.monotonic_ns, programs=None, changes=(), recordings=(), folder=Path("/tmp")
) -> tuple[list[dict], list[dict], dict | None, dict | None]:
    """Start all servers and clients, read sockets while they run, and collect the results.

    Parameters
    ----------
    path : topology.NetworkPath
        The network.
    specification : RunSpecification
        Specification of the run.
    origin : callable
        Function that is called once, at the origin of all times, and returns the monotonic clock in ns.
    programs : group_programs.GroupPrograms, optional
        Programs of all groups except groups of long flows. They receive the origin, and the traffic continues until they have ended.
    changes : iterable
        Objects that change the path (`path_changes.PathChanges`, `outage.Outage`).
    recordings : iterable
        Objects that record the run (`packet_capture.PacketCapture`, `kernel_trace.KernelTrace`).
    folder : Path
        Folder for the output of servers and clients.

    Returns
    -------
    entries : list of dict
        One entry per client: ``flows``, ``sender``, ``receiver``, ``cca``, ``port``, ``start_offset_ms``, and the results from ``entry``
        of the application's module.
    looks : list of dict
        Socket readings: ``time_s`` since the traffic's origin, and ``sockets``, the senders' data connections.
    series : dict or None
        Time series in the form of `sampling.Sampler.series`; None if the study requests none.
    delivered : dict or None
        Deliveries in the form of `deliveries.Deliveries.result`; None except for iperf3 over TCP.

    Raises
    ------
    TrafficError
        If a server doesn't listen, or a client or server fails or doesn't end.
    KilledError
        If a signal killed a client or a server.
    """
    application, clients = application_of(specification), plan_clients(specification)
    servers = {}
    for client in clients:
        node, _ = nodes_of(path, specification, client)
        command = application.server_command(client, specification)
        servers[client.port] = start(node, command, folder / f"server-{client.port}")
    wait_for_listeners(path, specification, clients)
    expected = connections_of_senders(specification)
    with Sampler(path, specification) as sampler, Deliveries(path, specification, expected) as deliveries:
        origin_ns = origin()
        others = programs.begin(origin_ns) if programs else ()
        senders, ended = start_and_sample(
            path, specification, clients, sampler, deliveries, origin_ns, folder, others, changes, recordings
        )
    deadline = time.monotonic() + GRACE_S
    entries = [
        entry_of(
            client,
            specification,
            senders[client.port],
            servers[client.port],
            folder,
            deadline,
            (senders, servers),
            ended,
        )
        for client in clients
    ]
    flows = application.connections(entries, sampler.seen())
    return entries, sampler.looks(flows), sampler.series(flows), deliveries.result(flows)


def nodes_of(path, specification, client) -> tuple:
    """Return the node of a client's server, and the node of the client."""
    pair = specification.flow_pair(client.flows[0])
    sender, receiver = path.net[pair.sender], path.net[pair.receiver]
    return (receiver, sender) if application_of(specification).CLIENT_ON == "sender" else (sender, receiver)


def start_and_sample(
    path, specification, clients, sampler, deliveries, origin_ns, folder, others=(), changes=(), recordings=()
) -> tuple[dict[int, subprocess.Popen], float]:
    """Start clients, change the path and read sockets at the planned times, until all clients have ended.

    The order of simultaneous events is: changes to the path, starts of clients, socket readings (looks), samples of time series. Waiting
    doesn't read the clock. Each reading of the clock would advance the guest's clock by 256 ns (arch/um/kernel/time.c), so a run's times
    would depend on the number of socket readings.

    Returns ``processes`` (port -> the client's process) and ``ended_s``, the time at which the last client had ended, in s since the
    traffic's origin. Raises `NotEndedError` if a client does not end.
    """
    application, interval_ms = application_of(specification), specification.traffic.sample_interval_ms
    events = [] if specification.per_side else [(client.start_offset_s, 0, client) for client in clients]
    if application is not round_trip and not specification.udp:
        looks_s = look_times_s(clients, specification)
        events += [(at, 1, sampler.look) for at in looks_s]
        if application is file_transfer:
            events += [(at, 1, on_and_on(sampler.look_for_more, events)) for at in looks_s[-1:]]
    if application is iperf3 and clients and not specification.udp:

        def read(at_s):
            # Only a real clock is read, because reading a virtual clock would advance it.
            deliveries.read(round(at_s * 1e9) if specification.virtual_clock else time.monotonic_ns() - origin_ns)

        starts_s = [client.start_offset_s for client in clients]
        events += [
            (at / 1e9, 1, read) for at in reading_times_ns(starts_s, set_up_rtts(clients, specification), specification)
        ]
        follow = follower(clients, specification, sampler, deliveries, read, events)
        events += [(at, 1, follow) for at in sorted({flow.stop_s for flow in specification.long_flows})]
    events += [event for each in (*changes, *recordings) for event in each.events(origin_ns)]
    if interval_ms:
        events.append((0.0, 2, sampler.sample))
    limit_s = start_within_s(specification) + time_limit_s(specification)
    events.append((limit_s, 3, None))
    events.sort(key=lambda event: event[:2])
    processes, to_start = {}, sum(kind == 0 for _, kind, _ in events)
    with Alarm(origin_ns) as alarm:
        for process in others:
            alarm.watch(process)
        # If all flows end early, the remaining changes to the path are still made, because checks expect all planned changes.
        while alarm.waits_for(len(processes) < to_start or any(kind == OF_PATH for _, kind, _ in events)):
            at, kind, what = events[0]
            if not alarm.rang(at):
                continue
            events.pop(0)
            if kind == 0:
                _, node = nodes_of(path, specification, what)
                command = application.client_command(what, specification, address_of(specification, what))
                processes[what.port] = start(node, command, folder / f"client-{what.port}")
                alarm.watch(processes[what.port])
            elif kind == 3:
                raise NotEndedError(f"{specification.traffic.application}: a client did not end within {limit_s:g} s")
            else:
                for further in what(at) or ():
                    bisect.insort(events, further, key=lambda event: event[:2])
            if kind == 2:
                # Computed from the number of samples instead of by addition, because the sum of 600 times 0.1 isn't exactly 60.
                again = (sampler.samples * interval_ms / 1e3, 2, sampler.sample)
                bisect.insort(events, again, key=lambda event: event[:2])
            for recording in recordings:
                recording.read()
    return processes, (time.monotonic_ns() - origin_ns) / 1e9


def on_and_on(look, events) -> Callable:
    """Return an event that reads the sockets repeatedly, at intervals of an eighth of the elapsed time.

    It is used for file transfers, whose duration is unknown.
    """

    def look_again(at_s):
        look(at_s)
        bisect.insort(events, (at_s * 9 / 8, 1, look_again), key=lambda event: event[:2])

    return look_again


def follower(clients, specification, sampler, deliveries, read, events) -> Callable:
    """Return an event that adds readings if a flow has not begun by its planned end, until such flows have ended too.

    A path that loses the first packets of a connection may delay the flow until after the planned looks and readings. There are no
    additional readings if all flows have begun by their planned end.
    """
    # If there are no long flows, none can be missing.
    step_s = min((flow.length_s for flow in specification.long_flows), default=math.inf) / PARTS
    reads_until_s = next_s = 0.0

    def follow(at_s):
        nonlocal reads_until_s, next_s
        due = [client for client in clients if specification.long_flows[client.flows[0]].stop_s <= at_s]
        missing = deliveries.missing(due)
        if missing:
            reads_until_s = math.inf
        elif math.isinf(reads_until_s):
            reads_until_s = at_s + max(flow.length_s for flow in specification.long_flows) + step_s
        if next_s <= at_s < reads_until_s:
            read(at_s)
            sampler.look_for_more(at_s)
            next_s = at_s + step_s
            bisect.insort(events, (next_s, 1, follow), key=lambda event: event[:2])

    return follow


def address_of(specification, client) -> str:
    """Return the address to which a client connects: the address of the receiver, or of the sender if the client runs on the receiver."""
    pair = specification.flow_pair(client.flows[0])
    on_sender = application_of(specification).CLIENT_ON == "sender"
    return destination(specification, pair, pair.receiver if on_sender else pair.sender)


def entry_of(client, specification, process, server, folder, deadline, everyone, ended_s) -> dict:
    """Wait until a client and its server have ended, and return the client's entry in the run document."""
    application, outputs = application_of(specification), {}
    for side, one in (("client", process), ("server", server)):
        if side == "server" and not application.SERVER_ENDS:
            one.terminate()
        outputs[side] = collect(
            f"{side} on port {client.port}", one, folder / f"{side}-{client.port}", deadline, ended_s
        )
    try:
        entry = application.entry(client, specification, outputs)
    except TrafficError:
        # A killed process makes other processes fail.
        for one in (process for group in everyone for process in group.values()):
            check_not_killed(specification.traffic.application, one)
        raise
    pair = specification.flow_pair(client.flows[0])
    return {
        "flows": list(client.flows),
        "sender": pair.sender,
        "receiver": pair.receiver,
        "cca": specification.flow_cca(client.flows[0]),
        "port": client.port,
        "start_offset_ms": client.start_offset_s * 1e3,
        **entry,
    }


def start(node, command, output) -> subprocess.Popen:
    """Start a process of the application on a node, with output to files.

    Environment variables may precede the command as in a shell: ``NAME=value``.
    """
    log(f"{node.name}$ {' '.join(command)}")
    variables = dict(word.split("=", 1) for word in itertools.takewhile(lambda word: "=" in word, command))
    with output.open("wb") as stream, output.with_suffix(".errors").open("wb") as errors:
        return node.popen(
            command[len(variables) :],
            stdin=subprocess.DEVNULL, stdout=stream, stderr=errors, env=os.environ | variables,
        )  # fmt: skip


def wait_for_listeners(path, specification, clients, limit_s=5.0) -> None:
    """Wait until every server listens.

    A guest's clock stands still while the servers are starting.
    """
    wanted = {}
    for client in clients:
        server, _ = nodes_of(path, specification, client)
        wanted.setdefault(server.name, set()).add(client.port)
    deadline = time.monotonic() + limit_s
    for name, ports in wanted.items():
        while True:
            listening = listening_on(path.net[name])
            if ports <= listening:
                break
            if time.monotonic() > deadline:
                raise TrafficError(
                    f"{specification.traffic.application}: the server is not listening on port {min(ports - listening)} after {limit_s:g} s"
                )
            time.sleep(0.01)


def listening_on(node) -> set[int]:
    """Return the TCP ports of all listening sockets in a node."""
    with network_namespace(node):
        tables = [Path("/proc/thread-self/net", name).read_text().splitlines() for name in ("tcp", "tcp6")]
    sockets = (line.split() for _, *lines in tables for line in lines)
    return {int(local.rpartition(":")[2], 16) for _, local, _, state, *_ in sockets if state == LISTENING}


def collect(who, process, output, deadline, ended_s) -> Output:
    """Wait for one process, and return its `Output`; raise `NotEndedError` if the process does not end in time."""
    try:
        status = process.wait(timeout=max(0.01, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise NotEndedError(f"{who} did not end within {GRACE_S:g} s after the traffic") from None
    return Output(status, output.read_text(), output.with_suffix(".errors").read_text().strip(), ended_s)
