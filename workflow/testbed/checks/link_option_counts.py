"""Counts of the packets that link options affected, derived from the counters in a run document."""

from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, PACKET_BYTES, UDP_HEADER_BYTES
from testbed.network.behind_bottleneck import PLACES, counts

#: Hosts' counters of packets with a wrong checksum; TCP uses one counter for both IP versions.
COUNTERS = ("TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors", "IcmpInCsumErrors", "Icmp6InCsumErrors")
#: Direction -> index of the receiving host in a pair.
RECEIVERS = {"forward": 1, "reverse": 0}
#: Size of a TCP header with timestamps.
TCP_HEADER_BYTES = 32
#: Number of bytes that are read before the checksum is verified: TCP's data offset, or UDP's length.
READ_BEFORE_CHECKSUM = 2


def late(_, document, direction) -> tuple[int, int]:
    """Return the number of late packets and the number of all packets."""
    _, left, were_late = counts(document, direction)
    return were_late, left


def doubled(_, document, direction) -> tuple[int, int]:
    """Return the number of duplicates, and the number of packets before they were duplicated."""
    came, left, _ = counts(document, direction)
    return left - came, came


def damaged(specification, document, direction) -> tuple[int, int, tuple[float, float]]:
    """Return the number of packets found damaged, the number of packets that netem passed, and the range of the detectable share.

    netem flips a random bit in a packet's linear part (netem_enqueue in net/sched/sch_netem.c) and doesn't count damaged packets. Without
    segmentation offload the linear part is the entire frame. The effect depends on the position of the bit:

    - Ethernet header: no effect, because the router writes a new header.
    - IP header: with IPv4, a router drops the packet. With IPv6, whose header has no checksum, the packet is misrouted or arrives.
    - TCP's data offset or UDP's length (2 bytes): the protocol may drop the packet before it verifies the checksum.
    - Elsewhere: the checksum of TCP, UDP or ICMP is wrong, and the receiving host counts the packet.

    The range is the minimum and maximum share of damaged packets that can be detected (`noticed_share`). All counters, including the hosts'
    counters, start when the network is built.
    """
    after, counted = document["links"]["after"], document["stack"]["tcp"]
    netem = after[PLACES[direction][1]]["qdiscs"]["netem"]
    lost = sum(after[name]["qdiscs"]["netem"]["drops"] for name in document["network"]["set"]["netem"][direction])
    hosts = [pair.ends[RECEIVERS[direction]] for pair in specification.pairs]
    noticed = sum(counted[host].get(name, 0) for host in hosts for name in COUNTERS)
    headers = ETHERNET_HEADER_BYTES + IP_HEADER_BYTES[specification.ip_version]
    least_bytes = headers + (UDP_HEADER_BYTES if specification.udp or specification.groups else TCP_HEADER_BYTES)
    mean_bytes = netem["bytes"] / max(1, netem["packets"])
    seen = noticed_share(mean_bytes, least_bytes, headers, specification.largest_packet_bytes)
    return noticed, netem["packets"] - lost, seen


def noticed_share(mean_bytes, least_bytes, header_bytes, most_bytes=PACKET_BYTES) -> tuple[float, float]:
    """Return the minimum and maximum share of bit flips that can be detected, for packets with a given mean length.

    The share depends on the mean of 1 / length. This mean is largest if every packet has either the minimum or the maximum length, and
    smallest if all packets have the same length.

    Examples
    --------
    >>> [round(share, 3) for share in noticed_share(1514, 66, 34)]
    [0.976, 0.991]
    """
    small = (most_bytes - min(max(mean_bytes, least_bytes), most_bytes)) / (most_bytes - least_bytes)
    most_per_byte = small / least_bytes + (1 - small) / most_bytes
    unnoticed = header_bytes + READ_BEFORE_CHECKSUM
    return max(0.0, 1 - unnoticed * most_per_byte), 1 - ETHERNET_HEADER_BYTES / max(mean_bytes, least_bytes)


#: Name of an option -> function that counts the affected packets. The function takes the specification, the document and the direction. It
#: returns the number of affected packets, the number of all packets and, if some affected packets can't be detected, the minimum and
#: maximum detectable share.
COUNTED = {"reordering": late, "duplicate_percent": doubled, "corrupt_percent": damaged}
