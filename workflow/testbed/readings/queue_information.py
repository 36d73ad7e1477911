"""Counters and backlog of qdiscs: `tc -s qdisc` without tc.

Kernel formats (include/uapi/linux): struct tcmsg and TCA_* of rtnetlink.h,
struct gnet_stats_basic, gnet_stats_queue and TCA_STATS_* of gen_stats.h.
"""

import socket
import struct

from experiment.disciplines import CAKE_TIN, CAKE_TINS, OF_KIND
from testbed.network.netlink import NETLINK_ROUTE, Channel, NetlinkError, attributes, network_namespace, text

RTM_GETQDISC = 38
TCA_KIND, TCA_STATS2 = 1, 7
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP, TCA_STATS_PKT64 = 1, 3, 4, 8
STRUCTS = {
    TCA_STATS_BASIC: "struct gnet_stats_basic",
    TCA_STATS_QUEUE: "struct gnet_stats_queue",
    TCA_STATS_APP: "the discipline's statistics",
}
#: struct tcmsg: family and pads, interface, handle, parent, info.
MESSAGE = struct.Struct("=B3xiIII")
EVERY_QDISC = MESSAGE.pack(0, 0, 0, 0, 0)
#: struct gnet_stats_basic: bytes, packets (the lowest 32 bits; all 64 bits are in a separate attribute if needed).
BASIC, PACKETS = struct.Struct("=QI"), struct.Struct("=Q")
#: struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits.
QUEUE = struct.Struct("=5I")
#: Kinds of qdisc that can be the queue of an emulated bottleneck.
QUEUE_KINDS = (*OF_KIND, "netem")


class QueueReader(Channel):
    """A netlink channel that reads the queue of one interface.

    Open the channel before the traffic, use it for all readings, and close it afterwards.

    Parameters
    ----------
    interface : str
        Name of the interface in the node.
    kinds : tuple of str
        Kinds of qdisc that may be the queue. If the interface has several of them, the first kind in this tuple is read.

    Raises
    ------
    netlink.NetlinkError
        If the interface doesn't exist, or has no qdisc of the given kinds.
    """

    def __init__(self, node, interface, kinds=QUEUE_KINDS):
        self.what = f"queue of {interface}"
        with network_namespace(node):
            try:
                index = socket.if_nametoindex(interface)
            except OSError as error:
                raise NetlinkError(f"{node.name}: {self.what}: {error}", error.errno) from error
        super().__init__(node, NETLINK_ROUTE)
        try:
            self.request = self.find(index, kinds)
        except BaseException:
            self.close()
            raise

    def find(self, index, kinds) -> bytes:
        """Return the request that reads only the queue of the interface with this index."""
        qdiscs = self.ask(RTM_GETQDISC, MESSAGE.pack(0, index, 0, 0, 0), self.what, qdisc)
        # Kernels before 4.20 send the qdiscs of all interfaces.
        handles = {kind: handle for of, kind, handle in qdiscs if of == index}
        for kind in kinds:
            if kind in handles:
                return MESSAGE.pack(0, index, handles[kind], 0, 0)
        raise NetlinkError(
            f"{self.node.name}: {self.what}: expected one of {', '.join(kinds)}, found {', '.join(handles) or 'none'}"
        )

    def read(self) -> dict[str, int]:
        """Read the queue and return the result of `queue`; raise `netlink.NetlinkError` if the kernel doesn't respond."""
        (read,) = self.ask(RTM_GETQDISC, self.request, self.what, queue, dump=False)
        return read


def qdisc(buffer, start, end) -> tuple[int, str, int]:
    """Return the interface's index, the kind and the handle of a qdisc from its struct tcmsg."""
    _, index, handle, _, _ = MESSAGE.unpack_from(buffer, start)
    return index, text(buffer, *attributes(buffer, start + MESSAGE.size, end)[TCA_KIND]), handle


def queue(buffer, start, end) -> dict[str, int]:
    """Return the backlog, the drops and the marks of a qdisc from its struct tcmsg and attributes.

    Returns
    -------
    dict
        ``packets`` and ``bytes`` that are queued (for netem, including delayed packets), and ``drops``, the number of packets dropped
        since the qdisc was created (32 bits in the kernel). For a discipline other than drop-tail, the dict also contains ``marks``, the
        number of CE marks, and the delays that the discipline reports, in ms.

    Raises
    ------
    ValueError
        If the statistics are missing or truncated.
    """
    packets, size, drops, _, _ = statistics(buffer, start, end, TCA_STATS_QUEUE, QUEUE)
    read = {"packets": packets, "bytes": size, "drops": drops}
    _, kind, _ = qdisc(buffer, start, end)
    return read if kind not in OF_KIND else read | _managed(buffer, start, end, OF_KIND[kind], {}, delays=True)


def kinds_of(node) -> list[tuple[int, str]]:
    """Return (index of the device, kind) for all qdiscs of a node."""
    return [(index, kind) for index, kind, _ in node.route.ask(RTM_GETQDISC, EVERY_QDISC, "qdiscs", qdisc)]


def counters_of(node) -> list[tuple[int, str, dict[str, int]]]:
    """Return (index of the device, kind, counters) for all qdiscs of a node; see `counters`."""
    return node.route.ask(RTM_GETQDISC, EVERY_QDISC, "qdiscs", counters)


def counters(buffer, start, end) -> tuple[int, str, dict[str, int]]:
    """Return the device's index, the kind and the counters of a qdisc from its struct tcmsg.

    The counters start at 0 when the qdisc is created. They are:

    - for every qdisc: ``packets`` and ``bytes`` that have left the qdisc, ``drops``, ``overlimits`` (the number of times that a shaper
      held back a packet), and ``backlog_packets``, the number of queued packets;
    - for netem with ``reorder``, also ``at_once_packets``, the number of packets that passed without delay;
    - for a discipline other than drop-tail, also ``marks``, the number of CE marks, and, if the discipline reports them,
      ``overflow_drops`` (drops because the queue was full), ``counted`` (specific counters, by the kernel's names), and ``classes`` (the
      counters of each class, in order).
    """
    index, kind, _ = qdisc(buffer, start, end)
    size, packets = statistics(buffer, start, end, TCA_STATS_BASIC, BASIC)
    waiting, _, drops, requeues, overlimits = statistics(buffer, start, end, TCA_STATS_QUEUE, QUEUE)
    if more := statistics(buffer, start, end, TCA_STATS_PKT64, PACKETS, missing=()):
        (packets,) = more
    counted = {"packets": packets, "bytes": size, "drops": drops, "overlimits": overlimits}
    counted |= {"backlog_packets": waiting}
    if kind == "netem" and requeues:
        counted["at_once_packets"] = requeues
    return (
        index,
        kind,
        counted if kind not in OF_KIND else counted | _managed(buffer, start, end, OF_KIND[kind], counted),
    )


def _managed(buffer, start, end, discipline, counted, delays=False):
    """Return the counters specific to a queueing discipline or, if ``delays`` is true, its columns for the time series.

    The result is empty for drop-tail. ``counted`` contains the counters that every qdisc has.
    """
    if discipline.limited_only:
        return {}
    tins = _tins(buffer, start, end) if discipline.name == "cake" else []
    counts, rules = dict(counted), discipline.counters
    if rules.layout:
        numbers = statistics(buffer, start, end, TCA_STATS_APP, rules.layout)
        counts |= {name: number for name, number in zip(rules.names, numbers, strict=True) if name}
    marks = sum(tin["marks"] for tin in tins) + sum(counts[name] for name in rules.marks)
    if delays:
        delays_ms = {column: counts[name] / 1e3 for column, name in rules.delays_us.items()}
        return {"marks": marks} | delays_ms | ({"discipline_delay_ms": _busiest_ms(tins)} if tins else {})
    overflow = {} if rules.overflow is None else {"overflow_drops": sum(counts[name] for name in rules.overflow)}
    own = {name: counts[name] for name in rules.names if name}
    return {"marks": marks} | overflow | ({"counted": own} if own else {}) | ({"classes": tins} if tins else {})


def _busiest_ms(tins):
    """Return the mean delay, in ms, of the tin with the most packets."""
    return max(tins, key=lambda tin: tin["enqueued_packets"])["delay_us"] / 1e3


def _tins(buffer, start, end):
    """Return the counters of each of cake's tins."""
    values = attributes(buffer, start + MESSAGE.size, end)
    own = attributes(buffer, *attributes(buffer, *values[TCA_STATS2])[TCA_STATS_APP])
    tins = attributes(buffer, *own[CAKE_TINS])
    read = []
    for number in sorted(tins):
        fields = attributes(buffer, *tins[number])
        read.append({name: int.from_bytes(buffer[slice(*fields[kind])], "little") for name, kind in CAKE_TIN.items()})
    return read


def statistics(buffer, start, end, kind, layout, missing=None) -> tuple:
    """Return the numbers of one struct in a qdisc's statistics.

    If the struct is absent or too short, return ``missing``, or raise `ValueError` if ``missing`` is None.
    """
    values = attributes(buffer, start + MESSAGE.size, end)
    kinds = attributes(buffer, *values[TCA_STATS2]) if TCA_STATS2 in values else {}
    at, until = kinds.get(kind, (0, 0))
    if until - at >= layout.size:
        return layout.unpack_from(buffer, at)
    if missing is None:
        raise ValueError(f"{STRUCTS[kind]} of {until - at} bytes, expected at least {layout.size}")
    return missing
