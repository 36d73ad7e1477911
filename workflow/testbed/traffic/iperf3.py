"""Application ``iperf3``: one server and one client per flow, or one client with all flows."""

import json

from experiment.host_options import MAX_PACING_RATE
from testbed.errors import TrafficError
from testbed.network.addresses import control_address
from testbed.network.multipath import command_prefix

FIRST_PORT = 5201
#: Library that makes iperf3's server wait without a time limit, and wait in the kernel until a complete block has arrived
#: (envs/guest/iperf3_server.c).
PATIENT_SERVER = "/usr/lib/sawtooth/iperf3_server.so"
#: Library that does the same for iperf3's client, and redirects the client's control connection (envs/guest/iperf3_client.c).
PATIENT_CLIENT = "/usr/lib/sawtooth/iperf3_client.so"
#: Factor by which the network's rate is multiplied to get a rate limit that has no effect.
BEYOND = 100
#: Time in ms that a server waits for data: the maximum that iperf3 accepts. By default a server ends the test after two minutes without
#: data.
PATIENCE_MS = 86_400_000
#: Length of the longest CCA name (TCP_CA_NAME_MAX of include/net/tcp.h without the terminating zero), and name of the parameter that pads
#: shorter names.
LONGEST_NAME, PADDING = 15, "extra_data"
#: The client runs on the sender.
CLIENT_ON = "sender"
#: Whether a server exits by itself: an iperf3 server does so after its only client.
SERVER_ENDS = True


def server_command(client, specification) -> list[str]:
    """Return the arguments of an iperf3 server (iperf3(1), 3.18)."""
    return [
        *([] if waits_in_kernel(specification) else ["SAWTOOTH_WAIT=process"]),
        *command_prefix(specification, PATIENT_SERVER),
        "iperf3",
        "--server",
        "--one-off",
        "--json",
        "--port",
        str(client.port),
        "--rcv-timeout",
        str(PATIENCE_MS),
    ]


def waits_in_kernel(specification) -> bool:
    """Return whether the receiver waits in the kernel for complete blocks; UDP packets are always received individually."""
    return specification.transport.receive_wait == "kernel" and not specification.udp


def client_command(client, specification, address) -> list[str]:
    """Return the arguments of an iperf3 client (iperf3(1), 3.18)."""
    traffic, transport = specification.traffic, specification.transport
    flow = specification.long_flows[client.flows[0]]
    if traffic.messages is None:
        amount = ["--time", str(round(flow.length_s))]
    else:
        amount = ["--blockcount", str(traffic.messages)]
    control = []
    if specification.control_network:
        pair = specification.flow_pair(client.flows[0])
        control = [f"SAWTOOTH_CONTROL={control_address(pair, pair.receiver)[specification.ip_version]}"]
    command = [
        *control, *command_prefix(specification, PATIENT_CLIENT), "iperf3", "--client", address, "--port", str(client.port), "--json",
        *amount, "--interval", f"{traffic.interval_s:g}",
        "--length", str(traffic.block_bytes),
    ]  # fmt: skip
    if len(client.flows) > 1:
        command += ["--parallel", str(len(client.flows))]
    bitrate = flow.rate_mbps
    if specification.udp:
        # iperf3's default is 1 Mbit/s. If the study sets no bitrate, the link's rate is passed, which the payload's rate can't reach.
        return [*command, "--udp", "--bitrate", f"{bitrate or specification.total_rate_mbps:g}M"]
    if transport.cca_set_by == "socket":
        cca = specification.flow_kernel_cca(client.flows[0])
        command += ["--congestion", cca]
        if not specification.control_network:
            # iperf3's client sends its parameters, including the CCA's name, to the server. They are padded to one length for all CCAs.
            command += [f"--{PADDING.replace('_', '-')}", "-" * (LONGEST_NAME - len(cca))]
    if transport.segment_bytes is not None:
        # TCP's maximum segment size includes the options.
        command += ["--set-mss", str(transport.segment_bytes + specification.timestamp_bytes)]
    if limit := specification.max_pacing_rate_mbps:
        command += [MAX_PACING_RATE, f"{limit:g}M"]
    if traffic.no_delay:
        command.append("--no-delay")
    if bitrate is None and traffic.messages is not None:
        # Without a rate limit, a client doesn't read the clock after it has sent the last block, so a virtual clock would stand still.
        bitrate = BEYOND * (specification.total_rate_mbps or 1000)
    if bitrate is not None:
        command += ["--bitrate", f"{bitrate:g}M"]
    return command


def entry(client, specification, outputs) -> dict[str, dict]:
    """Return iperf3's part of a client's entry in the run document: the JSON output of ``client`` and ``server``.

    ``outputs`` maps ``client`` and ``server`` to a `traffic.Output`. Raises `TrafficError` with iperf3's own message.
    """
    return {side: result_of(side, client, output) for side, output in outputs.items()}


def result_of(side, client, output) -> dict:
    """Return the parsed JSON output of one iperf3 process."""
    who = f"iperf3 {side} of flow{'s' if len(client.flows) > 1 else ''} {', '.join(map(str, client.flows))}"
    try:
        result = json.loads(output.text)
    except json.JSONDecodeError:
        cause = output.errors or output.text[:200] or "no output"
        raise TrafficError(f"{who}: exit status {output.status}, no JSON: {cause}") from None
    if output.status != 0 or "error" in result:
        raise TrafficError(f"{who}: exit status {output.status}: {result.get('error', output.errors or 'no message')}")
    result.pop(PADDING, None)
    return result


def connections(entries, seen) -> dict[tuple[str, int, int], int]:
    """Return the flow of each data connection by (sender, sender's port, receiver's port), from iperf3's JSON output.

    The receiver's port is part of the key because connections to different ports, such as a client's control connection, may use the same
    port on the sender.
    """
    return {
        (result["sender"], connection["local_port"], connection["remote_port"]): flow
        for result in entries
        for flow, connection in zip(result["flows"], result["client"]["start"]["connected"], strict=True)
    }
