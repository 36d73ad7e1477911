"""Addresses, permanent neighbours and routes of a node, set and read by requests to the kernel rather than by programs.

Kernel formats (include/uapi/linux): struct ifaddrmsg and IFA_* of if_addr.h, struct ndmsg and NDA_* of
neighbour.h, struct rtmsg, RTA_* and RTAX_* of rtnetlink.h.
"""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from testbed.network.commands import log
from testbed.network.devices import devices_of
from testbed.network.netlink import NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, attribute, attributes

RTM_NEWADDR, RTM_NEWROUTE, RTM_GETROUTE, RTM_NEWNEIGH = 20, 24, 26, 28
#: struct ifaddrmsg: family, prefix length, flags, scope, interface.
ADDRESS = struct.Struct("=4BI")
IFA_ADDRESS, IFA_LOCAL = 1, 2
#: No duplicate address detection: an IPv6 address is usable at once, and no packet is sent to find another host with the same address.
IFA_F_NODAD = 0x02
#: struct ndmsg: family, interface, state, flags, type.
NEIGHBOUR = struct.Struct("=BxxxiHBB")
NDA_DST, NDA_LLADDR = 1, 2
NUD_PERMANENT = 0x80
#: struct rtmsg: family, prefix lengths of destination and source, TOS, table, protocol, scope, type, flags.
ROUTE = struct.Struct("=8BI")
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_PREFSRC, RTA_METRICS = 1, 4, 5, 6, 7, 8
RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RT_SCOPE_LINK, RTN_UNICAST = 254, 3, 0, 253, 1
NUMBER = struct.Struct("=I")


@dataclass(frozen=True)
class Metric:
    """A route metric: the ``kind`` (RTAX_*), and functions that convert ip-route(8)'s text to the kernel's value and back."""

    kind: int
    packed: Callable[[str], bytes]
    word: Callable[[bytes], str]


def _count(kind) -> Metric:
    return Metric(kind, lambda word: NUMBER.pack(int(word)), lambda packed: f"{NUMBER.unpack(packed)[0]}")


#: Route metrics by their names in ip-route(8), in the order of their kinds.
METRICS = {
    "initcwnd": _count(11),
    "rto_min": Metric(
        13, lambda word: NUMBER.pack(int(word.removesuffix("ms"))), lambda packed: f"{NUMBER.unpack(packed)[0]}ms"
    ),
    "initrwnd": _count(14),
    "quickack": _count(15),
    "congctl": Metric(16, lambda word: word.encode() + b"\0", lambda packed: packed.rstrip(b"\0").decode()),
}
RTAX_LOCK, RTAX_RTO_MIN = 1, METRICS["rto_min"].kind


@dataclass(frozen=True)
class Route:
    """A route to a ``network``, through a router (``via``) or a ``device``.

    ``source`` is the preferred source address. If ``priority`` is given, the route replaces an existing route with the
    same priority. ``metrics`` are in the syntax of ip-route(8), with the names in `METRICS`.
    """

    network: str
    via: str | None = None
    device: str | None = None
    source: str | None = None
    priority: int | None = None
    metrics: str = ""

    def __str__(self):
        """The route in ip-route(8)'s syntax."""
        words = {"via": self.via, "dev": self.device, "src": self.source, "metric": self.priority}
        parts = [f"{name} {value}" for name, value in words.items() if value is not None]
        return " ".join(["route", self.network, *parts, *self.metrics.split()])


def set_up(node, addresses=(), neighbours=(), routes=()) -> None:
    """Set a node's addresses, permanent neighbours and routes, in this order.

    Raises `netlink.NetlinkError` if the kernel refuses any of them.

    Parameters
    ----------
    addresses : iterable of (str, str, int)
        Device, address and prefix length of each address.
    neighbours : iterable of (str, str, str)
        Device, address and MAC address of each neighbour; the node then never requests the MAC address.
    routes : iterable of Route
    """
    index = {name: device["index"] for name, device in devices_of(node).items()}
    for device, address, prefix in addresses:
        what = f"{device} has address {address}/{prefix}"
        order(node, RTM_NEWADDR, address_message(index[device], address, prefix), what, NLM_F_EXCL)
    for device, address, mac in neighbours:
        what = f"{device} leads to {address} at {mac}"
        order(node, RTM_NEWNEIGH, neighbour_message(index[device], address, mac), what, NLM_F_REPLACE)
    for route in routes:
        how = NLM_F_EXCL if route.priority is None else NLM_F_REPLACE
        order(node, RTM_NEWROUTE, route_message(route, index), f"{route}", how)


def order(node, kind, body, what, how) -> None:
    """Ask the kernel to create an object, and log the request."""
    log(f"{node.name}: {what}")
    node.route.change(kind, body, what, NLM_F_CREATE | how)


def address_message(index, address, prefix) -> bytes:
    family, packed = of_address(address)
    known = attribute(IFA_LOCAL, packed) + attribute(IFA_ADDRESS, packed)
    return ADDRESS.pack(family, prefix, IFA_F_NODAD, RT_SCOPE_UNIVERSE, index) + known


def neighbour_message(index, address, mac) -> bytes:
    family, packed = of_address(address)
    known = attribute(NDA_DST, packed) + attribute(NDA_LLADDR, bytes.fromhex(mac.replace(":", "")))
    return NEIGHBOUR.pack(family, index, NUD_PERMANENT, 0, 0) + known


def route_message(route, index) -> bytes:
    """Return the body of the request for a `Route`; ``index`` maps a device's name to its index."""
    network = ip_network(route.network)
    family, packed = of_address(network.network_address)
    scope = RT_SCOPE_UNIVERSE if route.via else RT_SCOPE_LINK
    values = {
        RTA_DST: packed if network.prefixlen else None,
        RTA_GATEWAY: route.via and of_address(route.via)[1],
        RTA_PREFSRC: route.source and of_address(route.source)[1],
        RTA_OIF: route.device and NUMBER.pack(index[route.device]),
        RTA_PRIORITY: None if route.priority is None else NUMBER.pack(route.priority),
        RTA_METRICS: route.metrics and metrics_of(route.metrics),
    }
    head = ROUTE.pack(family, network.prefixlen, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, scope, RTN_UNICAST, 0)
    return head + b"".join(attribute(kind, value) for kind, value in values.items() if value)


def metrics_of(words) -> bytes:
    """Return the attributes of a route's metrics.

    A minimum retransmission timeout is locked, as ip(8) does, so that TCP's measurements don't change it.
    """
    words = words.split()
    metrics = dict(zip(words[::2], words[1::2], strict=True))
    lock = attribute(RTAX_LOCK, NUMBER.pack(1 << RTAX_RTO_MIN)) if "rto_min" in metrics else b""
    return lock + b"".join(attribute(METRICS[name].kind, METRICS[name].packed(word)) for name, word in metrics.items())


def metrics_to(node, network) -> list[str]:
    """Return the metrics of each of a node's routes to exactly this network, in the syntax of ip-route(8); "" for no metrics."""
    network = ip_network(network)
    family, _ = of_address(network.network_address)
    body = ROUTE.pack(family, *[0] * 8)
    routes = node.route.ask(RTM_GETROUTE, body, "routes", lambda *message: read_route(family, *message))
    return [words for to, words in routes if to == network]


def read_route(family, buffer, start, end) -> tuple[IPv4Network | IPv6Network | None, str]:
    """Parse one struct rtmsg with its attributes, and return the route's network and metrics.

    The network is None for routes outside the main table, which are the kernel's routes for local addresses and broadcasts.
    """
    _, bits, _, _, table, *_ = ROUTE.unpack_from(buffer, start)
    if table != RT_TABLE_MAIN:
        return None, ""
    values = attributes(buffer, start + ROUTE.size, end)
    everywhere = bytes({socket.AF_INET: 4, socket.AF_INET6: 16}[family])
    to = ip_address(bytes(buffer[slice(*values[RTA_DST])]) if RTA_DST in values else everywhere)
    has = attributes(buffer, *values[RTA_METRICS]) if RTA_METRICS in values else {}
    words = {
        name: metric.word(bytes(buffer[slice(*has[metric.kind])]))
        for name, metric in METRICS.items()
        if metric.kind in has
    }
    return ip_network(f"{to}/{bits}"), " ".join(f"{name} {word}" for name, word in words.items())


def of_address(address) -> tuple[int, bytes]:
    """Return the address family and the packed bytes of an address."""
    address = ip_address(address)
    return {4: socket.AF_INET, 6: socket.AF_INET6}[address.version], address.packed
