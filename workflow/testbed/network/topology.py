"""The network in Mininet: a dumbbell of two routers with hosts on both sides, or two hosts and their cables.

Pair 1 is h1 - r1 - r2 - h2, pair 2 is h3 - r1 - r2 - h4, and so on; data flow from h1 to h2. The table shows where each effect is applied.
(netem on a sending host would interfere with TCP small queues. A delay in front of the bottleneck would share the bottleneck's queue.)

=============================  =================================================
r1-eth1 (towards r2)           bottleneck for data: htb rate + its queue
r2-eth0 (towards h2)           forward delay, jitter, loss: netem, if needed
r2-eth1 (towards r1)           bottleneck for ACKs: the same rate and queue
r1-eth0 (towards h1)           reverse delay, jitter, loss: netem
r2-eth2, r1-eth2 and so on     the same for further pairs
r1-eth0, r1-eth2 and so on     policer for arriving data, if needed
r2-in1, r1-in1                 link options behind the bottleneck (late packets, for example),
                               if needed: netem on an ifb that packets pass through on arrival at
                               r2-eth1 (data), r1-eth1 (ACKs)
hosts' own interfaces          nothing
=============================  =================================================

The netem of a pair includes the delay of the hosts' own links (``access_delay_ms``), twice in each direction. For a flow, it makes no
difference where on the path packets are delayed.

If iperf3's control connections use a separate network, the hosts of each pair with iperf3 flows have an additional link without any
emulation (h1-control, h2-control).

On a cable, h1-eth0 and h2-eth0 have a rate and a queue, like network cards. A multipath transfer uses several such cables, one per path. If
delay, jitter, loss or serialisation delay is to be emulated, packets that arrive at h2-eth0 (h1-eth0) pass through a netem on the ifb
h2-in0 (h1-in0).

The topology `chain` has a separate module. With ``netem: both-ends``, as in a Mininet TCLink between r1 and r2, a netem on r1-eth1 and
r2-eth1 is the only queue. If there is a rate, this netem is below the shaper or limits the rate itself. With ``netem: sending-host``, a
common setup on a machine's own interface, such a netem is on h1-eth0 and h2-eth0 instead.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mininet.net import Mininet
from mininet.node import Node

from experiment import delay_tables
from experiment.chain_names import routers
from experiment.conditions import SENDING_HOST
from experiment.disciplines import OF_KIND
from experiment.late_deliveries import REAL_TIMER_S
from experiment.link_options import PATH, correlations_at, options_at
from experiment.packet_sizes import SUPER_PACKET_BYTES
from experiment.qdisc import DROP_TAIL
from experiment.timeline import DIRECTIONS
from testbed.network import addresses, chain
from testbed.network.emulation import IN_ORDER_MBPS, SHAPERS, Bottleneck, HostQueue, Netem, ShapedNetem
from testbed.network.links import Arrivals, EmulatedInterface, EmulatedLink, emulate
from testbed.network.policer import POLICED_AT, Policer
from testbed.network.sysctl import write
from testbed.network.transport import route_metrics

FORWARDING = {"net.ipv4.ip_forward": 1, "net.ipv6.conf.all.forwarding": 1}
#: No duplicate address detection: an address is usable at once.
ADDRESSES_AT_ONCE = {"net.ipv6.conf.all.accept_dad": 0, "net.ipv6.conf.default.accept_dad": 0}
#: Interface of each direction's bottleneck on a dumbbell: on a router, or on the sending host if netem is there.
BOTTLENECK = {"forward": "r1-eth1", "reverse": "r2-eth1"}
AT_HOSTS = {"forward": "h1-eth0", "reverse": "h2-eth0"}


@dataclass(frozen=True)
class NetworkPath:
    """The built network.

    ``pairs`` are the specification's pairs. ``bottleneck`` and ``netem`` map ``forward`` and ``reverse`` to lists of the devices that
    apply these effects. ``behind`` are the devices with link options behind the bottleneck.
    """

    net: Mininet
    pairs: list
    bottleneck: dict
    netem: dict
    behind: list

    @property
    def drop_tail(self) -> bool:
        """Whether the bottleneck has only FIFO queues, or no queues at all."""
        kinds = (device.emulation.kind_and_limit[0] for way in DIRECTIONS for device in self.bottleneck[way])
        return all(kind == "netem" or OF_KIND[kind].name == DROP_TAIL for kind in kinds)

    @property
    def senders(self) -> list[Node]:
        return [self.net[pair.sender] for pair in self.pairs]

    @property
    def receivers(self) -> list[Node]:
        return [self.net[pair.receiver] for pair in self.pairs]

    @property
    def end_hosts(self) -> list[Node]:
        """Senders and receivers, pair by pair."""
        return [self.net[name] for pair in self.pairs for name in (pair.sender, pair.receiver)]

    @cached_property
    def interfaces(self) -> dict[str, EmulatedInterface]:
        """All interfaces of the links, by name."""
        return interfaces_of(self.net)

    @property
    def arrivals(self) -> dict[str, str]:
        """The interface at which packets arrive, by the ifb to which they are redirected."""
        passed = [*(device for devices in self.netem.values() for device in devices), *self.behind]
        return {device.name: device.interface.name for device in passed if isinstance(device, Arrivals)}

    @property
    def policers(self) -> dict[str, dict]:
        """Expected settings of the policers, by interface."""
        return {name: one.policer.expected() for name, one in self.interfaces.items() if one.policer}

    @cached_property
    def devices(self) -> dict[str, EmulatedInterface | Arrivals]:
        """All interfaces of the links, and the ifbs that arriving packets pass through, by name."""
        behind = [*(device for devices in self.netem.values() for device in devices), *self.behind]
        return self.interfaces | {device.name: device for device in behind}

    @cached_property
    def devices_by_node(self) -> dict[Node, list[EmulatedInterface | Arrivals]]:
        """The devices on each node."""
        on_nodes = {node: [] for node in self.net.hosts}
        for device in self.devices.values():
            on_nodes[device.node].append(device)
        return on_nodes


def build(specification, net) -> NetworkPath:
    """Build a specification's network in an empty Mininet, and start it.

    ``net`` is the Mininet object, without a controller and switches.

    Raises `commands.CommandError`, `SettingError` or `netlink.NetlinkError` if the kernel refuses any part of the network.
    """
    pairs = specification.pairs
    hosts = [name for pair in pairs for name in (pair.sender, pair.receiver)]
    forwarding = [] if specification.is_cable else routers(specification)
    for node in [net.addHost(name, ip=None) for name in (*forwarding, *hosts)]:
        write(node, ADDRESSES_AT_ONCE | (FORWARDING if node.name in forwarding else {}))

    emulation = plan_emulation(specification)
    for a, b, names in plan_links(specification):
        connect(net, a, b, names, emulation, specification)
    net.start()
    place_policer(specification, interfaces_of(net))
    placed = locate(specification, emulation, interfaces_of(net))
    path = NetworkPath(net, pairs, *placed, place_behind_bottleneck(specification, interfaces_of(net)))
    with table_for_tc(specification):
        emulate(path)
    addresses.assign(path, specification, route_metrics(specification))
    return path


def interfaces_of(net) -> dict[str, EmulatedInterface]:
    """Return the interfaces of all links, by name."""
    return {i.name: i for link in net.links for i in (link.intf1, link.intf2)}


def plan_links(specification) -> list[tuple[str, str, tuple[str, str]]]:
    """Return the links as (node, other node, names of the two interfaces)."""
    ends = [(pair.sender, pair.receiver) for pair in specification.control_pairs]
    control = [(*hosts, tuple(map(addresses.control_interface, hosts))) for hosts in ends]
    if specification.is_cable:
        return [("h1", "h2", (f"h1-eth{path}", f"h2-eth{path}")) for path in range(specification.paths)] + control
    if specification.is_chain:
        return chain.plan_links(specification) + control
    links = [("r1", "r2", ("r1-eth1", "r2-eth1")), *control]
    for pair in specification.pairs:
        for router, host in zip(("r1", "r2"), pair.ends, strict=True):
            links.append((host, router, (f"{host}-eth0", addresses.access_interface(router, pair))))
    return links


@contextlib.contextmanager
def table_for_tc(specification) -> Iterator[None]:
    """Make tc find the link's custom delay table within the context; without such a table, do nothing.

    While tc finds the custom table, it finds no other tables.
    """
    tables = [table for direction in DIRECTIONS if (table := specification.option("jitter_table", direction))]
    if not tables:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{delay_tables.NAME}.dist").write_text("\n".join(map(str, tables[0]["numbers"])) + "\n")
        os.environ[delay_tables.FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[delay_tables.FOLDER_VARIABLE]


def connect(net, a, b, names, emulation, specification) -> None:
    """Link two nodes; ``names`` are the two interfaces' names, and ``emulation`` maps an interface's name to the emulation."""
    offloaded = specification.transport.segmentation_offload
    given = {"segmentation_offload": offloaded, "single_packets": specification.single_packets}
    given |= {"mtu_bytes": specification.link_mtu_bytes} if specification.has_own_mtu else {}
    net.addLink(
        a, b, cls=EmulatedLink, intfName1=names[0], intfName2=names[1],
        params1={"emulation": emulation.get(names[0]), **given},
        params2={"emulation": emulation.get(names[1]), **given},
    )  # fmt: skip


def plan_emulation(specification) -> dict[str, Bottleneck | Netem | ShapedNetem]:
    """Return the emulation of each interface, by the interface's name; interfaces without an emulation are omitted."""
    if specification.is_cable:
        bottlenecks = enumerate(map(plan_bottleneck, specification.bottlenecks))
        ends = [(f"{host}-eth{path}", one) for path, one in bottlenecks for host in ("h1", "h2")]
        return {name: one for name, one in ends if one}
    if specification.is_chain:
        return chain.plan_emulation(specification, [plan_bottleneck(one) for one in specification.bottlenecks])
    bottleneck = plan_bottleneck(specification)
    if specification.link.netem_is_queue:
        limit, pair = specification.queue_packets, specification.pairs[0]
        effects = {
            name: plan_netem(specification, direction, pair, limit_packets=limit)
            for direction, name in bottleneck_interfaces(specification).items()
        }
        return {name: ShapedNetem(bottleneck, effect) if bottleneck else effect for name, effect in effects.items()}
    emulation = {name: plan_bottleneck(specification, way) for way, name in BOTTLENECK.items()} if bottleneck else {}
    if specification.hosts.qdisc != "none":
        emulation |= {f"{pair.sender}-eth0": HostQueue(specification.hosts.qdisc) for pair in specification.pairs}
    for pair in specification.pairs:
        for direction, router in (("forward", "r2"), ("reverse", "r1")):
            effect = plan_netem(specification, direction, pair)
            # Without a bottleneck this is the only queue to observe.
            if effect.does_something or specification.timeline.changes_netem(direction) or not bottleneck:
                emulation[addresses.access_interface(router, pair)] = effect
    return emulation


def bottleneck_interfaces(specification) -> dict[str, str]:
    """Return the interface of a dumbbell's bottleneck in each direction."""
    return AT_HOSTS if specification.link.netem == SENDING_HOST else BOTTLENECK


def place_policer(specification, interfaces) -> None:
    """In each direction with a policer, put the policer at the first router."""
    for direction, policer in specification.policers.items():
        for number, pair in enumerate(specification.pairs):
            here = interfaces[addresses.access_interface(POLICED_AT[direction], pair)]
            here.policer = Policer(**policer, first=number == 0, mtu_bytes=specification.link_mtu_bytes)


def place_behind_bottleneck(specification, interfaces) -> list[Arrivals]:
    """Create and return the ifbs for link options behind the bottleneck; return an empty list without such options."""
    if not specification.has_arrival_options:
        return []
    # Imported here because other runs don't need it.
    from testbed.network import behind_bottleneck

    return [
        Arrivals(interfaces[arriving], name, effect, behind_bottleneck.IFB_QUEUE_PACKETS)
        for direction, effect in behind_bottleneck.plan(specification).items()
        for arriving, name in [behind_bottleneck.PLACES[direction]]
    ]


def plan_bottleneck(specification, direction="forward") -> Bottleneck | None:
    """Return the `Bottleneck` of a direction, or None if the rate is unlimited."""
    rate_mbps = specification.rate_in(direction)
    if rate_mbps is None or not specification.shaped:
        return None
    burst = SUPER_PACKET_BYTES if specification.transport.segmentation_offload else specification.largest_packet_bytes
    if not specification.virtual_clock:
        # Under a real clock, timers fire late. A bucket of one packet would lose the tokens that it can't store in the meantime.
        burst = max(burst, round(rate_mbps * 1e6 / 8 * REAL_TIMER_S))
    burst = specification.shaper_burst_bytes or burst
    return SHAPERS[specification.shaper](
        rate_mbps=rate_mbps,
        queue_packets=specification.queue_packets_in(direction),
        queue_bytes=specification.queue_bytes_in(direction),
        burst_bytes=burst,
        overhead_bytes=specification.link.frame_overhead_bytes,
        queue=specification.queue_in(direction),
        packet_bytes=specification.packet_bytes,
    )


def plan_netem(specification, direction, pair, path=0, limit_packets=None) -> Netem:
    """Return the `Netem` for a direction, pair and path; its seed is derived from the run's seed."""
    here = specification.on_path(path)
    effect = here.direction(direction)
    number = f"-{pair.index + 1}" if pair.index else f"-path-{path + 1}" if path else ""
    more = {"limit_packets": limit_packets} if limit_packets else {}
    if specification.serialised:
        more |= {"rate_mbps": here.rate_mbps, "overhead_bytes": specification.link.frame_overhead_bytes}
    elif effect.jitter_ms and specification.option("jitter_order", direction) == "kept":
        more |= {"rate_mbps": IN_ORDER_MBPS}
    return Netem(
        delay_ms=effect.delay_ms + 2 * pair.access_delay_ms + here.multipath.path_delay_ms[0],
        jitter_ms=effect.jitter_ms,
        loss_percent=effect.loss_percent,
        loss_model=effect.loss_model,
        seed=specification.substream(f"netem-{direction}{number}"),
        options=options_at(specification.scenario["link"], PATH, direction),
        correlations=correlations_at(specification.scenario["link"], PATH, direction),
        **more,
    )


def locate(specification, emulation, interfaces) -> tuple[dict[str, list], dict[str, list]]:
    """Return the devices with a bottleneck and the devices with netem, each by direction; create the ifbs for arriving packets."""
    if specification.is_cable:
        return locate_on_cable(specification, interfaces)
    if specification.is_chain:
        return chain.locate(specification, interfaces)
    bottleneck, netem = {"forward": [], "reverse": []}, {"forward": [], "reverse": []}
    for name, effect in emulation.items():
        if isinstance(effect, HostQueue):
            continue
        outgoing = {name: direction for direction, name in bottleneck_interfaces(specification).items()}
        towards_hosts = {"r1": "reverse", "r2": "forward"}
        direction = outgoing.get(name) or towards_hosts[name.partition("-")[0]]
        if not isinstance(effect, Netem):
            bottleneck[direction].append(interfaces[name])
        if not isinstance(effect, Bottleneck):
            netem[direction].append(interfaces[name])
    return bottleneck, netem


def locate_on_cable(specification, interfaces) -> tuple[dict[str, list], dict[str, list]]:
    """Return the result of `locate` for a cable: the interface at each path's sending end, and the ifb at the receiving end if needed."""
    bottleneck, netem = {"forward": [], "reverse": []}, {"forward": [], "reverse": []}
    for direction, sending, receiving in (("forward", "h1", "h2"), ("reverse", "h2", "h1")):
        for path in range(specification.paths):
            if plan_bottleneck(specification):
                bottleneck[direction].append(interfaces[f"{sending}-eth{path}"])
            effect = plan_netem(specification, direction, specification.pairs[0], path)
            if effect.does_something:
                arriving = interfaces[f"{receiving}-eth{path}"]
                netem[direction].append(Arrivals(arriving, f"{receiving}-in{path}", effect))
    return bottleneck, netem
