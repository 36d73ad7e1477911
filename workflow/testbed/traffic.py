"""Traffic: iperf3 servers and clients, started at times drawn from the seed."""
import bisect
import json
import os
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .addresses import host_address
from .alarm import Alarm
from .commands import check_not_killed, log, run
from .sampling import Sampler
from .specification import TCP_TIMESTAMP_OPTION_BYTES

FIRST_PORT = 5201
#: Library that lets iperf3's receiver wait for whole blocks in the kernel.
WAIT_IN_KERNEL = "/usr/lib/sawtooth/waitall.so"
#: How long a client may take beyond its duration: lost control packets are sent again.
GRACE_S = 120.0
#: When sockets are looked at, as fractions of the time that all flows have in common.
SOCKET_LOOKS = (0.25, 0.5, 0.75)


class TrafficError(RuntimeError):
    """iperf3 could not carry out its part."""


@dataclass(frozen=True)
class Client:
    """One iperf3 client: which flows it carries, to which port, from when on."""

    flows: tuple
    port: int
    start_offset_s: float


def plan_clients(specification):
    """Return the clients of a run.

    Start times are drawn uniformly within the time that the study gives, one RTT of the
    empty path if it gives none, so that replications of a cell without loss differ and
    flows are not in step.
    """
    draw = random.Random(specification.substream("flow-starts"))
    within_s = start_within_s(specification)
    if specification.traffic["processes"] == "single":
        return [Client(tuple(range(specification.flows)), FIRST_PORT, draw.uniform(0, within_s))]
    return [Client((i,), FIRST_PORT + i, draw.uniform(0, within_s)) for i in range(specification.flows)]


def start_within_s(specification):
    """Return the time within which clients start, in s from the traffic's origin."""
    within_ms = specification.traffic["start_within_ms"]
    return (specification.rtt_longest_ms if within_ms is None else within_ms) / 1e3


def look_times_s(clients, specification):
    """Return when sockets are looked at: all clients have started and none has ended, in s from the traffic's origin."""
    begin = start_within_s(specification)
    common = specification.traffic["duration_s"] - begin
    return [begin + set_up_s(clients, specification) + fraction * common for fraction in SOCKET_LOOKS]


def set_up_s(clients, specification):
    """Return how long iperf3 takes before data flow, in s, without loss.

    Control connection and parameters are three round trips; then each stream of
    a client connects after the one before.
    """
    return specification.rtt_longest_ms / 1e3 * (3 + max(len(client.flows) for client in clients))


def server_command(client):
    return ["iperf3", "--server", "--one-off", "--json", "--port", str(client.port)]


def client_command(client, specification, address):
    """Return the arguments of an iperf3 client (iperf3(1), 3.18)."""
    traffic, transport = specification.traffic, specification.transport
    command = [
        "iperf3", "--client", address, "--port", str(client.port), "--json",
        "--time", str(traffic["duration_s"]), "--interval", f"{traffic['interval_s']:g}",
        "--length", str(traffic["block_bytes"]),
    ]  # fmt: skip
    if len(client.flows) > 1:
        command += ["--parallel", str(len(client.flows))]
    if transport["cca_set_by"] == "socket":
        command += ["--congestion", specification.flow_cca(client.flows[0])]
    if transport["segment_bytes"] is not None:
        # TCP's own maximum counts the options along with the payload.
        command += ["--set-mss", str(transport["segment_bytes"] + TCP_TIMESTAMP_OPTION_BYTES)]
    if traffic["bitrate_mbps"] is not None:
        command += ["--bitrate", f"{traffic['bitrate_mbps']:g}M"]
    return command


def carry(path, specification, folder=Path("/tmp")):
    """Start all servers and clients, read sockets meanwhile, collect the results.

    Returns
    -------
    processes : list of dict
        A client each: ``flows``, ``sender``, ``receiver``, ``cca``, ``port``,
        ``start_offset_ms``, iperf3's JSON of both sides as ``client`` and ``server``.
    looks : list of dict
        ``time_s`` since the first client may start, ``sockets`` of the senders' data connections.
    series : dict or None
        As `sampling.Sampler.series`, if the study asks for time series.

    Raises
    ------
    TrafficError
        If a server does not listen, or a client or server fails or does not end.
    KilledError
        If a signal ended one of them.
    """
    clients = plan_clients(specification)
    preload = {"LD_PRELOAD": WAIT_IN_KERNEL} if specification.transport["receive_wait"] == "kernel" else None
    servers = {}
    for client in clients:
        node = path.net[specification.flow_pair(client.flows[0]).receiver]
        servers[client.port] = start(node, server_command(client), folder / f"server-{client.port}", preload)
    wait_for_listeners(path, specification, clients)
    with Sampler(path, specification) as sampler:
        senders = start_and_sample(path, specification, clients, sampler, time.monotonic_ns(), folder)
    deadline = time.monotonic() + GRACE_S
    results = [
        results_of(client, specification, senders[client.port], servers[client.port], folder, deadline, (senders, servers))
        for client in clients
    ]
    flows = flow_connections(results)
    return results, sampler.looks(flows), sampler.series(flows)


def start_and_sample(path, specification, clients, sampler, origin_ns, folder):
    """Start the clients and read sockets, each at its time, until all clients have ended; return port -> client process.

    Looks come after what starts at the same instant, samples last. Waiting reads no clock:
    each reading would move the guest's by 256 ns (arch/um/kernel/time.c), so that the same
    run had other times with more readings of its sockets.

    Raises
    ------
    TrafficError
        If a client does not end.
    """
    interval_ms = specification.traffic["sample_interval_ms"]
    events = [(client.start_offset_s, 0, client) for client in clients]
    events += [(at, 1, sampler.look) for at in look_times_s(clients, specification)]
    if interval_ms:
        events.append((0.0, 2, sampler.sample))
    limit_s = start_within_s(specification) + specification.traffic["duration_s"] + GRACE_S
    events.append((limit_s, 3, None))
    events.sort(key=lambda event: event[:2])
    senders = {}
    with Alarm(origin_ns) as alarm:
        while alarm.waits_for(len(senders) < len(clients)):
            at, kind, what = events[0]
            if not alarm.rang(at):
                continue
            events.pop(0)
            if kind == 0:
                pair = specification.flow_pair(what.flows[0])
                command = client_command(what, specification, host_address(pair, pair.receiver, specification.ip_version))
                senders[what.port] = start(path.net[pair.sender], command, folder / f"client-{what.port}")
                alarm.watch(senders[what.port])
            elif kind == 3:
                raise TrafficError(f"iperf3: a client did not end within {GRACE_S:g} s after its duration")
            else:
                what(at)
            if kind == 2:
                # From the count, not by adding up: 600 times 0.1 is not 60.
                again = (sampler.samples * interval_ms / 1e3, 2, sampler.sample)
                bisect.insort(events, again, key=lambda event: event[:2])
    return senders


def results_of(client, specification, sender, server, folder, deadline, everyone):
    """Wait for a client and its server and return their entry in the document."""
    sides = {}
    for side, process in (("client", sender), ("server", server)):
        try:
            sides[side] = collect(side, client, process, folder / f"{side}-{client.port}", deadline)
        except TrafficError:
            # One that was killed makes the others fail.
            for one in (process for group in everyone for process in group.values()):
                check_not_killed("iperf3", one)
            raise
    pair = specification.flow_pair(client.flows[0])
    return {
        "flows": list(client.flows),
        "sender": pair.sender,
        "receiver": pair.receiver,
        "cca": specification.flow_cca(client.flows[0]),
        "port": client.port,
        "start_offset_ms": client.start_offset_s * 1e3,
        **sides,
    }


def flow_connections(results):
    """Return (sender, its port, the receiver's port) -> flow of all data connections, from iperf3's JSON.

    Connections to different ports may share one of the sender's, a client's control connection among them.
    """
    return {
        (result["sender"], connection["local_port"], connection["remote_port"]): flow
        for result in results
        for flow, connection in zip(result["flows"], result["client"]["start"]["connected"], strict=True)
    }


def start(node, command, output, environment=None):
    """Start an iperf3 process on a node; its output goes to files."""
    log(f"{node.name}$ {' '.join(command)}")
    with output.open("wb") as stream, output.with_suffix(".errors").open("wb") as errors:
        return node.popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=errors,
            env=os.environ | (environment or {}),
        )


def wait_for_listeners(path, specification, clients, limit_s=5.0):
    """Wait until every server listens; the guest's clock does not run meanwhile."""
    wanted = {}
    for client in clients:
        wanted.setdefault(specification.flow_pair(client.flows[0]).receiver, set()).add(client.port)
    deadline = time.monotonic() + limit_s
    for receiver, ports in wanted.items():
        while True:
            lines = run(path.net[receiver], ["ss", "-tlnH"]).splitlines()
            listening = {int(line.split()[3].rsplit(":", 1)[1]) for line in lines}
            if ports <= listening:
                break
            if time.monotonic() > deadline:
                raise TrafficError(f"iperf3 server does not listen on port {min(ports - listening)} after {limit_s:g} s")
            time.sleep(0.01)


def collect(side, client, process, output, deadline):
    """Wait for one iperf3 process and return its JSON; raise `TrafficError` with iperf3's own words."""
    who = f"iperf3 {side} of flow{'s' if len(client.flows) > 1 else ''} {', '.join(map(str, client.flows))}"
    try:
        status = process.wait(timeout=max(0.01, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TrafficError(f"{who} did not end within {GRACE_S:g} s after its duration") from None
    text = output.read_text()
    errors = output.with_suffix(".errors").read_text().strip()
    try:
        result = json.loads(text)
    except json.JSONDecodeError:
        raise TrafficError(f"{who}: exit status {status}, no JSON: {errors or text[:200] or 'no output'}") from None
    if status != 0 or "error" in result:
        raise TrafficError(f"{who}: exit status {status}: {result.get('error', errors or 'no message')}")
    return result
