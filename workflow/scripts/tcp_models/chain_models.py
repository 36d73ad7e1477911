"""Theory of the linear network, or parking lot: flows over several bottlenecks in series compete with flows over one bottleneck.

All bottlenecks have the same rate and the same number of cross flows.
"""

import math


def fair_share(bottlenecks: int, alpha: float, long_flows: int = 1, cross_flows: int = 1) -> float:
    """Return the share of each bottleneck (0 to 1) that alpha-fairness allocates to the flows that cross all bottlenecks.

    With L long flows, and C cross flows at each of n bottlenecks of a linear network, the long flows get (Bonald and
    Massoulié, "Impact of fairness on Internet performance", SIGMETRICS 2001)

        L / (L + n^(1/alpha) C)

    The share depends on alpha; the values are for L = C = 1:

    - alpha = 1, share 1/(n + 1): proportional fairness (Kelly, Maulloo and Tan, 1998), the aim of Vegas (Low, Peterson and Wang,
      "Understanding TCP Vegas: a duality model", JACM 2002).
    - alpha = 2, share 1/(sqrt(n) + 1): minimum potential delay, which is close to Reno's allocation at equal round-trip times
      (Massoulié and Roberts, "Bandwidth sharing: objectives and algorithms", INFOCOM 1999).
    - alpha = inf, share 1/2 for any n: max-min fairness.
    """
    return long_flows / (long_flows + bottlenecks ** (1 / alpha) * cross_flows)


def reno_share_independent(bottlenecks: int, rtt_ratio: float, long_flows: int = 1, cross_flows: int = 1) -> float:
    """Return the long flows' share if packets are lost independently, with equal probability at each bottleneck.

    Reno's rate is MSS/R sqrt(3/(2 p)) (Mathis, Semke, Mahdavi and Ott, CCR 1997). A long flow's packets pass n
    bottlenecks, so its p is n times a cross flow's, and its rate is r = rtt_ratio / sqrt(n) times a cross flow's: the
    share is L r / (L r + C). With equal round-trip times, this is alpha-fairness with alpha = 2.

    ``rtt_ratio``: ratio of the cross flows' round-trip time to the long flows', including queues.
    """
    return _share(rtt_ratio / math.sqrt(bottlenecks), long_flows, cross_flows)


def reno_share_synchronised(bottlenecks: int, rtt_ratio: float, long_flows: int = 1, cross_flows: int = 1) -> float:
    """Return the long flows' share if each overflow of a queue halves the window of every flow through it.

    Let each queue overflow once in a period T. A cross flow's window then doubles by growing T/R_c packets, and is
    1.5 T/R_c on average. A long flow's window is halved n times in T, and is 1.5 T/(n R_l) on average. Rates are windows divided by
    round-trip times, so r = (R_c/R_l)^2 / n. With equal round-trip times, the share is the same as under proportional fairness: 1/(n + 1)
    for single flows. (Rates are proportional to 1/R^2 if losses are synchronised: Lakshman and Madhow, "The performance of TCP/IP for
    networks with high bandwidth-delay products and random loss", IEEE/ACM ToN 1997.)
    """
    return _share(rtt_ratio**2 / bottlenecks, long_flows, cross_flows)


def _share(ratio, long_flows, cross_flows):
    """Return the long flows' share if each has ``ratio`` times a cross flow's rate."""
    return long_flows * ratio / (long_flows * ratio + cross_flows)
