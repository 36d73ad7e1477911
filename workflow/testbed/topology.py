"""The network in Mininet: a dumbbell of two routers with hosts on both sides.

Pair 1 is h1 - r1 - r2 - h2, pair 2 is h3 - r1 - r2 - h4, and so on; data flow from
h1 to h2. Where each effect stands (the reasons: netem on a sending host entangles
with TCP small queues; a delay line in front of the bottleneck would share its queue):

=============================  =================================================
r1-eth1 (towards r2)           bottleneck of the data: htb rate + drop-tail queue
r2-eth0 (towards h2)           forward delay, jitter, loss: netem
r2-eth1 (towards r1)           bottleneck of the ACKs: the same rate and queue
r1-eth0 (towards h1)           reverse delay, jitter, loss: netem
r2-eth2, r1-eth2 and so on     the same for further pairs
hosts' own interfaces          nothing
=============================  =================================================

The delay of the hosts' own links (``access_delay_ms``) is part of the netem of their
pair, twice in each direction: a flow cannot tell where on its way it was delayed.

With ``netem: both-ends`` (as a Mininet TCLink on r1-r2 without a rate does it)
r1-eth1 and r2-eth1 carry netem, whose limit is the only queue.
"""
from dataclasses import dataclass

from mininet.net import Mininet

from . import addresses
from .commands import run
from .emulation import SUPER_PACKET_BYTES, Bottleneck, Netem
from .links import EmulatedLink
from .specification import PACKET_BYTES
from .transport import route_metrics

FORWARDING = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]
#: Interface of each direction's bottleneck.
BOTTLENECK = {"forward": "r1-eth1", "reverse": "r2-eth1"}


@dataclass(frozen=True)
class Path:
    """The built network.

    ``bottleneck`` maps ``forward`` and ``reverse`` to the interface that carries
    it, or to None; ``netem`` to a list of interfaces. ``pairs`` are the
    specification's.
    """

    net: Mininet
    pairs: list
    bottleneck: dict
    netem: dict

    @property
    def senders(self):
        return [self.net[pair.sender] for pair in self.pairs]

    @property
    def receivers(self):
        return [self.net[pair.receiver] for pair in self.pairs]

    @property
    def end_hosts(self):
        """Senders and receivers, pair by pair."""
        return [self.net[name] for pair in self.pairs for name in (pair.sender, pair.receiver)]

    @property
    def interfaces(self):
        """All interfaces of the links, by name."""
        return {i.name: i for link in self.net.links for i in (link.intf1, link.intf2)}


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
    pairs = specification.pairs
    names = ["r1", "r2", *(name for pair in pairs for name in (pair.sender, pair.receiver))]
    for node in [net.addHost(name, ip=None) for name in names]:
        # No duplicate address detection: an address is usable at once.
        settings = ["net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0"]
        run(node, ["sysctl", "-q", "-w", *settings, *(FORWARDING if node.name in ("r1", "r2") else [])])

    emulation = plan_emulation(specification)
    connect(net, "r1", "r2", ("r1-eth1", "r2-eth1"), emulation, specification)
    for pair in pairs:
        for router, host in (("r1", pair.sender), ("r2", pair.receiver)):
            names = (f"{host}-eth0", addresses.access_interface(router, pair))
            connect(net, host, router, names, emulation, specification)
    net.start()
    path = Path(net, pairs, *locate(emulation, {i.name: i for link in net.links for i in (link.intf1, link.intf2)}))
    addresses.assign(path, pairs, route_metrics(specification))
    return path


def connect(net, a, b, names, emulation, specification):
    """Link two nodes; ``names`` are their interfaces, ``emulation`` what each of these does."""
    offload = {"segmentation_offload": specification.transport["segmentation_offload"]}
    net.addLink(
        a, b, cls=EmulatedLink, intfName1=names[0], intfName2=names[1],
        params1={"emulation": emulation.get(names[0]), **offload},
        params2={"emulation": emulation.get(names[1]), **offload},
    )  # fmt: skip


def plan_emulation(specification):
    """Return which interface gets which emulation: name -> `Bottleneck` or `Netem`."""
    if specification.link["netem"] == "both-ends":
        return {
            name: plan_netem(specification, direction, specification.pairs[0], specification.queue_packets)
            for direction, name in BOTTLENECK.items()
        }
    emulation = {}
    for pair in specification.pairs:
        for direction, router in (("forward", "r2"), ("reverse", "r1")):
            emulation[addresses.access_interface(router, pair)] = plan_netem(specification, direction, pair)
    if specification.rate_mbps is not None:
        offload = specification.transport["segmentation_offload"]
        bottleneck = Bottleneck(
            rate_mbps=specification.rate_mbps,
            queue_packets=specification.queue_packets,
            queue_bytes=specification.queue_bytes,
            burst_bytes=SUPER_PACKET_BYTES if offload else PACKET_BYTES,
        )
        emulation |= dict.fromkeys(BOTTLENECK.values(), bottleneck)
    return emulation


def plan_netem(specification, direction, pair, limit_packets=None):
    """Return the `Netem` of a direction and pair, seeded from the run's seed."""
    effect = specification.direction(direction)
    number = f"-{pair.index + 1}" if pair.index else ""
    return Netem(
        delay_ms=effect.delay_ms + 2 * pair.access_delay_ms,
        jitter_ms=effect.jitter_ms,
        loss_percent=effect.loss_percent,
        seed=specification.substream(f"netem-{direction}{number}"),
        **({"limit_packets": limit_packets} if limit_packets else {}),
    )


def locate(emulation, interfaces):
    """Return (bottleneck, netem): direction -> interface that carries it or None, direction -> list of them."""
    bottleneck = {"forward": None, "reverse": None}
    netem = {"forward": [], "reverse": []}
    for name, effect in emulation.items():
        outgoing = {"r1-eth1": "forward", "r2-eth1": "reverse"}
        towards_hosts = {"r1": "reverse", "r2": "forward"}
        direction = outgoing.get(name) or towards_hosts[name.partition("-")[0]]
        if isinstance(effect, Bottleneck):
            bottleneck[direction] = interfaces[name]
        else:
            netem[direction].append(interfaces[name])
    return bottleneck, netem
