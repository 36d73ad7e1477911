"""A link of two hosts on this machine's kernel, as root of separate namespaces: prints what the testbed reads, and what tools report."""

import json
import socket
import time
from types import SimpleNamespace

from mininet.net import Mininet

from testbed.network import devices, sysctl
from testbed.network.bare_host import BareHost
from testbed.network.commands import run, run_json
from testbed.network.emulation import Bottleneck
from testbed.network.links import EmulatedLink, emulate
from testbed.network.netlink import network_namespace
from testbed.network.routes import Route, metrics_to, set_up
from testbed.readings.probes import nstat
from testbed.readings.queue_information import counters_of
from testbed.traffic.traffic import listening_on

PACKETS, SIZE, PORT = 40, 1000, 5201

net = Mininet(controller=None, host=BareHost)
a, b = net.addHost("a1", ip=None), net.addHost("b1", ip=None)
for node in (a, b):
    # Nothing must happen between two readings.
    sysctl.write(node, {"net.ipv6.conf.all.disable_ipv6": 1, "net.ipv6.conf.default.disable_ipv6": 1})
bottleneck = Bottleneck(1, 10, None)
link = net.addLink(
    a,
    b,
    cls=EmulatedLink,
    intfName1="a1-eth0",
    intfName2="b1-eth0",
    params1={"emulation": bottleneck, "single_packets": True},
)
net.start()
emulate(SimpleNamespace(net=net, devices_by_node={node: [end] for node, end in ((a, link.intf1), (b, link.intf2))}))
for node, address in ((a, "10.9.0.1/24"), (b, "10.9.0.2/24")):
    run(node, ["ip", "address", "add", address, "dev", f"{node.name}-eth0"])
    devices.bring_up(node, f"{node.name}-eth0")
sysctl.write(a, {"net.ipv4.tcp_no_metrics_save": 1})

with network_namespace(b):
    listening = socket.create_server(("10.9.0.2", PORT))
# More than the queue holds, all at once.
with network_namespace(a), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
    for _ in range(PACKETS):
        sending.sendto(bytes(SIZE), ("10.9.0.2", 9))
# Once ARP has an answer, all of them enter the queue, and one more packet would be lost until the queue has room.
queue = {}
while queue.get("packets", 0) + queue.get("drops", 0) < PACKETS or queue["backlog_packets"]:
    time.sleep(0.01)
    (queue,) = (counted for _, kind, counted in counters_of(a) if kind == "htb")
run(a, ["ping", "-c", "1", "-W", "60", "10.9.0.2"])

read, printed = {}, {}
for node in (a, b):
    known = devices.devices_of(node)
    names = {device["index"]: name for name, device in known.items()}
    read[node.name] = {
        "devices": known,
        "qdiscs": [[names[index], kind, counted] for index, kind, counted in counters_of(node)],
        "nstat": nstat(node),
        "listening": sorted(listening_on(node)),
        "no_metrics_save": sysctl.read(node, ["net.ipv4.tcp_no_metrics_save"]),
        "offloads": devices.read_offloads(node, f"{node.name}-eth0"),
    }
    printed[node.name] = {
        "links": run_json(node, ["ip", "-s", "-d", "-j", "link", "show"]),
        "qdiscs": run_json(node, ["tc", "-s", "-j", "qdisc", "show"]),
        "nstat": json.loads(run(node, ["nstat", "-asz", "--json"]))["kernel"],
        "sockets": run(node, ["ss", "-tlnH"]),
        "no_metrics_save": run(node, ["cat", "/proc/sys/net/ipv4/tcp_no_metrics_save"]).strip(),
    }

# Two identical hosts: one is configured by requests to the kernel, the other by ip with the same words.
ours, theirs = net.addHost("c1", ip=None), net.addHost("d1", ip=None)
devices.join(ours, "eth0", theirs, "eth0")
for node in (ours, theirs):
    run(node, ["ip", "link", "set", "dev", "eth0", "addrgenmode", "none"])
    devices.bring_up(node, "eth0")
ADDRESSES = [("eth0", "10.9.1.1", 24), ("eth0", "2001:db8:9::1", 64), ("eth0", "10.9.1.3", 24)]
NEIGHBOURS = [("eth0", "10.9.1.2", "02:00:00:00:00:02"), ("eth0", "2001:db8:9::2", "02:00:00:00:00:02")]
METRICS = "rto_min 5ms quickack 1 congctl cubic"
ROUTES = [
    Route("10.10.0.0/16", "10.9.1.2"),
    Route("2001:db8:a::/48", "2001:db8:9::2", metrics="rto_min 1000ms"),
    Route("0.0.0.0/0", "10.9.1.2", metrics=METRICS),
    Route("::/0", "2001:db8:9::2", metrics="quickack 1 congctl reno"),
    Route("10.9.2.7", "10.9.1.2", source="10.9.1.3"),
    Route("10.9.1.0/24", None, "eth0", "10.9.1.1", 0, METRICS),
    Route("2001:db8:9::/64", None, "eth0", "2001:db8:9::1", 256, METRICS),
]
set_up(ours, ADDRESSES, NEIGHBOURS, ROUTES)
for device, address, prefix in ADDRESSES:
    run(theirs, ["ip", "address", "add", f"{address}/{prefix}", "dev", device, *(["nodad"] if ":" in address else [])])
for device, address, mac in NEIGHBOURS:
    run(theirs, ["ip", "neighbour", "replace", address, "lladdr", mac, "dev", device, "nud", "permanent"])
for route in ROUTES:
    how = "add" if route.priority is None else "replace"
    run(theirs, ["ip", "route", how, *str(route).split()[1:]])
questions = ["address show dev eth0", "neighbour show", "-4 -d route show", "-6 -d route show"]
alike = {q: [run(node, ["ip", *q.split()]).splitlines() for node in (ours, theirs)] for q in questions}
metrics = {route.network: metrics_to(theirs, route.network) for route in ROUTES}
print(json.dumps({"read": read, "printed": printed, "alike": alike, "metrics": metrics}))
