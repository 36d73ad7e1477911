"""Run a program's flow on the machine's own kernel and clock, over the network of `host_path` with a rate limit and a queue.

The argument is a JSON object with the keys server and client (commands), port, rate_mbps and queue_packets. The server runs on h1
(10.0.1.2), and the client on h2. The keys of the printed JSON object are cpu_s (CPU seconds of both programs), packets (number of packets
that passed the bottleneck) and printed (the client's output).
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from host_path import host_path
from testbed.network.commands import batch, run
from testbed.network.netlink import network_namespace

#: State of UDP sockets that aren't connected (TCP_CLOSE in net/tcp_states.h).
BOUND = "07"


def bound_ports(node) -> set[int]:
    """Return the numbers of the bound UDP ports on a node."""
    with network_namespace(node):
        lines = Path("/proc/thread-self/net/udp").read_text().splitlines()[1:]
    return {int(local.rpartition(":")[2], 16) for _, local, _, state, *_ in map(str.split, lines) if state == BOUND}


def cpu_s() -> float:
    """Return the total CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Run the flow and print its cost."""
    asked = json.loads(sys.argv[1])
    net = host_path()
    rate, packets = f"{asked['rate_mbps']:g}mbit", asked["queue_packets"]
    batch(
        net["r1"], "tc",
        ["qdisc add dev r1-eth1 root handle 1: htb default 1",
         f"class add dev r1-eth1 parent 1: classid 1:1 htb rate {rate} quantum 1514",
         f"qdisc add dev r1-eth1 parent 1:1 handle 2: pfifo limit {packets}"],
    )  # fmt: skip
    before_s = cpu_s()
    server = net["h1"].popen(asked["server"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while asked["port"] not in bound_ports(net["h1"]):
        if server.poll() is not None:
            sys.exit(f"benchmark: the server ended with status {server.returncode}.")
        time.sleep(0.05)
    client = net["h2"].popen(asked["client"])
    printed, errors = client.communicate()
    if client.returncode:
        sys.exit(f"benchmark: the client failed: {errors.decode()[-500:]}")
    server.kill()
    server.wait()
    programs_s = cpu_s() - before_s
    (queue,) = (
        one
        for one in json.loads(run(net["r1"], ["tc", "-s", "-j", "qdisc", "show", "dev", "r1-eth1"]))
        if one["kind"] == "htb"
    )
    print(json.dumps({"cpu_s": programs_s, "packets": queue["packets"], "printed": printed.decode()}))


if __name__ == "__main__":
    main()
