"""Packets that link options affected, from the counters of a run document."""

from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, PACKET_BYTES, UDP_HEADER_BYTES
from testbed.network.behind_bottleneck import PLACES, counts

#: Hosts' counters of packets with a wrong checksum; TCP's covers both versions of IP.
COUNTERS = ("TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors", "IcmpInCsumErrors", "Icmp6InCsumErrors")
#: Direction -> index of the pair's host that receives its packets.
RECEIVERS = {"forward": 1, "reverse": 0}
#: Size of TCP's header with timestamps.
TCP_HEADER_BYTES = 32
#: Number of bytes that are read before the checksum is verified: TCP's data offset, or UDP's length.
READ_BEFORE_CHECKSUM = 2


def late(_, document, direction) -> tuple[int, int]:
    """Return the number of late packets and the number of all packets."""
    _, left, were_late = counts(document, direction)
    return were_late, left


def doubled(_, document, direction) -> tuple[int, int]:
    """Return the number of duplicated packets and the number of all packets."""
    came, left, _ = counts(document, direction)
    return left - came, came


def damaged(specification, document, direction) -> tuple[int, int, tuple[float, float]]:
    """Return the number of packets with detected damage, the number that netem passed, and the smallest and largest detectable share.

    netem flips a random bit of a packet's linear part (netem_enqueue of net/sched/sch_netem.c), and doesn't count damaged packets. Without
    segmentation offload that part is the whole frame. A damaged Ethernet header has no effect, because the router writes a new
    one. If the IPv4 header is damaged, a router drops the packet; IPv6's header has no checksum, so the packet is misrouted or arrives. If
    the two bytes of TCP's data offset or UDP's length are damaged, the protocol may drop the packet before verifying its checksum. With any
    other damage the checksum of TCP, UDP or ICMP is wrong at the host, which counts this. All counts, including the hosts', start when the
    network is built.
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
    """Return the smallest and the largest detectable share of flipped bits, for packets with a given mean length.

    The mean of 1 / length is largest if all packets have either the smallest or the largest length, and smallest if all lengths are equal.

    Examples
    --------
    >>> [round(share, 3) for share in noticed_share(1514, 66, 34)]
    [0.976, 0.991]
    """
    small = (most_bytes - min(max(mean_bytes, least_bytes), most_bytes)) / (most_bytes - least_bytes)
    most_per_byte = small / least_bytes + (1 - small) / most_bytes
    unnoticed = header_bytes + READ_BEFORE_CHECKSUM
    return max(0.0, 1 - unnoticed * most_per_byte), 1 - ETHERNET_HEADER_BYTES / max(mean_bytes, least_bytes)


#: Option -> the function that counts its packets. It is given specification, document and direction. It returns the number of affected
#: packets, the total number and, if some affected packets can't be detected, the smallest and the largest detectable share.
COUNTED = {"reordering": late, "duplicate_percent": doubled, "corrupt_percent": damaged}
