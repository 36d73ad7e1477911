"""Measurements that come neither from iperf3 nor from the sockets: idle RTT, and counters of the kernel and the links."""

import math
import re
from pathlib import Path

from testbed.network.addresses import idle_destinations
from testbed.network.devices import devices_of
from testbed.network.multipath import joined_devices
from testbed.network.netlink import network_namespace
from testbed.readings.queue_information import counters_of

#: Entries among the kernel's counters that aren't counters: settings, and the current number of connections.
NO_COUNTERS = {
    *("IpForwarding", "IpDefaultTTL"),
    *("TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn", "TcpCurrEstab"),
}
#: Part of the names of byte counters, which are left out: they include iperf3's control connection, whose messages contain the CCA's name.
BYTES = "Octets"
PING_INTERVAL_S = 0.1
#: Number of unanswered echo requests after which a path is assumed to have no RTT.
MOST_PINGS = 5_000
PING_PATTERN = re.compile(r"(\d+) packets transmitted, (\d+) received.*?= ([\d.]+)/([\d.]+)/([\d.]+)/", re.S)


def ping_count(loss_forward, loss_reverse) -> int:
    """Return the number of echo requests for which the probability that all are lost (or late) is below 1e-9.

    Parameters are fractions. The result is between 10 and 1000.
    """
    lost = 1 - (1 - loss_forward) * (1 - loss_reverse)
    if lost <= 0:
        return 10
    return min(1000, max(10, math.ceil(math.log(1e-9) / math.log(lost))))


def idle_rtt(path, specification) -> list[dict]:
    """Ping each pair's receiver over the idle path (over each path of a cable), one pair or path at a time.

    Returns, for each pair or path, ``sender``, ``receiver``; ``sent``, ``received`` (packets); ``min_ms``, ``mean_ms`` and
    ``max_ms``, None if all packets were lost.
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
    """Send echo requests from a node; return the result of `parse_ping`. The exit status is ignored: without any answer it is 1."""
    process = node.popen(["ping", "-n", "-q", "-c", str(count), "-i", str(PING_INTERVAL_S), address])
    return parse_ping(process.communicate()[0].decode(), count)


def parse_ping(output, count) -> dict[str, int | float | None]:
    """Parse the summary of iputils' ping; see `idle_rtt`."""
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
    """Return the counters so far of every interface's qdiscs and device; devices that join paths are named "h1-bond0" and so on.

    Returns name -> ``qdiscs`` (kind -> packets, bytes, drops, overlimits, backlog_packets), ``tx_packets``,
    ``rx_packets``, ``device_drops`` (packets).
    """
    joined = joined_devices(specification)
    interfaces = {}
    for node, own in path.devices_by_node.items():
        # Both hosts have devices with these names.
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

    Returns ``tcp``, host -> nstat counters (including zeros), and ``backlog_drops``, the number of packets that the kernel's per-CPU
    queues dropped.

    ``dropped_before`` is `backlog_drops` before the network existed, because a machine's own kernel has been counting since before the run.
    """
    return {
        "tcp": {node.name: nstat(node) for node in path.end_hosts},
        "backlog_drops": backlog_drops() - dropped_before,
    }


def nstat(node) -> dict[str, int]:
    """Return the node's SNMP counters since its network namespace was created, by nstat's names: kind followed by counter."""
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
