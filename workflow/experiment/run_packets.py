"""The sizes of a run's packets and segments, derived from its links, protocols and options. Part of `specification.RunSpecification`."""

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
    """Sizes of a run's packets."""

    @property
    def link_mtu_bytes(self) -> int:
        """The largest IP packet of the links in bytes."""
        return self.scenario["link"].get("mtu_bytes", MTU_BYTES)

    @property
    def has_own_mtu(self) -> bool:
        """Whether the links' MTU differs from Ethernet's."""
        return OF_NAME["mtu_bytes"].used(self.scenario["link"])

    @property
    def largest_packet_bytes(self) -> int:
        """Size in bytes of the links' largest packet, as Linux's queueing disciplines count it."""
        return self.link_mtu_bytes + ETHERNET_HEADER_BYTES

    @property
    def mtu_bytes(self) -> int:
        """The largest IP packet of the run's connections in bytes. Inside a tunnel it is smaller than the cable's largest packet."""
        if self.multipath.by != "gre":
            return self.link_mtu_bytes
        return self.link_mtu_bytes - IP_HEADER_BYTES[self.multipath.tunnel_ip_version] - TUNNEL_HEADER_BYTES

    @property
    def segment_bytes(self) -> int:
        """TCP payload of a full packet (MSS minus the options of a data segment) in bytes."""
        return min(self.transport.segment_bytes or self._largest_segment_bytes, self._largest_segment_bytes)

    @property
    def timestamp_bytes(self) -> int:
        """Bytes that TCP's timestamps occupy in each segment."""
        return TCP_TIMESTAMP_OPTION_BYTES if self.scenario["transport"].get("timestamps", True) else 0

    @property
    def snd_mss_bytes(self) -> int:
        """The payload of a full segment in bytes as the kernel reports it: tcpi_snd_mss doesn't subtract MPTCP's option."""
        return self.segment_bytes + (MPTCP_OPTION_BYTES if self.multipath.by == "mptcp" else 0)

    @property
    def _largest_segment_bytes(self):
        """TCP payload of the largest packet that the network accepts, in bytes."""
        options = self.timestamp_bytes + (MPTCP_OPTION_BYTES if self.multipath.by == "mptcp" else 0)
        return self.mtu_bytes - HEADER_BYTES[self.ip_version] - options

    @property
    def payload_bytes(self) -> int:
        """Application bytes in a full packet: the payload of a TCP segment or of a UDP message."""
        return self.traffic.block_bytes if self.udp else self.segment_bytes

    @property
    def packet_bytes(self) -> int:
        """Size in bytes of a full packet of this run as the bottleneck counts it, including headers, tunnel and frame overhead."""
        if self.udp:
            headers = IP_HEADER_BYTES[self.ip_version] + UDP_HEADER_BYTES
        else:
            headers = self.mtu_bytes - self._largest_segment_bytes
        if self.multipath.by == "gre":
            headers += IP_HEADER_BYTES[self.multipath.tunnel_ip_version] + TUNNEL_HEADER_BYTES
        return self.payload_bytes + headers + ETHERNET_HEADER_BYTES + self.link.frame_overhead_bytes
