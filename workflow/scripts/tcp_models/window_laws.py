"""Growth of Reno's and CUBIC's congestion windows in congestion avoidance, and their reduction after a loss, packet by packet.

The laws of RFC 5681 and RFC 9438 are computed in whole packets, as in Linux (net/ipv4/tcp_cong.c, tcp_cubic.c). Both CCAs count
acknowledged packets, not acknowledgements, so that delayed acknowledgements don't slow down the growth.
"""

import math

from tcp_models.linux_ccas import CUBIC_RENO_GROWTH, LEFT
from tcp_models.throughput_models import CUBIC_C

#: Time after which Linux's CUBIC evaluates the curve again if the window hasn't changed (`HZ / 32`).
CUBIC_REST_S = 1 / 32
#: Tick of the guest kernel in s. If the window has changed, Linux's CUBIC evaluates the curve at most once per tick.
TICK_S = 1e-3
#: Number of packets per acknowledgement: receivers acknowledge every second packet.
ACKNOWLEDGED_AT_ONCE = 2
LEAST_PACKETS = 2


def left_packets(cca: str, packets: int) -> int:
    """Return Reno's or CUBIC's window after a loss, in packets, rounded down and at least 2."""
    return max(int(packets * LEFT[cca]), LEAST_PACKETS)


class RenoWindow:
    """Reno's window, which grows by one packet per acknowledged window (RFC 5681, section 3.1).

    ``packets`` is the current window in packets.
    """

    def __init__(self, packets):
        self.packets, self._counted = packets, 0

    def step_packets(self, _packets_per_s) -> int:
        """Return the number of packets that can be acknowledged before the window changes."""
        return self.packets - self._counted

    def acknowledge(self, packets, _now_s) -> None:
        """Record acknowledged packets."""
        self._counted += packets
        while self._counted >= self.packets:
            self._counted -= self.packets
            self.packets += 1


class CubicWindow:
    """CUBIC's window, which grows towards the cubic curve, and at least as fast as Reno's (RFC 9438, sections 4.2 and 4.3).

    The window grows towards the value of the curve one round trip later. The curve is in whole packets, W_max minus or plus
    floor(C |t - K|^3), so it is flat at W_max from cbrt(1 / C) = 1.4 s before K until 1.4 s after K.

    Parameters
    ----------
    packets : int
        Window at the beginning of congestion avoidance, in packets.
    w_max : float
        W_max in packets, reduced by fast convergence if it applies (`converged_w_max`).
    rtt_min_s : float
        Minimum RTT of the flow in s.
    """

    def __init__(self, packets, w_max, rtt_min_s):
        self.packets = self._reno_packets = packets
        self._origin = max(int(w_max), packets)
        self._k_s = math.cbrt((self._origin - packets) / CUBIC_C)
        self._ahead_s = rtt_min_s
        self._counted = self._reno_counted = 0
        self._each, self._looked = 100 * packets, (0, -math.inf)

    def step_packets(self, packets_per_s) -> int:
        """Return how many packets are acknowledged before CUBIC's next update: as many as in one tick, at least `ACKNOWLEDGED_AT_ONCE`."""
        return max(ACKNOWLEDGED_AT_ONCE, round(packets_per_s * TICK_S))

    def acknowledge(self, packets, now_s) -> None:
        """Record acknowledged packets; `now_s` counts from the beginning of congestion avoidance."""
        self._reno_counted += packets
        looked_packets, looked_s = self._looked
        if looked_packets != self.packets or now_s - looked_s > CUBIC_REST_S:
            self._looked = self.packets, now_s
            self._each = self._packets_a_step(now_s + self._ahead_s)
        # Packets counted while growth was slower may already suffice for growth; they add only one packet (`tcp_cong_avoid_ai`).
        if self._counted >= self._each:
            self.packets, self._counted = self.packets + 1, 0
        self._counted += packets
        if self._counted >= self._each:
            self.packets += self._counted // self._each
            self._counted %= self._each

    def _packets_a_step(self, at_s):
        """Return the number of acknowledged packets after which the window grows by one packet."""
        since_s = at_s - self._k_s
        target = self._origin + int(math.copysign(CUBIC_C * abs(since_s) ** 3, since_s))
        each = self.packets // (target - self.packets) if target > self.packets else 100 * self.packets
        reno_each = int(self.packets / CUBIC_RENO_GROWTH)
        self._reno_packets += self._reno_counted // reno_each
        self._reno_counted %= reno_each
        if self._reno_packets > self.packets:
            each = min(each, self.packets // (self._reno_packets - self.packets))
        return max(each, 2)


def converged_w_max(packets: int, w_max_before: float) -> int:
    """Return CUBIC's W_max after a loss, in packets.

    W_max is the window at the loss, but it is reduced further if this window is below the previous W_max (fast convergence, RFC 9438,
    section 4.7).
    """
    return int(packets * (1 + LEFT["cubic"]) / 2) if packets < w_max_before else packets
