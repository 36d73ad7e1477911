"""Traffic: iperf3 servers and clients, started at times drawn from the seed."""
import json
import os
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from . import probes
from .commands import check_not_killed, log, run

FIRST_PORT = 5201
#: Library that lets iperf3's receiver wait for whole blocks in the kernel.
WAIT_IN_KERNEL = "/usr/lib/sawtooth/waitall.so"
#: How long a client may take beyond its duration: lost control packets are sent again.
GRACE_S = 120.0
#: When sockets are looked at, as fractions of the duration.
SOCKET_SAMPLES = (0.25, 0.5, 0.75)


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

    Start times are drawn uniformly within one RTT of the empty path, so that
    replications of a cell without loss differ and flows are not in step.
    """
    draw = random.Random(specification.substream("flow-starts"))
    rtt_s = specification.rtt_path_ms / 1e3
    if specification.traffic["processes"] == "single":
        return [Client(tuple(range(specification.flows)), FIRST_PORT, draw.uniform(0, rtt_s))]
    return [Client((i,), FIRST_PORT + i, draw.uniform(0, rtt_s)) for i in range(specification.flows)]


def set_up_s(clients, specification):
    """Return how long iperf3 takes before data flow, in s, without loss.

    Control connection and parameters are three round trips; then each stream of
    a client connects after the one before.
    """
    return specification.rtt_path_ms / 1e3 * (3 + max(len(client.flows) for client in clients))


def server_command(client):
    return ["iperf3", "--server", "--one-off", "--json", "--port", str(client.port)]


def client_command(client, specification, address):
    """Return the arguments of an iperf3 client (iperf3(1), 3.18)."""
    traffic, transport = specification.traffic, specification.transport
    command = [
        "iperf3", "--client", address, "--port", str(client.port), "--json",
        "--time", str(traffic["duration_s"]), "--interval", f"{traffic['interval_s']:g}",
    ]  # fmt: skip
    if len(client.flows) > 1:
        command += ["--parallel", str(len(client.flows))]
    if transport["cca_set_by"] == "socket":
        command += ["--congestion", specification.cca]
    if traffic["bitrate_mbps"] is not None:
        command += ["--bitrate", f"{traffic['bitrate_mbps']:g}M"]
    return command


def carry(path, specification, folder=Path("/tmp")):
    """Start all servers and clients, sample sockets meanwhile, collect the results.

    Returns
    -------
    processes : list of dict
        A client each: ``flows``, ``port``, ``start_offset_ms``, iperf3's JSON of
        both sides as ``client`` and ``server``.
    samples : list of dict
        ``time_s`` since the first client may start, ``sockets`` of the sender.

    Raises
    ------
    TrafficError
        If a server does not listen, or a client or server fails or does not end.
    KilledError
        If a signal ended one of them.
    """
    clients = plan_clients(specification)
    preload = {"LD_PRELOAD": WAIT_IN_KERNEL} if specification.transport["receive_wait"] == "kernel" else None
    servers = [start(path.receiver, server_command(c), folder / f"server-{c.port}", preload) for c in clients]
    wait_for_listeners(path.receiver, clients)

    address = path.receiver_address(specification.ip_version)
    duration_s = specification.traffic["duration_s"]
    events = [(c.start_offset_s, 0, c) for c in clients]
    events += [(set_up_s(clients, specification) + fraction * duration_s, 1, None) for fraction in SOCKET_SAMPLES]
    origin = time.monotonic()
    senders, samples = {}, []
    for at, _, client in sorted(events, key=lambda event: event[:2]):
        time.sleep(max(0.0, origin + at - time.monotonic()))
        if client:
            command = client_command(client, specification, address)
            senders[client.port] = start(path.sender, command, folder / f"client-{client.port}")
        else:
            samples.append({"time_s": at, "sockets": probes.sockets(path.sender)})

    deadline = origin + duration_s + GRACE_S
    results = []
    for client, server in zip(clients, servers, strict=True):
        sides = {}
        for side, process in (("client", senders[client.port]), ("server", server)):
            try:
                sides[side] = collect(side, client, process, folder / f"{side}-{client.port}", deadline)
            except TrafficError:
                # One that was killed makes the others fail.
                for one in (*servers, *senders.values()):
                    check_not_killed("iperf3", one)
                raise
        results.append(
            {
                "flows": list(client.flows),
                "port": client.port,
                "start_offset_ms": client.start_offset_s * 1e3,
                **sides,
            }
        )
    return results, samples


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


def wait_for_listeners(node, clients, limit_s=5.0):
    """Wait until every server listens; the guest's clock does not run meanwhile."""
    wanted = {client.port for client in clients}
    deadline = time.monotonic() + limit_s
    while True:
        lines = run(node, ["ss", "-tlnH"]).splitlines()
        listening = {int(line.split()[3].rsplit(":", 1)[1]) for line in lines}
        if wanted <= listening:
            return
        if time.monotonic() > deadline:
            raise TrafficError(f"iperf3 server does not listen on port {min(wanted - listening)} after {limit_s:g} s")
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
