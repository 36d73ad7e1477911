"""Bytes of packets and their headers, each once; what follows for a run is in `run_packets`."""

#: Ethernet's, and that of jumbo frames.
MTU_BYTES, LARGEST_MTU_BYTES = 1500, 9000
ETHERNET_HEADER_BYTES = 14
#: A full packet as Linux's queueing disciplines count it (``qdisc_pkt_len``).
PACKET_BYTES = MTU_BYTES + ETHERNET_HEADER_BYTES
#: The largest packet with segmentation offload (GSO_MAX_SIZE).
SUPER_PACKET_BYTES = 65_536
TCP_TIMESTAMP_OPTION_BYTES = 12
IP_HEADER_BYTES = {"ipv4": 20, "ipv6": 40}
TCP_HEADER_BYTES = 20
UDP_HEADER_BYTES = 8
HEADER_BYTES = {version: header + TCP_HEADER_BYTES for version, header in IP_HEADER_BYTES.items()}
#: The options of a data segment that carries a mapping (RFC 8684, DSS), as Linux reserves them.
MPTCP_OPTION_BYTES = 20
#: What ping sends by default, its ICMP header included.
ECHO_BYTES = 56 + 8
#: Between the inner and the outer packet of a GRE-in-UDP tunnel: UDP, GRE (RFC 8086), the inner Ethernet header.
TUNNEL_HEADER_BYTES = UDP_HEADER_BYTES + 4 + ETHERNET_HEADER_BYTES
