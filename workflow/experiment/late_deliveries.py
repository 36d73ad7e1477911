"""Upper bound on the data whose delivery may become known in a period, including data sent before the period.

`LateDeliveries` is a base class of `capacity.Capacity`.
"""

import math
from functools import cached_property

from experiment.own_kernels import segments_per_ack
from experiment.packet_sizes import SUPER_PACKET_BYTES
from experiment.timeline import DIRECTIONS, LOST_ALL, directions_of, traces_of

_, REVERSE = DIRECTIONS
#: Sequences of consecutive losses with a lower probability are neglected.
NEGLIGIBLE = 1e-9
#: Maximum number of packets that one compressed selective acknowledgement reports (tcp_comp_sack_nr), and the maximum delay of such an
#: acknowledgement in ms (tcp_comp_sack_delay_ns and tcp_comp_sack_slack_ns in Linux's ip-sysctl.rst).
COMPRESSED_SACKS, COMPRESSION_MS = 44, 1.1
#: Minimum and maximum size of an acknowledgement as the bottleneck counts it. The minimum is for Ethernet, IPv4 and TCP headers with
#: timestamps; the maximum is for IPv6 and all TCP options.
ACKNOWLEDGEMENT_BYTES, LARGEST_ACKNOWLEDGEMENT_BYTES = 66, 114
#: Time in s by which a shaper's timer may be late under a real clock. The average rate isn't reduced, because the shaper then sends at
#: once all data that it could have sent during this time.
REAL_TIMER_S = 1e-3


class LateDeliveries:
    """Payload that was in transit, or delivered but not yet acknowledged, at the beginning of a period."""

    def most_bytes(self, begin_ns, end_ns, flows=None) -> float | None:
        """Return the maximum payload, in bytes, whose delivery may become known between two times: `known_bytes` plus late packets.

        Late packets are in transit or unacknowledged at the beginning of the period:

        - packets that are acknowledged together: two per connection, or two super-packets with segmentation offload; more if
          acknowledgements are lost or if selective acknowledgements are compressed;
        - packets delayed by jitter, slots or reordering;
        - packets admitted by the tokens in a policer's bucket.

        If the flows' RTTs differ, the difference between the longest and the shortest RTT counts as an additional delay. None if the
        capacity is unlimited.
        """
        run, known = self._run, self.known_bytes(begin_ns, end_ns, flows)
        if known is None:
            return None
        flows = self._flows if flows is None else flows
        unsaid = self._unacknowledged_packets(len(flows))
        # The shaper may pass one more super-packet, regardless of what it sent before.
        late = (unsaid + 1) * SUPER_PACKET_BYTES if run.transport.segmentation_offload else unsaid * run.packet_bytes
        late += self._compressed_bytes(len(flows))
        rtts_ms = [run.flow_pair(flow).rtt_ms for flow in flows]
        late_ms = self._late_ms + max(rtts_ms, default=0) - min(rtts_ms, default=0)
        if not run.virtual_clock:
            late_ms += 1e3 * REAL_TIMER_S
        # The shaper's bucket holds tokens for one packet of the largest size, or for several small packets.
        largest = run.largest_packet_bytes
        small = max(0, largest - run.packet_bytes) + max(0, (run.shaper_burst_bytes or 0) - largest)
        held_up = self.most_mbps() * late_ms * 1e3 / 8 + self._policed_before_bytes + small
        # Linux's shaper rounds the time per packet down to whole nanoseconds (psched_l2t_ns), so it is slightly too fast.
        packet_ns = run.packet_bytes * 8e3 / self.most_mbps()
        return known * packet_ns / math.floor(packet_ns) + late + held_up * run.payload_bytes / run.packet_bytes

    @cached_property
    def _policed_before_bytes(self):
        """Bytes that may leave the bottleneck in excess of the policer's rate.

        These bytes come from the tokens in the policer's bucket and from the packets that were queued after the policer.
        """
        run, link = self._run, [rate for _, rate in self._link_rates[self.direction]]
        if self.policed_mbps is None:
            return 0
        waiting = bucket = run.policers[self.direction]["burst_bytes"]
        if len(link) > 1 and min(link) < self.policed_mbps:
            packets, held = run.queue_packets_in(self.direction), run.queue_bytes_in(self.direction)
            waiting = (packets or 0) * run.packet_bytes + (held or 0)
        return bucket + waiting

    def _compressed_bytes(self, flows):
        """Return the maximum number of bytes, headers included, that arrived out of order and haven't been reported to the sender yet.

        A Linux receiver reports up to `COMPRESSED_SACKS` packets in one selective acknowledgement, at most `COMPRESSION_MS` after the
        first of these packets. ``flows`` is the number of flows.
        """
        run, transport = self._run, self._run.scenario["transport"]
        compresses = transport.get("sack_compression", True) and transport.get("selective_acks", True)
        if run.udp or run.platform.startswith("ns3") or not compresses:
            return 0
        one = SUPER_PACKET_BYTES if run.transport.segmentation_offload else run.packet_bytes
        in_time = math.ceil(self.most_mbps() * COMPRESSION_MS * 1e3 / 8 / one)
        return min(COMPRESSED_SACKS * max(run.paths, flows), in_time) * one

    def _unacknowledged_packets(self, flows):
        """Return the maximum number of packets that have arrived, but for which the sender hasn't received an acknowledgement yet.

        For each flow, these are the packets that the next delayed acknowledgement will report, plus the packets that were reported by lost
        acknowledgements. ``flows`` is the number of flows.
        """
        model, correlation = self._run.direction(self._back).loss_model, self._run.correlation("loss", self._back)
        losses = [loss for _, loss in self._run.timeline.values(self._back, "loss_percent") if loss < LOST_ALL]
        # Maximum probability that the acknowledgement after a lost one is lost too.
        loss = min(0.99, max(losses, default=0) / 100 / (1 - correlation))
        in_a_row = lost_in_a_row(min(1 - 1e-6, model.in_a_row) if model else loss)
        return (
            segments_per_ack(self._run.kernel) * (1 + in_a_row) * max(self._run.paths, flows) + self._packets_of_trace
        )

    @cached_property
    def _packets_of_trace(self):
        """Additional number of packets whose delivery may become known near the start and end of a period if the rate follows a trace.

        A link that follows a trace passes whole packets. It passes small packets even in steps without capacity, because the shaper's rate
        is then one full packet per span, which is enough for several acknowledgements.
        """
        traces = traces_of(self._run.scenario["link"])
        if not traces:
            return 0
        on_way_back = any(self._back in directions_of(trace) for trace in traces)
        # Two packets each at the start and at the end of the period: one whose transmission has begun, and one that passes because the
        # rate rises early, before a faster step (`traces`).
        return 4 + (2 * self._run.packet_bytes // ACKNOWLEDGEMENT_BYTES if on_way_back else 0)

    @cached_property
    def _late_ms(self):
        """Maximum total extra delay of a packet and its acknowledgement, in ms.

        The causes are jitter, slots, reordering, longer paths, and queueing on the reverse path (`_way_back_ms`).
        """
        run = self._run
        late = (run.option("reordering", way) for way in DIRECTIONS)
        apart_ms = 2 * (max(run.multipath.path_delay_ms) - min(run.multipath.path_delay_ms))
        jitter_ms = 2 * sum(run.direction(way).jitter_reach_ms for way in DIRECTIONS)
        return (
            jitter_ms
            + apart_ms
            + self._way_back_ms
            + sum(run.slot_ms(way) or 0 for way in DIRECTIONS)
            + sum(one["late_ms"] for one in late if one)
        )

    @property
    def _way_back_ms(self):
        """Maximum time in ms for which acknowledgements may wait in a queue or be dropped by a policer.

        Acknowledgements queue behind data that flow in the same direction or, if the rates of the two directions differ, behind other
        acknowledgements. In all other cases they don't queue, because the data fill the path first.
        """
        run, beside = self._run, any(pair.direction == self._back for pair in self._run.pairs)
        policer = run.policers.get(self._back)
        # An acknowledgement passes as soon as the bucket holds enough tokens.
        refill_ms = LARGEST_ACKNOWLEDGEMENT_BYTES * 8 / policer["rate_mbps"] / 1e3 if policer else 0
        if run.is_chain or not (beside or run.option("reverse_rate_mbps", REVERSE)) or run.rate_in(self._back) is None:
            return refill_ms
        one = run.packet_bytes if beside else LARGEST_ACKNOWLEDGEMENT_BYTES
        held = (run.queue_packets_in(self._back) or 0) * one + (run.queue_bytes_in(self._back) or 0)
        return refill_ms + held * 8 / run.rate_in(self._back) / 1e3


def lost_in_a_row(loss) -> int:
    """Return the largest number of consecutive losses whose probability is at least `NEGLIGIBLE`; ``loss`` is a fraction."""
    return math.floor(math.log(NEGLIGIBLE) / math.log(loss)) if loss > 0 else 0
