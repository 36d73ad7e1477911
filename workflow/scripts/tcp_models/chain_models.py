"""Theory of the linear network (parking lot): flows over several bottlenecks in series compete with flows over one bottleneck.

All bottlenecks have the same rate and carry the same number of cross flows.
"""

import math


def fair_share(bottlenecks: int, alpha: float, long_flows: int = 1, cross_flows: int = 1) -> float:
    """Return the share (0 to 1) of each bottleneck's capacity that alpha-fairness allocates to the flows that cross all bottlenecks.

    With L long flows, and C cross flows at each of the n bottlenecks of a linear network, the share of the long flows is (Bonald and
    Massoulié, "Impact of fairness on Internet performance", SIGMETRICS 2001)

        L / (L + n^(1/alpha) C)

    The share depends on alpha. For L = C = 1, the values are:

    - alpha = 1, share 1/(n + 1): proportional fairness (Kelly, Maulloo and Tan, 1998), the aim of Vegas (Low, Peterson and Wang,
      "Understanding TCP Vegas: a duality model", JACM 2002).
    - alpha = 2, share 1/(sqrt(n) + 1): minimum potential delay, which is close to Reno's allocation at equal round-trip times
      (Massoulié and Roberts, "Bandwidth sharing: objectives and algorithms", INFOCOM 1999).
    - alpha = inf, share 1/2 for any n: max-min fairness.
    """
    return long_flows / (long_flows + bottlenecks ** (1 / alpha) * cross_flows)


def reno_share_independent(bottlenecks: int, rtt_ratio: float, long_flows: int = 1, cross_flows: int = 1) -> float:
    """Return the long flows' share (0 to 1) if packets are lost independently and with the same probability at each bottleneck.

    Reno's rate is MSS/R sqrt(3/(2 p)) (Mathis, Semke, Mahdavi and Ott, CCR 1997). The packets of a long flow cross n bottlenecks, so the
    loss rate p of a long flow is n times that of a cross flow, and its rate is r = rtt_ratio / sqrt(n) times that of a cross flow. The
    share is therefore L r / (L r + C). With equal round-trip times, this is alpha-fairness with alpha = 2.

    ``rtt_ratio`` is the round-trip time of the cross flows divided by that of the long flows, both including queueing delay.
    """
    return _share(rtt_ratio / math.sqrt(bottlenecks), long_flows, cross_flows)


def reno_share_synchronised(bottlenecks: int, rtt_ratio: float, long_flows: int = 1, cross_flows: int = 1) -> float:
    """Return the long flows' share (0 to 1) if each queue overflow halves the congestion window of every flow through this queue.

    Let each queue overflow once in a period T. The window of a cross flow is halved once in T and grows by T/R_c packets in between, so it
    is 1.5 T/R_c packets on average. The window of a long flow is halved n times in T, so it is 1.5 T/(n R_l) packets on average. Rates are
    windows divided by round-trip times, so the rate of a long flow is r = (R_c/R_l)^2 / n times that of a cross flow. With equal round-trip
    times, the share is the same as under proportional fairness: 1/(n + 1) for single flows. (Rates are proportional to 1/R^2 if losses are
    synchronised: Lakshman and Madhow, "The performance of TCP/IP for networks with high bandwidth-delay products and random loss", IEEE/ACM
    ToN 1997.)
    """
    return _share(rtt_ratio**2 / bottlenecks, long_flows, cross_flows)


def _share(ratio, long_flows, cross_flows):
    """Return the long flows' share if the rate of each is ``ratio`` times the rate of a cross flow."""
    return long_flows * ratio / (long_flows * ratio + cross_flows)
