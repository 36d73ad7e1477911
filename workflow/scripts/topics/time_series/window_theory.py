"""What theory says of the window of a flow behind a drop-tail queue.

Reno (RFC 5681): +1 packet a round trip, halved by a loss. Linux' `tcp_reno_cong_avoid` counts acknowledged packets, not
acknowledgements (`tcp_cong_avoid_ai`, since 4.0), so that delayed acknowledgements don't slow it down: 1 packet a
round trip, not 1/2. CUBIC (RFC 9438): W(t) = C (t - K)^3 + W_max, 0.7 (in Linux 717/1024) left by a loss.

Vegas (net/ipv4/tcp_vegas.c) keeps Diff between alpha 2 and beta 4, and BBR (tcp_bbr.c) looks for a smaller RTT
when the smallest is 10 s old.
"""

from dataclasses import dataclass

import numpy as np

from tcp_models.linux_ccas import CUBIC_RENO_GROWTH, LEFT
from tcp_models.throughput_models import CUBIC_C


@dataclass(frozen=True)
class Path:
    """A bottleneck and those who share it: a queue of `buffer_packets` full packets, flows of one CCA.

    `frame_bytes` are those of a full packet, as queue and rate count it.
    """

    rate_mbps: float
    base_rtt_ms: float
    buffer_packets: float
    frame_bytes: int
    flows: int

    @property
    def packet_ms(self) -> float:
        """Time that a full packet takes to leave."""
        return self.frame_bytes * 8 / self.rate_mbps / 1000

    @property
    def full_packets(self) -> float:
        """Sum of the windows when a packet is dropped: on the path, in the queue, and the one that leaves."""
        return self.base_rtt_ms / self.packet_ms + self.buffer_packets + 1

    def rtt_ms(self, together_packets) -> float | np.ndarray:
        """Return the RTT while the windows sum up to so many packets: what doesn't fit on the path waits."""
        return np.maximum(self.base_rtt_ms + self.packet_ms, together_packets * self.packet_ms)


@dataclass(frozen=True)
class Tooth:
    """A flow's window at its highest, in packets, and the time from one loss to the next, in s."""

    peak_packets: float
    period_s: float


def teeth_of(cca, path) -> tuple[Tooth, Tooth]:
    """Return the tooth of a flow if all lose at the same time, and if they do so one after another.

    In step each flow's peak is its N-th of a full path (one packet more, since it grows for another round trip until it
    learns of the loss), and the sum of the windows falls by the same share as each. In turn every N-th loss is a flow's own:
    between losses each grows by peak (1 - left) / N, so that the windows at a loss are in steps of that,
    and their sum gives peak = full / (N - (1 - left)(N - 1) / 2). Flows of real runs lie between, nearer to the first if
    one overflow hits several.

    The period is the time from what a loss left of the window to the next loss, a round trip until that is known, and one of
    recovery, both as long as the full queue makes them. Reno grows by a packet in each round trip, as long as the queue
    is then. CUBIC takes K = cbrt(peak (1 - 0.7) / C) (RFC 9438, section 4.2).

    Parameters
    ----------
    cca : str
        "reno" or "cubic".
    path : Path

    Returns
    -------
    in_step, in_turn : Tooth
        Equal for a single flow.
    """
    flows, lost = path.flows, 1 - LEFT[cca]
    full = path.full_packets
    step_peak = full / flows + 1
    turn_peak = full / (flows - lost * (flows - 1) / 2) + 1
    return (
        Tooth(step_peak, _period_s(cca, path, step_peak, full * (1 - lost))),
        Tooth(turn_peak, _period_s(cca, path, turn_peak, full - lost * (turn_peak - 1))),
    )


def _period_s(cca, path, peak, lowest_together):
    full_rtt_s = float(path.rtt_ms(path.full_packets)) / 1000
    if cca == "cubic":
        return float(np.cbrt(peak * (1 - LEFT["cubic"]) / CUBIC_C)) + 2 * full_rtt_s
    together = np.linspace(lowest_together, path.full_packets, 1001)
    round_trips = peak * (1 - LEFT["reno"]) - 1
    return round_trips * float(path.rtt_ms(together).mean()) / 1000 + 2 * full_rtt_s


def cubic_growth_packets(begin_packets, origin_packets, seconds, rtt_s, round_trips) -> float:
    """Return by how much CUBIC's window grows in congestion avoidance.

    RFC 9438, sections 4.2 and 4.3, as Linux does it (`bictcp_update`): with each acknowledgement the window w goes towards the
    curve W as if to be there in a round trip, dw/dt = (W(t) - w) / RTT. W is a cubic polynomial, so that the solution is
    W less RTT times its first derivative, plus RTT^2 times its second, less RTT^3 times its third, and a remainder
    that falls as exp(-t / RTT). It is no less than a flow of `CUBIC_RENO_GROWTH` packets a round trip.

    Parameters
    ----------
    begin_packets : float
        Window at the beginning of congestion avoidance.
    origin_packets : float
        W_max; if it isn't above the window the curve starts at its flat point.
    seconds, rtt_s, round_trips : float
        Time in congestion avoidance, mean RTT, and the round trips.
    """
    rise = max(origin_packets - begin_packets, 0.0)
    k = float(np.cbrt(rise / CUBIC_C))

    def followed(t):
        since = t - k
        derivatives = (since**3, 3 * since**2, 6 * since, 6)
        return rise + CUBIC_C * sum((-rtt_s) ** order * value for order, value in enumerate(derivatives))

    grown = followed(seconds) - followed(0.0) * np.exp(-seconds / rtt_s)
    return float(max(grown, CUBIC_RENO_GROWTH * round_trips))


def cubic_origins(cwnd_packets) -> tuple[float, float]:
    """Return the W_max that CUBIC may have after a loss with a window of so many packets: with and without fast convergence.

    The first holds if the window was smaller than W_max before (RFC 9438, section 4.7), if only by a packet: samples that miss the
    window's last step can't tell.
    """
    return cwnd_packets * (1 + LEFT["cubic"]) / 2, cwnd_packets
