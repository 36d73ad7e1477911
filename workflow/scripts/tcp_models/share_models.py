"""Models of the share of a flow that competes with others.

Packets are full frames, and times are in seconds.
"""

import math

from tcp_models.linux_ccas import BBR_PROBE_RTT_EVERY_S
from tcp_models.throughput_models import CUBIC_BETA, CUBIC_C


def bbr_share(rate_packets_s: float, rtt_s: float, queue_packets: float, bbr_flows: int = 1) -> float:
    """Return the share of the link, 0 to 1, that BBR flows (version 1) get in total when they compete with loss-based flows.

    ``rtt_s`` is the RTT of the empty path.

    Ware, Mukerjee, Seshan and Sherry, "Modeling BBR's interactions with loss-based congestion
    control" (IMC 2019), equations 9 to 11: BBR is limited by its window of two estimated BDPs,
    and the estimate of the RTT, made while its own packets are out of the queue, includes
    the others' queue. With X the queue in BDPs, q in packets, c the link's rate, l its RTT, N the
    number of BBR flows, the loss-based flows' share is

        p = 1/2 - 1/(2 X) - 4 N / q

    and BBR has 1 - p except during ProbeRTT, which takes, with d the duration of the flows,

        Probe_time = (q/c + 0.2 + l) d/10,    BBR_frac = (1 - p) (d - Probe_time) / d.

    The number of loss-based flows doesn't matter. p below 0 means that BBR takes the whole link.
    """
    bdps = queue_packets / (rate_packets_s * rtt_s)
    others = 0.5 - 1 / (2 * bdps) - 4 * bbr_flows / queue_packets
    probing = (queue_packets / rate_packets_s + 0.2 + rtt_s) / BBR_PROBE_RTT_EVERY_S
    return max(0.0, min(1.0, 1 - others) * (1 - probing))


def cubic_times_s(window_packets, rtt_s) -> tuple[float, float]:
    """Return the times in s that CUBIC takes to regain the window it had before a loss, in its Reno-friendly and in its cubic region.

    RFC 9438. Reno-friendly (section 4.3): W_est grows by alpha = 3 (1 - beta) / (1 + beta) segments per
    RTT, from beta W to W. Cubic (section 4.2): K = cbrt(W (1 - beta) / C). If the first time is
    shorter, W_est is above the cubic function until the next loss: this is the Reno-friendly region,
    in which CUBIC is designed to have Reno's average window, and so Reno's share.

    ``window_packets``, ``rtt_s``: W, the flow's window at the loss, and the RTT while it grows.
    """
    lost = window_packets * (1 - CUBIC_BETA)
    alpha = 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)
    return lost / alpha * rtt_s, math.cbrt(lost / CUBIC_C)
