"""Application ``round-trip``: qperf sends one message back and forth, over TCP or UDP.

Each side waits for the other side's message before sending, so a connection never has more than one message in transit. qperf measures
time with times(2), in steps of 10 ms. The duration of a run, and therefore the round-trip time, has an error of up to 0.5 % in runs of
two seconds and 0.1 % in runs of ten seconds. In the guest almost no error remains, because the measured time begins and ends with a tick
of the clock that times(2) reads.
"""

import re

from testbed.errors import TrafficError

FIRST_PORT = 19765
CLIENT_ON = "sender"
SERVER_ENDS = False
#: Port for the messages.
DATA_PORT = 19766
TESTS = {"tcp": "tcp_lat", "udp": "udp_lat"}
VALUE = re.compile(r"^ *(\w+) += +([\d.]+) (\S*) *$", re.M)


def server_command(client, specification) -> list[str]:
    """Return the arguments of a qperf server (qperf(1), 0.4.11)."""
    return ["qperf", "--listen_port", str(client.port)]


def client_command(client, specification, address) -> list[str]:
    """Return the arguments of a qperf client."""
    traffic = specification.traffic
    return [
        "qperf", address, "--listen_port", str(client.port), "--ip_port", str(DATA_PORT),
        "--unify_units", "--verbose_more", "--msg_size", str(traffic.block_bytes),
        "--time", str(traffic.duration_s), TESTS[traffic.protocol],
    ]  # fmt: skip


def entry(client, specification, outputs) -> dict[str, dict]:
    """Return qperf's part of a client's entry in the run document.

    The key ``round_trip`` contains ``tool``, ``test``, ``message_bytes``, ``seconds``, ``exchanges`` (the number of messages that came
    back) and ``rtt_us`` (the mean round-trip time, ``seconds`` divided by ``exchanges``). Raises `TrafficError` with qperf's own message.
    """
    output, test = outputs["client"], TESTS[specification.traffic.protocol]
    values = {name: float(value) for name, value, _ in VALUE.findall(output.text)}
    needed = {"msg_size", "loc_real_time", "loc_recv_msgs"}
    if output.status != 0 or not needed <= values.keys() or not values["loc_recv_msgs"]:
        cause = output.errors or output.text[:200] or "no output"
        raise TrafficError(f"qperf {test}: exit status {output.status}: {cause}")
    seconds, exchanges = values["loc_real_time"] / 1e9, int(values["loc_recv_msgs"])
    return {
        "round_trip": {
            "tool": "qperf",
            "test": test,
            "message_bytes": int(values["msg_size"]),
            "seconds": seconds,
            "exchanges": exchanges,
            "rtt_us": seconds * 1e6 / exchanges,
        }
    }


def connections(entries, seen) -> dict[tuple[str, int, int], int]:
    """Return the flows of data connections in socket readings: none, because a ping-pong is not a flow."""
    return {}
