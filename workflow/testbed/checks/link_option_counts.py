"""Packets that link options affected, from the counters of a run document."""

from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, PACKET_BYTES, UDP_HEADER_BYTES
from testbed.network.behind_bottleneck import PLACES, counts

#: Hosts' counters of packets with a wrong checksum; TCP's covers both versions of IP.
COUNTERS = ("TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors", "IcmpInCsumErrors", "Icmp6InCsumErrors")
#: Direction -> which of a pair's ends receives its packets.
RECEIVERS = {"forward": 1, "reverse": 0}
#: TCP's header with timestamps.
TCP_HEADER_BYTES = 32
#: Bytes of TCP's data offset, or of UDP's length.
READ_BEFORE_CHECKSUM = 2


def late(_, document, direction) -> tuple[int, int]:
    """Return the number of late packets and the total number."""
    _, left, were_late = counts(document, direction)
    return were_late, left


def doubled(_, document, direction) -> tuple[int, int]:
    """Return the number of duplicated packets and the total number."""
    came, left, _ = counts(document, direction)
    return left - came, came


def damaged(specification, document, direction) -> tuple[int, int, tuple[float, float]]:
    """Return the number of damaged packets, the number that reached the hosts, and the least and largest detectable share of damage.

    netem flips one bit of a packet's linear part, a random one (netem_enqueue of net/sched/sch_netem.c), and counts nothing. Without
    segmentation offload that part is the whole frame. A damaged Ethernet header has no effect here, for the router writes another
    one. In an IPv4 header a router drops the packet; IPv6 has no checksum there, and the packet goes elsewhere, or arrives. Of two bytes
    behind, those of TCP's data offset or UDP's length, the protocol may drop it before it looks at its checksum. Anything else fails
    the checksum of TCP, UDP or ICMP at the host, which counts it. All counts start when the network is built, as the hosts' do.
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
    """Return the least and the largest detectable share of flipped bits, for packets with a given mean length.

    1 / length is largest on average if all packets have the least or the largest length, and least if all are alike.

    Examples
    --------
    >>> [round(share, 3) for share in noticed_share(1514, 66, 34)]
    [0.976, 0.991]
    """
    small = (most_bytes - min(max(mean_bytes, least_bytes), most_bytes)) / (most_bytes - least_bytes)
    most_per_byte = small / least_bytes + (1 - small) / most_bytes
    unnoticed = header_bytes + READ_BEFORE_CHECKSUM
    return max(0.0, 1 - unnoticed * most_per_byte), 1 - ETHERNET_HEADER_BYTES / max(mean_bytes, least_bytes)


#: Option -> what counts its packets: a function of specification, document and direction that returns how many met it, of how many,
#: and, where not all that did can be seen, the least and the largest share of them that can.
COUNTED = {"reordering": late, "duplicate_percent": doubled, "corrupt_percent": damaged}
