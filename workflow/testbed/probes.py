"""What is measured besides iperf3: idle RTT, sockets, counters of kernel and links."""
import json
import math
import re
from pathlib import Path

from .commands import run, run_json

PING_INTERVAL_S = 0.1
PING_PATTERN = re.compile(r"(\d+) packets transmitted, (\d+) received.*?= ([\d.]+)/([\d.]+)/([\d.]+)/", re.S)
#: Fields of `ss -ti` with a time in ms (rtt and rttvar come as one pair).
SS_NUMBERS = {
    "mss": "mss_bytes",
    "cwnd": "cwnd_packets",
    "ssthresh": "ssthresh_packets",
    "bytes_sent": "bytes_sent",
    "bytes_retrans": "bytes_retransmitted",
    "bytes_acked": "bytes_acked",
    "minrtt": "rtt_min_ms",
    "unacked": "unacked_packets",
}
SS_RATES = {"pacing_rate": "pacing_mbps", "delivery_rate": "delivery_mbps"}
RATE_UNITS = {"bps": 1e-6, "Kbps": 1e-3, "Mbps": 1.0, "Gbps": 1e3}


def ping_count(loss_forward, loss_reverse):
    """Return how many echo requests leave a chance below 1e-9 that all are lost.

    Parameters are fractions; at least 10, at most 1000.
    """
    lost = 1 - (1 - loss_forward) * (1 - loss_reverse)
    if lost <= 0:
        return 10
    return min(1000, max(10, math.ceil(math.log(1e-9) / math.log(lost))))


def idle_rtt(path, specification):
    """Ping the receiver over the idle path.

    Returns
    -------
    dict
        ``sent``, ``received`` (packets), ``min_ms``, ``mean_ms``, ``max_ms``;
        the times are None if every packet was lost.
    """
    losses = (specification.direction(d).loss_percent / 100 for d in ("forward", "reverse"))
    address = path.receiver_address(specification.ip_version)
    count = ping_count(*losses)
    # ping's exit status is 1 without any answer: that is a measurement too.
    command = ["ping", "-n", "-q", "-c", str(count), "-i", str(PING_INTERVAL_S), address]
    process = path.sender.popen(command)
    output = process.communicate()[0].decode()
    return parse_ping(output, count)


def parse_ping(output, count):
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


def sockets(node):
    """Return the node's established TCP connections as `parse_ss` gives them."""
    return parse_ss(run(node, ["ss", "-tinHO", "state", "established"]))


def parse_ss(output):
    """Parse ``ss -tinHO state established`` (iproute2), one line a connection.

    Returns
    -------
    list of dict
        ``local_port``, ``remote_port``, ``cca``, ``rtt_ms``, ``rttvar_ms`` and
        what of `SS_NUMBERS` and `SS_RATES` the line has.
    """
    connections = []
    for line in output.splitlines():
        words = line.split()
        if len(words) < 5:
            continue
        connection = {
            "local_port": int(words[2].rsplit(":", 1)[1]),
            "remote_port": int(words[3].rsplit(":", 1)[1]),
            "cca": None,
        }
        # The CCA is the one word without a value in front of the first key:value.
        details = words[4:]
        for word in details:
            if re.fullmatch(r"[a-z][a-z0-9_-]*", word) and word not in ("ts", "sack", "ecn", "ecnseen", "fastopen"):
                connection["cca"] = word
                break
            if ":" in word:
                break
        for i, word in enumerate(details):
            key, _, value = word.partition(":")
            if key == "rtt" and "/" in value:
                connection["rtt_ms"], connection["rttvar_ms"] = map(float, value.split("/"))
            elif key in SS_NUMBERS and value:
                connection[SS_NUMBERS[key]] = float(value) if "." in value else int(value)
            elif word in SS_RATES and i + 1 < len(details):
                connection[SS_RATES[word]] = parse_rate(details[i + 1])
        connections.append(connection)
    return connections


def parse_rate(text):
    """Return a rate that ss printed (``11.6Mbps``, ``980000bps``) in Mbit/s."""
    match = re.fullmatch(r"([\d.]+)([KMG]?bps)", text)
    if not match:
        raise ValueError(f"ss printed the rate {text!r}; expected a number with bps, Kbps, Mbps or Gbps")
    return float(match[1]) * RATE_UNITS[match[2]]


def link_counters(path):
    """Return what every interface has counted so far: its qdiscs and the device itself.

    Returns
    -------
    dict
        name -> ``qdiscs`` (kind -> packets, bytes, drops, overlimits, backlog_packets),
        ``tx_packets``, ``rx_packets``, ``device_drops`` (packets).
    """
    interfaces = {name: {"qdiscs": {}} for name in path.interfaces}
    for node in path.net.hosts:
        for qdisc in run_json(node, ["tc", "-s", "-j", "qdisc", "show"]):
            if qdisc["dev"] in interfaces:
                interfaces[qdisc["dev"]]["qdiscs"][qdisc["kind"]] = {
                    "packets": qdisc.get("packets", 0),
                    "bytes": qdisc.get("bytes", 0),
                    "drops": qdisc.get("drops", 0),
                    "overlimits": qdisc.get("overlimits", 0),
                    "backlog_packets": qdisc.get("qlen", 0),
                }
        for link in run_json(node, ["ip", "-s", "-j", "link", "show"]):
            if link["ifname"] in interfaces:
                sent, received = link["stats64"]["tx"], link["stats64"]["rx"]
                interfaces[link["ifname"]] |= {
                    "tx_packets": sent["packets"],
                    "rx_packets": received["packets"],
                    "device_drops": received["dropped"] + received["errors"] + sent["errors"],
                }
    return interfaces


def stack_counters(path):
    """Return the hosts' protocol counters since their network namespaces were made.

    Returns
    -------
    dict
        ``tcp``: host -> nstat counters (zeros too); ``backlog_drops``: packets that
        the kernel's per-CPU queue dropped.
    """
    backlog = Path("/proc/net/softnet_stat").read_text().splitlines()
    return {
        "tcp": {node.name: nstat(node) for node in (path.sender, path.receiver)},
        "backlog_drops": sum(int(line.split()[1], 16) for line in backlog),
    }


def nstat(node):
    """Return the node's SNMP counters since its network namespace was made."""
    return json.loads(run(node, ["nstat", "-asz", "--json"]))["kernel"]
