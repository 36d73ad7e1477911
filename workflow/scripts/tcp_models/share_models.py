"""Models of the share of the link that a flow gets when it competes with other flows.

Packets are full frames, and times are in seconds.
"""

import math

from tcp_models.linux_ccas import BBR_PROBE_RTT_EVERY_S
from tcp_models.throughput_models import CUBIC_BETA, CUBIC_C


def bbr_share(rate_packets_s: float, rtt_s: float, queue_packets: float, bbr_flows: int = 1) -> float:
    """Return the total share of the link (0 to 1) that BBRv1 flows get when they compete with loss-based flows.

    ``rtt_s`` is the base RTT.

    Ware, Mukerjee, Seshan and Sherry, "Modeling BBR's interactions with loss-based congestion control" (IMC 2019), equations 9 to 11: BBR
    is limited by its congestion window of two estimated BDPs. BBR estimates the RTT while none of its packets are in the queue, so the
    estimate includes the delay of the other flows' packets in the queue. Let X be the queue size in BDPs, q the queue size in packets, c
    the link rate, l the base RTT, and N the number of BBR flows. The share of the loss-based flows is

        p = 1/2 - 1/(2 X) - 4 N / q

    The share of BBR is 1 - p, except during ProbeRTT. If d is the duration of the flows, the time in ProbeRTT and BBR's share are

        Probe_time = (q/c + 0.2 + l) d/10,    BBR_frac = (1 - p) (d - Probe_time) / d.

    The number of loss-based flows doesn't matter. If p is below 0, BBR takes the entire link, except during ProbeRTT.
    """
    bdps = queue_packets / (rate_packets_s * rtt_s)
    others = 0.5 - 1 / (2 * bdps) - 4 * bbr_flows / queue_packets
    probing = (queue_packets / rate_packets_s + 0.2 + rtt_s) / BBR_PROBE_RTT_EVERY_S
    return max(0.0, min(1.0, 1 - others) * (1 - probing))


def cubic_times_s(window_packets, rtt_s) -> tuple[float, float]:
    """Return the times in s that CUBIC needs to regain its window after a loss: by Reno-friendly growth, and by cubic growth.

    The sections are those of RFC 9438. Reno-friendly growth (section 4.3): W_est grows by alpha = 3 (1 - beta) / (1 + beta) segments per
    RTT, from beta W to W. Cubic growth (section 4.2): K = cbrt(W (1 - beta) / C). If the first time is shorter, W_est is above the cubic
    function until the next loss. This is the Reno-friendly region, in which CUBIC is designed to reach Reno's average window, and therefore
    Reno's share.

    ``window_packets`` is W, the flow's congestion window at the loss; ``rtt_s`` is the RTT while the window grows.
    """
    lost = window_packets * (1 - CUBIC_BETA)
    alpha = 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)
    return lost / alpha * rtt_s, math.cbrt(lost / CUBIC_C)
