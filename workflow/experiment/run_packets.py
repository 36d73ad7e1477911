"""The sizes of a run's packets and segments, derived from its links, protocols and options.

`RunPackets` is a base class of `specification.RunSpecification`.
"""

from experiment.link_options import OF_NAME
from experiment.packet_sizes import (
    ETHERNET_HEADER_BYTES,
    HEADER_BYTES,
    IP_HEADER_BYTES,
    MPTCP_OPTION_BYTES,
    MTU_BYTES,
    TCP_TIMESTAMP_OPTION_BYTES,
    TUNNEL_HEADER_BYTES,
    UDP_HEADER_BYTES,
)


class RunPackets:
    """The sizes of a run's packets and of their parts."""

    @property
    def link_mtu_bytes(self) -> int:
        """MTU of the links: the maximum size of an IP packet in bytes."""
        return self.scenario["link"].get("mtu_bytes", MTU_BYTES)

    @property
    def has_own_mtu(self) -> bool:
        """Whether the study sets an MTU other than Ethernet's."""
        return OF_NAME["mtu_bytes"].used(self.scenario["link"])

    @property
    def largest_packet_bytes(self) -> int:
        """Maximum size of a packet on the links in bytes, as Linux's queueing disciplines count it."""
        return self.link_mtu_bytes + ETHERNET_HEADER_BYTES

    @property
    def mtu_bytes(self) -> int:
        """Maximum size of the connections' IP packets in bytes, which in a tunnel is smaller than the links' MTU."""
        if self.multipath.by != "gre":
            return self.link_mtu_bytes
        return self.link_mtu_bytes - IP_HEADER_BYTES[self.multipath.tunnel_ip_version] - TUNNEL_HEADER_BYTES

    @property
    def segment_bytes(self) -> int:
        """TCP payload of a full packet (MSS minus the options of a data segment) in bytes."""
        return min(self.transport.segment_bytes or self._largest_segment_bytes, self._largest_segment_bytes)

    @property
    def timestamp_bytes(self) -> int:
        """Size in bytes of the TCP timestamps option in each segment."""
        return TCP_TIMESTAMP_OPTION_BYTES if self.scenario["transport"].get("timestamps", True) else 0

    @property
    def snd_mss_bytes(self) -> int:
        """Payload of a full segment in bytes as the kernel reports it: tcpi_snd_mss doesn't subtract MPTCP's option."""
        return self.segment_bytes + (MPTCP_OPTION_BYTES if self.multipath.by == "mptcp" else 0)

    @property
    def _largest_segment_bytes(self):
        """TCP payload in bytes of the largest packet that the network accepts."""
        options = self.timestamp_bytes + (MPTCP_OPTION_BYTES if self.multipath.by == "mptcp" else 0)
        return self.mtu_bytes - HEADER_BYTES[self.ip_version] - options

    @property
    def payload_bytes(self) -> int:
        """Payload of a full packet in bytes: that of a full TCP segment, or of a UDP message."""
        return self.traffic.block_bytes if self.udp else self.segment_bytes

    @property
    def packet_bytes(self) -> int:
        """Size of this run's full packets in bytes as the bottleneck counts it, including headers, tunnel and frame overhead."""
        if self.udp:
            headers = IP_HEADER_BYTES[self.ip_version] + UDP_HEADER_BYTES
        else:
            headers = self.mtu_bytes - self._largest_segment_bytes
        if self.multipath.by == "gre":
            headers += IP_HEADER_BYTES[self.multipath.tunnel_ip_version] + TUNNEL_HEADER_BYTES
        return self.payload_bytes + headers + ETHERNET_HEADER_BYTES + self.link.frame_overhead_bytes
