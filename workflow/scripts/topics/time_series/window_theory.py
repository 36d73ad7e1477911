"""The theoretical sawtooth of the congestion window of a lone flow through a drop-tail queue.

The windows of `tcp_models.window_laws` (Reno: RFC 5681; CUBIC: RFC 9438) are calculated acknowledgement by acknowledgement
for one bottleneck. As the congestion window grows, the bottleneck's queue lengthens the RTT. No parameter is fitted.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from tcp_models.linux_ccas import BBR_PACING_SHARE, BBR_PROBE_BW_CWND_GAIN, BBR_PROBE_RTT_S, LEFT
from tcp_models.window_laws import ACKNOWLEDGED_AT_ONCE, CubicWindow, RenoWindow, converged_w_max, left_packets

#: Number of later packets that must arrive before a sender detects a loss (RFC 5681, section 3.2).
DUPLICATES = 3
#: Ratio of Linux's pacing rate to the flow's rate (`tcp_pacing_ca_ratio`), and size of Linux's largest super-packet.
PACING_RATIO, GSO_BYTES = 1.2, 65536
#: Number of teeth to calculate, and number of final teeth to average: CUBIC may alternate between teeth with and without fast convergence.
CALCULATED, AVERAGED = 12, 6


@dataclass(frozen=True)
class TheoryPath:
    """A bottleneck with a queue of `buffer_packets` full packets.

    A packet occupies `frame_bytes` in the queue and on the link, of which `mss_bytes` are data.
    """

    rate_mbps: float
    base_rtt_ms: float
    buffer_packets: int
    frame_bytes: int
    mss_bytes: int

    @property
    def packets_per_s(self) -> float:
        """Number of full packets that leave the bottleneck per second."""
        return self.rate_mbps * 1e6 / 8 / self.frame_bytes

    @property
    def base_rtt_s(self) -> float:
        """Base RTT in seconds."""
        return self.base_rtt_ms / 1000

    @property
    def burst_packets(self) -> float:
        """Number of packets that a sender sends at once (`tcp_tso_autosize`).

        This is at least two, and otherwise the number of packets sent in 1/1024 s at 1.2 times the rate, plus a term for short paths.
        """
        short_path = GSO_BYTES / 2 ** (self.base_rtt_ms * 1000 // 512) / self.frame_bytes
        return max(2.0, PACING_RATIO * self.packets_per_s / 1024 + short_path)

    @property
    def fitting_packets(self) -> int:
        """Largest congestion window without drops: whole packets on the path and in the queue."""
        # The added microsecond guards against rounding errors.
        return int(self.packets_per_s * (self.base_rtt_s + 1e-6)) + int(self.buffer_packets)

    def rtt_s(self, packets) -> float:
        """Return the RTT in seconds for a congestion window of `packets`; packets in excess of the BDP wait in the queue."""
        return max(self.base_rtt_s, packets / self.packets_per_s)


@dataclass(frozen=True)
class Tooth:
    """The congestion window from one loss to the next: its peak, its mean over time, and the duration."""

    peak_packets: float
    mean_packets: float
    period_s: float


@cache
def steady_tooth(cca, path) -> Tooth:
    """Return the mean tooth of a lone "reno" or "cubic" flow in the steady state, long after slow start.

    A tooth begins when the sender detects a loss. Recovery takes one round trip from the detection of the last loss (RFC 6675). During
    recovery, the number of packets in flight shrinks evenly to the reduced window (RFC 6937). Then the congestion window grows by the CCA's
    law, until a packet no longer fits and is dropped. The sender detects the loss one round trip later, when `DUPLICATES` later packets
    have arrived. Each packet by which the window grows in the meantime is dropped too.
    """
    teeth, peak, w_max, late_s = [], path.fitting_packets + 1, 2 * path.fitting_packets, 0.0
    for _ in range(CALCULATED):
        w_max = converged_w_max(peak, w_max) if cca == "cubic" else None
        tooth, peak, late_s = _next_tooth(cca, path, peak, w_max, late_s)
        teeth.append(tooth)
    steady = teeth[-AVERAGED:]
    periods = [tooth.period_s for tooth in steady]
    return Tooth(
        float(np.mean([tooth.peak_packets for tooth in steady])),
        float(np.average([tooth.mean_packets for tooth in steady], weights=periods)),
        float(np.mean(periods)),
    )


def _next_tooth(cca, path, peak, w_max, late_s):
    """Return the tooth that follows a loss at a window of `peak`, the window at the next loss, and the duration of the next loss in s.

    A loss lasts from the first to the last dropped packet.
    """
    trough, full_rtt_s = left_packets(cca, peak), path.rtt_s(peak)
    # The RTT at the time of the last retransmission: the queue shrinks together with the number of packets in flight.
    repair_s = max(path.base_rtt_s, full_rtt_s - late_s * (1 - LEFT[cca]))
    now_s = recovery_s = late_s + repair_s
    packet_seconds = full_rtt_s * (peak + trough) / 2 + (recovery_s - full_rtt_s) * trough
    window = RenoWindow(trough) if cca == "reno" else CubicWindow(trough, w_max, path.base_rtt_s)
    until_known, first_s, last_s = None, 0.0, 0.0
    while until_known is None or until_known > 0:
        speed, before = window.packets / path.rtt_s(window.packets), window.packets
        acknowledged = window.step_packets(speed)
        if until_known is not None:
            acknowledged = min(acknowledged, until_known)
            until_known -= acknowledged
        now_s += acknowledged / speed
        packet_seconds += before * acknowledged / speed
        window.acknowledge(acknowledged, now_s - recovery_s)
        if window.packets > max(before, path.fitting_packets):
            last_s = now_s
            if until_known is None:
                first_s, until_known = now_s, window.packets - 1
    known_s = DUPLICATES / path.packets_per_s
    packet_seconds += window.packets * known_s
    now_s += known_s
    return Tooth(window.packets, packet_seconds / now_s, now_s), window.packets, last_s - first_s


def bbr_window_packets(path) -> float:
    """Return BBR's mean congestion window in ProbeBW, in packets.

    The window is the sum of two BDPs, an allowance for aggregation and three bursts, rounded up to an even number; during an eighth of the
    time, it is two packets larger. The allowance is the number of packets that one delayed acknowledgement acknowledges, plus one because
    the expected number is rounded down. See `bbr_bdp`, `bbr_ack_aggregation_cwnd`, `bbr_quantization_budget` and `bbr_tso_segs_goal` in
    tcp_bbr.c.
    """
    bdp = path.packets_per_s * path.base_rtt_s
    burst = max(2, int(BBR_PACING_SHARE * path.packets_per_s / 1024))
    window = math.ceil(BBR_PROBE_BW_CWND_GAIN * bdp) + ACKNOWLEDGED_AT_ONCE + 1 + 3 * burst
    return 2 * math.ceil(window / 2) + 2 / 8


def probe_rtt_s(path) -> tuple[float, float]:
    """Return the minimum and the maximum duration of BBR's ProbeRTT in s.

    BBR waits up to one round trip until at most four packets are in flight. It then remains in ProbeRTT for 200 ms or one round trip,
    whichever is longer, plus one round trip.
    """
    least = max(BBR_PROBE_RTT_S, path.base_rtt_s) + path.base_rtt_s
    return least, least + path.base_rtt_s
