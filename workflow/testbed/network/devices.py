"""Network devices of a node, created, configured and read by requests to the kernel rather than by programs.

Kernel formats (include/uapi/linux): struct ifinfomsg and IFLA_* of rtnetlink.h and if_link.h, VETH_INFO_PEER of veth.h, struct
ethtool_value and ETHTOOL_* of ethtool.h.
"""

import array
import fcntl
import socket
import struct

from testbed.errors import SettingError
from testbed.network.netlink import NLM_F_CREATE, NLM_F_EXCL, attribute, attributes, network_namespace, text

RTM_NEWLINK, RTM_GETLINK = 16, 18
#: struct ifinfomsg: family, type, index (0 if the device is given by name), flags, mask of the flags to change.
LINK = struct.Struct("=BxHiII")
IFF_UP = 1
NO_CHANGE = LINK.pack(0, 0, 0, 0, 0)
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_TXQLEN, IFLA_LINKINFO, IFLA_STATS64, IFLA_NET_NS_FD = 1, 3, 4, 13, 18, 23, 28
IFLA_GSO_MAX_SEGS, IFLA_GSO_MAX_SIZE = 40, 41
#: Name of a device limit in ip-link(8) -> attribute.
LIMITS = {"gso_max_segs": IFLA_GSO_MAX_SEGS, "gso_max_size": IFLA_GSO_MAX_SIZE}
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
#: Beginning of struct rtnl_link_stats64: packets, bytes, errors, dropped. In each case, the number received precedes the number sent.
STATISTICS = struct.Struct("=8Q")
NUMBER = struct.Struct("=I")
SIOCETHTOOL = 0x8946
#: struct ethtool_value: command, value; struct ifreq: name, address of the ethtool_value.
ETHTOOL_VALUE, INTERFACE_REQUEST = struct.Struct("=II"), struct.Struct("16sQ8x")
#: ethtool's name for an offload (segmentation, or its reverse on reception) -> (ETHTOOL_G..., ETHTOOL_S...).
OFFLOADS = {
    "tcp-segmentation-offload": (0x1E, 0x1F),
    "generic-segmentation-offload": (0x23, 0x24),
    "generic-receive-offload": (0x2B, 0x2C),
}


def join(node, name, other, other_name) -> None:
    """Create a veth pair with one end in each of two nodes."""
    peer = NO_CHANGE + named(other_name) + attribute(IFLA_NET_NS_FD, NUMBER.pack(other.namespace))
    add(node, name, "veth", attribute(IFLA_INFO_DATA, attribute(VETH_INFO_PEER, peer)))


def add(node, name, kind, data=b"", queue_packets=None) -> None:
    """Create a device in a node.

    ``kind`` is a link type of ip-link(8). ``queue_packets`` is the length of the device's queue; by default the kernel's.
    """
    information = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, kind.encode() + b"\0") + data)
    queue = attribute(IFLA_TXQLEN, NUMBER.pack(queue_packets)) if queue_packets else b""
    body = NO_CHANGE + named(name) + queue + information
    node.route.change(RTM_NEWLINK, body, f"{kind} {name}", NLM_F_CREATE | NLM_F_EXCL)


def bring_up(node, name) -> None:
    """Bring a device up."""
    node.route.change(RTM_NEWLINK, LINK.pack(0, 0, 0, IFF_UP, IFF_UP) + named(name), f"{name} up")


def set_single_packets(node, name) -> None:
    """Make TCP send individual packets instead of super-packets through a device."""
    set_limit(node, name, "gso_max_segs", 1)


def set_limit(node, name, limit, value) -> None:
    """Set one of the `LIMITS` on the super-packets that TCP creates for a device."""
    body = NO_CHANGE + named(name) + attribute(LIMITS[limit], NUMBER.pack(value))
    node.route.change(RTM_NEWLINK, body, f"{limit} of {name}")


def set_mtu(node, name, mtu_bytes) -> None:
    """Set the MTU of a device in bytes."""
    body = NO_CHANGE + named(name) + attribute(IFLA_MTU, NUMBER.pack(mtu_bytes))
    node.route.change(RTM_NEWLINK, body, f"MTU of {name}")


def named(name) -> bytes:
    return attribute(IFLA_IFNAME, name.encode() + b"\0")


def devices_of(node) -> dict[str, dict]:
    """Return the kernel's data for all devices of a `bare_host.BareHost`: name -> dict as returned by `device`."""
    return dict(node.route.ask(RTM_GETLINK, NO_CHANGE, "devices", device))


def device(buffer, start, end) -> tuple[str, dict]:
    """Parse one struct ifinfomsg and its attributes.

    Returns the device's name and a dict with the keys ``index``, ``address`` (the MAC address, or ""), ``mtu_bytes``, the names of
    `LIMITS`, ``tx_packets``, ``rx_packets``, and ``device_drops`` (packets that the device itself dropped or counted as errors).
    """
    values = attributes(buffer, start + LINK.size, end)
    at, _ = values[IFLA_STATS64]
    rx_packets, tx_packets, _, _, rx_errors, tx_errors, rx_dropped, _ = STATISTICS.unpack_from(buffer, at)
    address = bytes(buffer[slice(*values[IFLA_ADDRESS])]) if IFLA_ADDRESS in values else b""
    return text(buffer, *values[IFLA_IFNAME]), {
        "index": LINK.unpack_from(buffer, start)[2],
        "address": address.hex(":"),
        "mtu_bytes": NUMBER.unpack_from(buffer, values[IFLA_MTU][0])[0],
        **{limit: NUMBER.unpack_from(buffer, values[number][0])[0] for limit, number in LIMITS.items()},
        "tx_packets": tx_packets,
        "rx_packets": rx_packets,
        "device_drops": rx_dropped + rx_errors + tx_errors,
    }


def set_offloads(node, name, on) -> None:
    """Turn a device's `OFFLOADS` on or off; raise `SettingError` if the device doesn't support one of them."""
    for _, command in OFFLOADS.values():
        ethtool(node, name, command, int(on))


def read_offloads(node, name) -> dict[str, bool]:
    """Return the state of a device's `OFFLOADS` by name; True means on."""
    return {offload: bool(ethtool(node, name, command)) for offload, (command, _) in OFFLOADS.items()}


def ethtool(node, name, command, value=0) -> int:
    """Get or set a numeric property of a device by ioctl(2), and return the property's value afterwards."""
    number = array.array("B", ETHTOOL_VALUE.pack(command, value))
    address, _ = number.buffer_info()
    with network_namespace(node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, SIOCETHTOOL, INTERFACE_REQUEST.pack(name.encode(), address))
        except OSError as error:
            raise SettingError(f"{node.name}: ethtool {command:#x} of {name}: {error.strerror}") from error
    return ETHTOOL_VALUE.unpack(number)[1]
