"""What waits in a queue of an interface: `tc -s qdisc` without tc.

Formats of the kernel (include/uapi/linux): struct tcmsg and TCA_* of rtnetlink.h,
struct gnet_stats_queue and TCA_STATS_* of gen_stats.h.
"""

import socket
import struct

from .netlink import Channel, NetlinkError, attributes, network_namespace, text

NETLINK_ROUTE = 0
RTM_GETQDISC = 38
TCA_KIND, TCA_STATS2, TCA_STATS_QUEUE = 1, 7, 3
#: struct tcmsg: family and pads, interface, handle, parent, info.
MESSAGE = struct.Struct("=B3xiIII")
#: The beginning of struct gnet_stats_queue: qlen, backlog, drops.
QUEUE = struct.Struct("=III")
#: What can be the queue of a bottleneck here.
QUEUE_KINDS = ("pfifo", "bfifo", "netem")


class QueueReader:
    """Reads the queue of one interface of a node; open before the traffic, read often, close.

    Parameters
    ----------
    node : mininet.node.Node
    interface : str
        Its name in the node.
    kinds : tuple of str
        Kinds of qdisc that may be the queue; the first that the interface has is read.

    Raises
    ------
    netlink.NetlinkError
        If the interface or such a qdisc is not there.
    """

    def __init__(self, node, interface, kinds=QUEUE_KINDS):
        self.what = f"queue of {interface}"
        with network_namespace(node):
            try:
                index = socket.if_nametoindex(interface)
            except OSError as error:
                raise NetlinkError(f"{node.name}: {self.what}: {error}", error.errno) from error
        self.channel = Channel(node, NETLINK_ROUTE)
        try:
            self.request = self.find(index, kinds)
        except BaseException:
            self.channel.close()
            raise

    def find(self, index, kinds) -> bytes:
        """Return the request for the interface's queue alone."""
        qdiscs = self.channel.ask(RTM_GETQDISC, MESSAGE.pack(0, index, 0, 0, 0), self.what, qdisc)
        # Kernels before 4.20 send the qdiscs of all interfaces.
        handles = {kind: handle for of, kind, handle in qdiscs if of == index}
        for kind in kinds:
            if kind in handles:
                return MESSAGE.pack(0, index, handles[kind], 0, 0)
        raise NetlinkError(
            f"{self.channel.node.name}: {self.what}: expected one of {', '.join(kinds)}, "
            f"found {', '.join(handles) or 'none'}"
        )

    def read(self) -> dict[str, int]:
        """Return what `queue` makes of the kernel's answer.

        Raises
        ------
        netlink.NetlinkError
        """
        (read,) = self.channel.ask(RTM_GETQDISC, self.request, self.what, queue, dump=False)
        return read

    def close(self) -> None:
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def qdisc(buffer, start, end) -> tuple[int, str, int]:
    """Parse the struct tcmsg of one qdisc: return its interface's index, its kind and its handle."""
    _, index, handle, _, _ = MESSAGE.unpack_from(buffer, start)
    return index, text(buffer, *attributes(buffer, start + MESSAGE.size, end)[TCA_KIND]), handle


def queue(buffer, start, end) -> dict[str, int]:
    """Parse the struct tcmsg of one qdisc and its attributes.

    Returns
    -------
    dict
        ``packets`` and ``bytes`` that wait now (netem's: those it delays too), ``drops``
        in packets since the qdisc was made (32 bits in the kernel).

    Raises
    ------
    ValueError
        If the statistics are missing or cut short.
    """
    found = attributes(buffer, start + MESSAGE.size, end)
    statistics = attributes(buffer, *found[TCA_STATS2]) if TCA_STATS2 in found else {}
    at, until = statistics.get(TCA_STATS_QUEUE, (0, 0))
    if until - at < QUEUE.size:
        raise ValueError(f"struct gnet_stats_queue of {until - at} bytes, expected {QUEUE.size} or more")
    packets, size, drops = QUEUE.unpack_from(buffer, at)
    return {"packets": packets, "bytes": size, "drops": drops}
