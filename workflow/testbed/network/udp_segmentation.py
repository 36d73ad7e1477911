"""Segmentation of UDP super-packets before they leave a host.

A program may pass many datagrams to the kernel at once (UDP_SEGMENT of udp(7)), as QUIC programs do. A virtual device forwards such a
super-packet unsegmented, so a queue behind the device would count it as one packet of up to 64 KiB. There is no separate ioctl for this
feature, so it is looked up in the device's list of features (struct ethtool_gstrings, ethtool_sfeatures of linux/ethtool.h).
"""

import array
import fcntl
import math
import socket
import struct

from testbed.errors import SettingError
from testbed.network.devices import INTERFACE_REQUEST, SIOCETHTOOL
from testbed.network.netlink import network_namespace

ETHTOOL_GSTRINGS, ETHTOOL_GSSET_INFO, ETHTOOL_SFEATURES = 0x1B, 0x37, 0x3B
FEATURES, NAME_BYTES = 4, 32
UDP_SEGMENTATION = "tx-udp-segmentation"


def cut_datagrams(interface) -> None:
    """Make a host's interface segment UDP super-packets; raise `SettingError` if the interface can't."""
    with network_namespace(interface.node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        names = _feature_names(asked, interface.name)
        if UDP_SEGMENTATION not in names:
            raise SettingError(f"{interface.name} has no feature {UDP_SEGMENTATION}")
        bit, words = names.index(UDP_SEGMENTATION), math.ceil(len(names) / 32)
        blocks = [(1 << bit % 32 if word == bit // 32 else 0, 0) for word in range(words)]
        request = struct.pack("=II", ETHTOOL_SFEATURES, words) + b"".join(
            struct.pack("=II", *block) for block in blocks
        )
        _ask(asked, interface.name, request)


def _feature_names(asked, name):
    """Return the names of a device's features in the order of their bits."""
    information = _ask(asked, name, struct.pack("=IIQI", ETHTOOL_GSSET_INFO, 0, 1 << FEATURES, 0))
    (count,) = struct.unpack_from("=I", information, 16)
    texts = _ask(asked, name, struct.pack("=III", ETHTOOL_GSTRINGS, FEATURES, count) + bytes(count * NAME_BYTES))
    cut = (texts[12 + at : 12 + at + NAME_BYTES] for at in range(0, count * NAME_BYTES, NAME_BYTES))
    return [text.split(b"\0")[0].decode() for text in cut]


def _ask(asked, name, request):
    """Pass an ethtool request to a device, and return the request as changed by the kernel."""
    buffer = array.array("B", request)
    address, _ = buffer.buffer_info()
    try:
        fcntl.ioctl(asked, SIOCETHTOOL, INTERFACE_REQUEST.pack(name.encode(), address))
    except OSError as error:
        raise SettingError(f"{UDP_SEGMENTATION} of {name}: {error.strerror}") from None
    return buffer.tobytes()
