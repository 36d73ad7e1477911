"""Idle RTTs from ping, and counters of the kernel and the links."""

import math
import re
from pathlib import Path

from testbed.network.addresses import idle_destinations
from testbed.network.devices import devices_of
from testbed.network.multipath import joined_devices
from testbed.network.netlink import network_namespace
from testbed.readings.queue_information import counters_of

#: Entries in the kernel's tables of counters that aren't counters: settings, and the current number of connections.
NO_COUNTERS = {
    *("IpForwarding", "IpDefaultTTL"),
    *("TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn", "TcpCurrEstab"),
}
#: Suffix of the names of byte counters. These counters are omitted, because they include iperf3's control connection, whose messages
#: contain the CCA's name.
BYTES = "Octets"
PING_INTERVAL_S = 0.1
#: Number of unanswered echo requests after which a path's RTT is recorded as unknown.
MOST_PINGS = 5_000
PING_PATTERN = re.compile(r"(\d+) packets transmitted, (\d+) received.*?= ([\d.]+)/([\d.]+)/([\d.]+)/", re.S)


def ping_count(loss_forward, loss_reverse) -> int:
    """Return how many echo requests to send so that at least one is answered with a probability above 1 - 1e-9.

    Late replies count as lost. The parameters are fractions, and the result is limited to the range from 10 to 1000.
    """
    lost = 1 - (1 - loss_forward) * (1 - loss_reverse)
    if lost <= 0:
        return 10
    return min(1000, max(10, math.ceil(math.log(1e-9) / math.log(lost))))


def idle_rtt(path, specification) -> list[dict]:
    """Ping the receiver of each pair, or h2 over each path of a cable, while the path is idle.

    Pairs or paths are pinged one at a time.

    Returns
    -------
    list of dict
        For each pair or path: ``sender``, ``receiver``; ``sent`` and ``received``, in packets; ``min_ms``, ``mean_ms`` and ``max_ms``, None
        if all packets were lost.
    """
    hops = max(pair.hops for pair in specification.pairs)
    losses = (
        1 - (1 - specification.direction(d).loss_percent / 100) ** hops * (1 - specification.late_percent(d) / 100)
        for d in ("forward", "reverse")
    )
    count = ping_count(*losses)
    pings = []
    for sender, receiver, address in idle_destinations(specification):
        answers = ping(path.net[sender], address, count)
        while not answers["received"] and answers["sent"] < MOST_PINGS:
            # All requests or replies were lost in bursts, or damaged.
            again = ping(path.net[sender], address, count)
            answers = again | {"sent": answers["sent"] + again["sent"]}
        pings.append({"sender": sender, "receiver": receiver, **answers})
    return pings


def ping(node, address, count) -> dict[str, int | float | None]:
    """Send echo requests from a node and return the result of `parse_ping`.

    The exit status of ping is ignored, because it is 1 if there are no replies.
    """
    process = node.popen(["ping", "-n", "-q", "-c", str(count), "-i", str(PING_INTERVAL_S), address])
    return parse_ping(process.communicate()[0].decode(), count)


def parse_ping(output, count) -> dict[str, int | float | None]:
    """Parse the summary that iputils' ping prints; see `idle_rtt`."""
    match = PING_PATTERN.search(output)
    if not match:
        return {"sent": count, "received": 0, "min_ms": None, "mean_ms": None, "max_ms": None}
    sent, received, shortest, mean, longest = match.groups()
    return {
        "sent": int(sent),
        "received": int(received),
        "min_ms": float(shortest),
        "mean_ms": float(mean),
        "max_ms": float(longest),
    }


def link_counters(path, specification) -> dict[str, dict]:
    """Return the current counters of every interface, for its qdiscs and its device.

    Devices that join paths are named "h1-bond0" and so on.

    Returns
    -------
    dict
        Interface -> ``qdiscs`` (kind -> packets, bytes, drops, overlimits, backlog_packets), ``tx_packets``, ``rx_packets`` and
        ``device_drops`` (packets).
    """
    joined = joined_devices(specification)
    interfaces = {}
    for node, own in path.devices_by_node.items():
        # Both hosts have devices with the names in ``joined``.
        names = {device: f"{node.name}-{device}" for device in joined} | {one.name: one.name for one in own}
        by_index = {}
        for device, known in devices_of(node).items():
            if name := names.get(device):
                counted = {count: known[count] for count in ("tx_packets", "rx_packets", "device_drops")}
                by_index[known["index"]] = interfaces[name] = {"qdiscs": {}, **counted}
        for index, kind, counted in counters_of(node):
            if index in by_index:
                by_index[index]["qdiscs"][kind] = counted
    return interfaces


def backlog_drops() -> int:
    """Return the number of packets that the kernel's per-CPU queues have dropped since its start."""
    lines = Path("/proc/net/softnet_stat").read_text().splitlines()
    return sum(int(line.split()[1], 16) for line in lines)


def stack_counters(path, dropped_before) -> dict:
    """Return the hosts' protocol counters since their network namespaces were created.

    Parameters
    ----------
    path : topology.NetworkPath
    dropped_before : int
        Result of `backlog_drops` before the network existed. It is subtracted, because a machine's own kernel counts from the machine's
        start.

    Returns
    -------
    dict
        ``tcp``: host -> nstat counters (including zeros); ``backlog_drops``: number of packets that the kernel's per-CPU queues dropped.
    """
    return {
        "tcp": {node.name: nstat(node) for node in path.end_hosts},
        "backlog_drops": backlog_drops() - dropped_before,
    }


def nstat(node) -> dict[str, int]:
    """Return a node's SNMP counters since its network namespace was created.

    The names are those of nstat, and consist of a protocol or table and a counter, such as ``TcpOutSegs``.
    """
    with network_namespace(node):
        tables = [Path("/proc/thread-self/net", name).read_text().splitlines() for name in ("netstat", "snmp")]
        plain = Path("/proc/thread-self/net/snmp6").read_text().splitlines()
    counters = {name: int(value) for name, value in map(str.split, plain)}
    for table in tables:
        # A line of names, followed by a line of values.
        for head, values in zip(table[::2], table[1::2], strict=True):
            kind, *names = head.split()
            counters |= {kind[:-1] + name: int(n) for name, n in zip(names, values.split()[1:], strict=True)}
    return {name: count for name, count in counters.items() if name not in NO_COUNTERS and not name.endswith(BYTES)}
