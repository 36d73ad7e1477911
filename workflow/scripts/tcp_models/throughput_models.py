"""Models of a TCP flow's throughput: the square-root law and CUBIC's response function.

Rates are in Mbit/s, RTTs in ms, and loss is a fraction of packets. The functions accept numbers or arrays. They return infinity if nothing
is lost, because the flow is then limited by the link, not by the response function.
"""

import numpy as np

# Reno's mean congestion window times sqrt(p), if each segment is lost at random with probability p, and the window grows with each
# acknowledged segment: 1.31 (Mathis, Semke, Mahdavi and Ott, 1997, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm",
# ACM CCR 27(3), table 1; Ott, Kemperman and Mathis, 1996: 1.3098). Evenly spaced losses would give sqrt(3/2) = 1.22. Acknowledging only
# every second segment would give 0.93, but since Linux 4.0 the window grows with acknowledged segments, not with acknowledgements
# (`tcp_cong_avoid_ai`), so that delayed acknowledgements don't slow down its growth.
MATHIS_C = 1.31
# RFC 9438, sections 4.2 and 4.6. Linux uses the same values (`bic_scale` 41, `beta` 717/1024).
CUBIC_C = 0.4
CUBIC_BETA = 0.7

# Both response functions describe the steady state. In runs with fewer round trips than this, the initial growth of the window until the
# first loss visibly changes the mean (Reno at 1 % loss: by 50 % in 50 round trips).
FEW_ROUND_TRIPS = 200
# Names of the regions of CUBIC's response function, as used in tables.
RENO_REGION = "Reno-friendly region"
CUBIC_REGION = "cubic region"


def rate_mbps(window_segments, mss_bytes, rtt_ms) -> np.ndarray | np.float64:
    """Return the rate in Mbit/s of a flow that sends one congestion window per round trip."""
    return np.asarray(window_segments) * mss_bytes * 8 / (np.asarray(rtt_ms) * 1000)


def _inverse_power(loss, exponent):
    """Return loss ** -exponent, which is infinite if nothing is lost."""
    loss = np.asarray(loss, float)
    with np.errstate(divide="ignore"):  # infinity is the intended result
        return loss**-exponent


def square_root_law_mbps(mss_bytes, rtt_ms, loss, constant=MATHIS_C) -> np.ndarray | np.float64:
    """Return Reno's rate according to the square-root law, MSS / RTT * C / sqrt(p), in Mbit/s.

    The law is equation 3 of Mathis et al. (1997). It ignores slow start, timeouts and the receiver's window, so it overestimates the rate
    if the congestion window is small (at a loss of several percent).

    ``mss_bytes`` is the segment size in bytes, ``rtt_ms`` the RTT in ms (above 0), and ``loss`` the fraction of segments that are lost (0
    to 1).
    """
    return rate_mbps(constant * _inverse_power(loss, 0.5), mss_bytes, rtt_ms)


def aimd_window(loss, increase, decrease) -> np.ndarray | np.float64:
    """Return the mean congestion window under additive increase, multiplicative decrease, in segments.

    The window is sqrt(increase * (1 + decrease) / (2 * (1 - decrease) * p)) (RFC 9438, section 4.3, after Floyd, Handley and Padhye, 2000).
    For Reno (1, 0.5), this is sqrt(1.5 / p). Losses are assumed to be evenly spaced. ``increase`` is in segments per round trip, and
    ``decrease`` is the factor by which the window is multiplied at a loss.
    """
    return np.sqrt(increase * (1 + decrease) / (2 * (1 - decrease))) * _inverse_power(loss, 0.5)


def reno_friendly_window(loss, beta=CUBIC_BETA) -> np.ndarray | np.float64:
    """Return CUBIC's mean congestion window in its Reno-friendly region, in segments.

    In this region, the window grows by 3 (1 - beta) / (1 + beta) segments per round trip. With this growth, its mean is the same as Reno's,
    although CUBIC reduces it less at a loss (RFC 9438, section 4.3).
    """
    return aimd_window(loss, 3 * (1 - beta) / (1 + beta), beta)


def cubic_window(rtt_ms, loss, c=CUBIC_C, beta=CUBIC_BETA) -> np.ndarray | np.float64:
    """Return CUBIC's mean congestion window in its cubic region, without Reno-friendly growth, in segments.

    The window is (C (3 + beta) / (4 (1 - beta)))^(1/4) * RTT^(3/4) / p^(3/4), with the RTT in seconds
    (RFC 9438, section 5, figure 5). Losses are assumed to be evenly spaced.
    """
    factor = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25
    return factor * (np.asarray(rtt_ms) / 1000) ** 0.75 * _inverse_power(loss, 0.75)


def cubic_response_mbps(mss_bytes, rtt_ms, loss) -> np.ndarray | np.float64:
    """Return CUBIC's response function in Mbit/s: the larger window of the two regions, per RTT (RFC 9438, sections 4.3 and 5.1).

    The parameters are the same as in `square_root_law_mbps`.
    """
    window = np.maximum(cubic_window(rtt_ms, loss), reno_friendly_window(loss))
    return rate_mbps(window, mss_bytes, rtt_ms)


def cubic_region(rtt_ms, loss) -> str:
    """Return the region whose window is larger and therefore determines CUBIC's rate: `RENO_REGION` or `CUBIC_REGION`."""
    return CUBIC_REGION if cubic_window(rtt_ms, loss) > reno_friendly_window(loss) else RENO_REGION


def full_queue_delay_ms(queue_bytes, rate_mbps) -> np.ndarray | np.float64:
    """Return how long a packet that arrives at a full queue waits, in ms."""
    return np.asarray(queue_bytes) * 8 / (np.asarray(rate_mbps) * 1000)
