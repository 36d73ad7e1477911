"""The network h1 - r1 - r2 - h2 in Mininet, with addresses and routes.

Data flow from h1 to h2. Where each effect stands (the reasons: netem on a
sending host entangles with TCP small queues; a delay line in front of the
bottleneck would share its queue):

============================  ==================================================
r1-eth1 (towards r2)          bottleneck of the data: htb rate + drop-tail queue
r2-eth0 (towards h2)          forward delay, jitter, loss: netem
r2-eth1 (towards r1)          bottleneck of the ACKs: the same rate and queue
r1-eth0 (towards h1)          reverse delay, jitter, loss: netem
h1-eth0, h2-eth0              nothing
============================  ==================================================

With ``netem: both-ends`` (as a Mininet TCLink on r1-r2 without a rate does it)
r1-eth1 and r2-eth1 carry netem, whose limit is the only queue.
"""
from dataclasses import dataclass

from mininet.net import Mininet

from .commands import batch, run, run_json
from .emulation import SUPER_PACKET_BYTES, Bottleneck, Netem
from .links import EmulatedLink
from .specification import PACKET_BYTES

#: interface -> (address, prefix length) by IP version (2001:db8::/32 is RFC 3849's).
ADDRESSES = {
    "h1-eth0": {"ipv4": ("10.0.1.2", 24), "ipv6": ("2001:db8:1::2", 64)},
    "r1-eth0": {"ipv4": ("10.0.1.1", 24), "ipv6": ("2001:db8:1::1", 64)},
    "r1-eth1": {"ipv4": ("10.0.12.1", 24), "ipv6": ("2001:db8:12::1", 64)},
    "r2-eth1": {"ipv4": ("10.0.12.2", 24), "ipv6": ("2001:db8:12::2", 64)},
    "r2-eth0": {"ipv4": ("10.0.2.1", 24), "ipv6": ("2001:db8:2::1", 64)},
    "h2-eth0": {"ipv4": ("10.0.2.2", 24), "ipv6": ("2001:db8:2::2", 64)},
}
#: node -> lines for `ip -batch`: where packets go that are not for a neighbour.
ROUTES = {
    "h1": ["route add default via 10.0.1.1", "route add ::/0 via 2001:db8:1::1"],
    "h2": ["route add default via 10.0.2.1", "route add ::/0 via 2001:db8:2::1"],
    "r1": ["route add 10.0.2.0/24 via 10.0.12.2", "route add 2001:db8:2::/64 via 2001:db8:12::2"],
    "r2": ["route add 10.0.1.0/24 via 10.0.12.1", "route add 2001:db8:1::/64 via 2001:db8:12::1"],
}
FORWARDING = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]


@dataclass(frozen=True)
class Path:
    """The built network.

    ``bottleneck`` and ``netem`` map ``forward`` and ``reverse`` to the interface
    that carries that effect, or to None.
    """

    net: Mininet
    bottleneck: dict
    netem: dict

    @property
    def sender(self):
        return self.net["h1"]

    @property
    def receiver(self):
        return self.net["h2"]

    @property
    def interfaces(self):
        """All interfaces of the links, by name."""
        return {i.name: i for link in self.net.links for i in (link.intf1, link.intf2)}

    def receiver_address(self, ip_version):
        return ADDRESSES["h2-eth0"][ip_version][0]


def build(specification, net):
    """Add hosts, routers and links of a specification to an empty Mininet and start it.

    Parameters
    ----------
    specification : RunSpecification
    net : mininet.net.Mininet
        Without controller and switches.

    Returns
    -------
    Path

    Raises
    ------
    commands.CommandError
        If the kernel refuses any part of the network.
    """
    h1, r1, r2, h2 = (net.addHost(name, ip=None) for name in ("h1", "r1", "r2", "h2"))
    for node in (h1, r1, r2, h2):
        # No duplicate address detection: an address is usable at once.
        settings = ["net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0"]
        run(node, ["sysctl", "-q", "-w", *settings, *(FORWARDING if node in (r1, r2) else [])])

    emulation = plan_emulation(specification)
    offload = {"segmentation_offload": specification.transport["segmentation_offload"]}

    def connect(a, b, name_a, name_b):
        net.addLink(
            a, b, cls=EmulatedLink, intfName1=name_a, intfName2=name_b,
            params1={"emulation": emulation.get(name_a), **offload},
            params2={"emulation": emulation.get(name_b), **offload},
        )  # fmt: skip

    connect(h1, r1, "h1-eth0", "r1-eth0")
    connect(r1, r2, "r1-eth1", "r2-eth1")
    connect(r2, h2, "r2-eth0", "h2-eth0")
    net.start()
    path = Path(net, *locate(emulation, {i.name: i for link in net.links for i in (link.intf1, link.intf2)}))
    assign_addresses(path)
    return path


def plan_emulation(specification):
    """Return which interface gets which emulation: name -> `Bottleneck` or `Netem`."""
    if specification.link["netem"] == "both-ends":
        return {
            "r1-eth1": plan_netem(specification, "forward", specification.queue_packets),
            "r2-eth1": plan_netem(specification, "reverse", specification.queue_packets),
        }
    emulation = {
        "r2-eth0": plan_netem(specification, "forward"),
        "r1-eth0": plan_netem(specification, "reverse"),
    }
    if specification.rate_mbps is not None:
        offload = specification.transport["segmentation_offload"]
        bottleneck = Bottleneck(
            rate_mbps=specification.rate_mbps,
            queue_packets=specification.queue_packets,
            queue_bytes=specification.queue_bytes,
            burst_bytes=SUPER_PACKET_BYTES if offload else PACKET_BYTES,
        )
        emulation |= {"r1-eth1": bottleneck, "r2-eth1": bottleneck}
    return emulation


def plan_netem(specification, direction, limit_packets=None):
    """Return the `Netem` of a direction, seeded from the run's seed."""
    effect = specification.direction(direction)
    return Netem(
        delay_ms=effect.delay_ms,
        jitter_ms=effect.jitter_ms,
        loss_percent=effect.loss_percent,
        seed=specification.substream(f"netem-{direction}"),
        **({"limit_packets": limit_packets} if limit_packets else {}),
    )


def locate(emulation, interfaces):
    """Return (bottleneck, netem): direction -> interface that carries it, or None."""
    bottleneck = {"forward": None, "reverse": None}
    netem = {"forward": None, "reverse": None}
    towards = {"r1-eth1": "forward", "r2-eth0": "forward", "r2-eth1": "reverse", "r1-eth0": "reverse"}
    for name, effect in emulation.items():
        kind = bottleneck if isinstance(effect, Bottleneck) else netem
        kind[towards[name]] = interfaces[name]
    return bottleneck, netem


def assign_addresses(path):
    """Bring the interfaces up and set addresses, routes and permanent neighbours.

    Neighbours are permanent, so that no ARP or neighbour solicitation is delayed
    or lost in the emulation while traffic flows.
    """
    interfaces = path.interfaces
    lines = {node.name: [] for node in path.net.hosts}
    for name, addresses in ADDRESSES.items():
        lines[interfaces[name].node.name].append(f"link set dev {name} up")
        for address, length in addresses.values():
            nodad = " nodad" if ":" in address else ""
            lines[interfaces[name].node.name].append(f"address add {address}/{length} dev {name}{nodad}")
    mac = {
        link["ifname"]: link["address"]
        for node in path.net.hosts
        for link in run_json(node, ["ip", "-j", "link", "show"])
    }
    for link in path.net.links:
        for here, there in ((link.intf1, link.intf2), (link.intf2, link.intf1)):
            lines[here.node.name] += [
                f"neighbour replace {address} lladdr {mac[there.name]} dev {here.name} nud permanent"
                for address, _ in ADDRESSES[there.name].values()
            ]
    for node in path.net.hosts:
        batch(node, "ip", lines[node.name] + ROUTES[node.name])
