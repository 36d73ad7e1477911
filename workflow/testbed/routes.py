"""Addresses, permanent neighbours and routes of a node: orders to the kernel, without a program.

Formats of the kernel (include/uapi/linux): struct ifaddrmsg and IFA_* of if_addr.h, struct ndmsg and NDA_* of
neighbour.h, struct rtmsg, RTA_* and RTAX_* of rtnetlink.h. What stands there afterwards is read by ip (`transport.read_back`).
"""

import socket
import struct
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from .commands import log
from .devices import devices_of
from .netlink import NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, attribute

RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWNEIGH = 20, 24, 28
#: struct ifaddrmsg: family, bits of the prefix, flags, scope, interface.
ADDRESS = struct.Struct("=4BI")
IFA_ADDRESS, IFA_LOCAL = 1, 2
#: An IPv6 address is there at once; nothing is sent to ask whether another host has it.
IFA_F_NODAD = 0x02
#: struct ndmsg: family, interface, state, flags, type.
NEIGHBOUR = struct.Struct("=BxxxiHBB")
NDA_DST, NDA_LLADDR = 1, 2
NUD_PERMANENT = 0x80
#: struct rtmsg: family, bits of destination and source, TOS, table, protocol, scope, type, flags.
ROUTE = struct.Struct("=8BI")
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_PREFSRC, RTA_METRICS = 1, 4, 5, 6, 7, 8
RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RT_SCOPE_LINK, RTN_UNICAST = 254, 3, 0, 253, 1
NUMBER = struct.Struct("=I")
#: A route's metrics by ip-route(8)'s words -> (RTAX_*, its value from the word).
METRICS = {
    "rto_min": (13, lambda word: NUMBER.pack(int(word.removesuffix("ms")))),
    "quickack": (15, lambda word: NUMBER.pack(int(word))),
    "congctl": (16, lambda word: word.encode() + b"\0"),
}
RTAX_LOCK, RTAX_RTO_MIN = 1, METRICS["rto_min"][0]


@dataclass(frozen=True)
class Route:
    """A route to a ``network``: by way of a router (``via``), or through a ``device``.

    ``source``: the address that packets get which have none. ``priority``: where it is given, the route takes the place of one
    with the same. ``metrics``: words of ip-route(8), those of `METRICS`.
    """

    network: str
    via: str | None = None
    device: str | None = None
    source: str | None = None
    priority: int | None = None
    metrics: str = ""

    def __str__(self):
        """What ip would be told."""
        words = {"via": self.via, "dev": self.device, "src": self.source, "metric": self.priority}
        said = [f"{name} {value}" for name, value in words.items() if value is not None]
        return " ".join(["route", self.network, *said, *self.metrics.split()])


def set_up(node, addresses=(), neighbours=(), routes=()) -> None:
    """Give a node addresses, permanent neighbours and routes, in this order.

    Parameters
    ----------
    node : bare_host.BareHost
    addresses : iterable of (str, str, int)
        Device, address, bits of its network.
    neighbours : iterable of (str, str, str)
        Device, address, and the MAC address behind it: the node never asks for that.
    routes : iterable of Route

    Raises
    ------
    netlink.NetlinkError
        If the kernel refuses one.
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
    """Have the kernel make something, and log it."""
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
    """Return the order for a `Route`; ``index`` has the numbers of devices by their names."""
    network = ip_network(route.network)
    family, packed = of_address(network.network_address)
    scope = RT_SCOPE_UNIVERSE if route.via else RT_SCOPE_LINK
    said = {
        RTA_DST: packed if network.prefixlen else None,
        RTA_GATEWAY: route.via and of_address(route.via)[1],
        RTA_PREFSRC: route.source and of_address(route.source)[1],
        RTA_OIF: route.device and NUMBER.pack(index[route.device]),
        RTA_PRIORITY: None if route.priority is None else NUMBER.pack(route.priority),
        RTA_METRICS: route.metrics and metrics_of(route.metrics),
    }
    head = ROUTE.pack(family, network.prefixlen, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, scope, RTN_UNICAST, 0)
    return head + b"".join(attribute(kind, value) for kind, value in said.items() if value)


def metrics_of(words) -> bytes:
    """Return the attributes of a route's metrics; a least timeout is locked, as ip does it: what TCP measures doesn't move it."""
    words = words.split()
    said = dict(zip(words[::2], words[1::2], strict=True))
    lock = attribute(RTAX_LOCK, NUMBER.pack(1 << RTAX_RTO_MIN)) if "rto_min" in said else b""
    return lock + b"".join(attribute(METRICS[name][0], METRICS[name][1](word)) for name, word in said.items())


def of_address(address) -> tuple[int, bytes]:
    """Return the family of an address, and its bytes."""
    address = ip_address(address)
    return {4: socket.AF_INET, 6: socket.AF_INET6}[address.version], address.packed
