"""TCP settings of a run's hosts: buffers, windows, super-packets, pacing, ECN.

`RunHosts` is a base class of `specification.RunSpecification`.
"""

from functools import cached_property

from experiment.conditions import SENDING_HOST, Hosts, Transport
from experiment.host_options import OF_NAME


class RunHosts:
    """Properties of a run's hosts, mainly their TCP settings."""

    @cached_property
    def hosts(self) -> Hosts:
        return Hosts(**self.scenario["hosts"])

    @cached_property
    def transport(self) -> Transport:
        return Transport(**{key: value for key, value in self.scenario["transport"].items() if key not in OF_NAME})

    @property
    def uses_ecn(self) -> bool:
        """Whether any pair of hosts requests ECN."""
        return any(self.pair_ecn(pair) != "off" for pair in self.pairs) if self.groups else self.transport.ecn != "off"

    def pair_ecn(self, pair) -> str:
        """Return the ECN setting of a `Pair`: that of a group on the pair's hosts, or `transport.ecn` if no such group sets ECN."""
        for group in self.groups:
            if group.ecn is not None and pair.index in self._pairs_of(group):
                return group.ecn
        return self.transport.ecn

    @property
    def receive_buffer_bytes(self) -> int:
        """Maximum receive buffer of a connection in bytes: set by the study, or large enough not to limit any flow."""
        return self.transport.receive_buffer_bytes or self._ample_buffer_bytes

    @property
    def send_buffer_bytes(self) -> int:
        """Maximum send buffer of a connection in bytes: set by the study, or large enough not to limit any flow."""
        return self.transport.send_buffer_bytes or self._ample_buffer_bytes

    @property
    def limits_receive_window(self) -> bool:
        """Whether the study sets a receive buffer or disables window scaling."""
        return self.transport.receive_buffer_bytes is not None or not self.scales_windows

    @property
    def limits_send_buffer(self) -> bool:
        """Whether the study sets a send buffer."""
        return self.transport.send_buffer_bytes is not None

    @property
    def scales_windows(self) -> bool:
        """Whether receive windows are scaled (RFC 7323)."""
        return self.scenario["transport"].get("window_scaling", True)

    @property
    def max_pacing_rate_mbps(self) -> float | None:
        """Limit on a socket's pacing rate (SO_MAX_PACING_RATE) in Mbit/s; None without a limit."""
        return self.scenario["transport"].get("max_pacing_rate_mbps")

    @property
    def gso_max_segments(self) -> float | None:
        """Maximum number of segments in a super-packet, or None if the study limits neither its segments nor its bytes."""
        transport = self.scenario["transport"]
        segments, in_bytes = transport.get("gso_max_segments"), transport.get("gso_max_bytes")
        limits = [segments, in_bytes and max(1, in_bytes / self.segment_bytes)]
        return min((limit for limit in limits if limit), default=None)

    @property
    def single_packets(self) -> bool:
        """Whether the hosts' TCP builds only individual packets and charges each of them to the send buffer before sending it.

        Without segmentation offload TCP still builds super-packets, which are segmented when they leave the stack. On a cable these
        super-packets wait in the host's own queue. The send buffer limits only the start of a new super-packet: while cwnd and the receive
        window allow it, TCP splits packets off the front of a super-packet that is still being filled. A process that keeps writing can
        therefore keep filling one super-packet (tcp_sendmsg_locked, tcp_push_one of Linux 7.2). On a real host the device's queue prevents
        this (TCP Small Queues); here the router accepts all packets at once.
        """
        queue_at_host = self.is_cable or self.link.netem == SENDING_HOST
        return not self.transport.segmentation_offload and (queue_at_host or self.limits_send_buffer)

    @cached_property
    def _ample_buffer_bytes(self):
        """Size in bytes of a socket buffer that doesn't limit any flow: far above 2 x (BDP + queue).

        The kernel charges the truesize of each sk_buff to a buffer; for an individual packet, this is about twice the payload. Half of the
        buffer is advertised as the receive window. A buffer of this size suffices for BBR's cwnd even while one lost packet prevents four
        BDPs of data from being read.
        """
        longest = (self.most_total_rate_mbps or 0) * 1e6 / 8 * self.rtt_most_ms / 1e3
        needed = 16 * (longest + sum(self.queues_bytes))
        return int(min(max(needed, 64 * 2**20), 2**31 - 2**20))
