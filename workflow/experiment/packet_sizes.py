"""Sizes of packets and headers in bytes, each defined once; the sizes of a run's packets are in `run_packets`."""

#: Ethernet's MTU, without and with jumbo frames.
MTU_BYTES, LARGEST_MTU_BYTES = 1500, 9000
ETHERNET_HEADER_BYTES = 14
#: Size of a full packet as Linux's queueing disciplines count it (``qdisc_pkt_len``).
PACKET_BYTES = MTU_BYTES + ETHERNET_HEADER_BYTES
#: Maximum size of a packet with segmentation offload (GSO_MAX_SIZE).
SUPER_PACKET_BYTES = 65_536
TCP_TIMESTAMP_OPTION_BYTES = 12
IP_HEADER_BYTES = {"ipv4": 20, "ipv6": 40}
TCP_HEADER_BYTES = 20
UDP_HEADER_BYTES = 8
HEADER_BYTES = {version: header + TCP_HEADER_BYTES for version, header in IP_HEADER_BYTES.items()}
#: Space that Linux reserves for MPTCP's options in a data segment with a mapping (DSS option of RFC 8684).
MPTCP_OPTION_BYTES = 20
#: Size of ping's default message, including the ICMP header.
ECHO_BYTES = 56 + 8
#: Total size of the headers between the outer IP header and the inner IP packet of a GRE-in-UDP tunnel (RFC 8086): UDP, GRE and inner
#: Ethernet header.
TUNNEL_HEADER_BYTES = UDP_HEADER_BYTES + 4 + ETHERNET_HEADER_BYTES
