"""Models of a TCP flow's throughput: the square-root law and CUBIC's response function.

Rates are in Mbit/s, RTTs in ms, and loss is a fraction of packets. The functions take numbers or arrays and
return infinity if nothing is lost: in this case, the link limits the flow, not the response function.
"""

import numpy as np

# Mean window of Reno times sqrt(p), if each segment is lost at random with probability p and each
# acknowledged segment counts: 1.31 (Mathis, Semke, Mahdavi and Ott, 1997, "The Macroscopic Behavior of
# the TCP Congestion Avoidance Algorithm", ACM CCR 27(3), table 1; Ott, Kemperman and Mathis, 1996:
# 1.3098). Losses at even distances would give sqrt(3/2) = 1.22; acknowledging every second segment
# would give 0.93, but Linux has grown the window by segments acknowledged, not by acknowledgements,
# since 4.0 (`tcp_cong_avoid_ai`), so that delayed acknowledgements don't slow it down.
MATHIS_C = 1.31
# RFC 9438, sections 4.2 and 4.6; the same in Linux (`bic_scale` 41, `beta` 717/1024).
CUBIC_C = 0.4
CUBIC_BETA = 0.7

# Both response functions are for the steady state. In runs with fewer round trips than this, the start, when the window
# grows until the first loss, visibly changes the mean (reno at 1 % loss: by 50 % at 50 round trips).
FEW_ROUND_TRIPS = 200
# Names of the regions of CUBIC's response function in tables.
RENO_REGION = "Reno-friendly region"
CUBIC_REGION = "cubic region"


def rate_mbps(window_segments, mss_bytes, rtt_ms) -> np.ndarray | np.float64:
    """Return the rate of a flow that sends one window per round trip, in Mbit/s."""
    return np.asarray(window_segments) * mss_bytes * 8 / (np.asarray(rtt_ms) * 1000)


def _inverse_power(loss, exponent):
    """Return loss ** -exponent, infinite if nothing is lost."""
    loss = np.asarray(loss, float)
    with np.errstate(divide="ignore"):  # infinity is intended
        return loss**-exponent


def square_root_law_mbps(mss_bytes, rtt_ms, loss, constant=MATHIS_C) -> np.ndarray | np.float64:
    """Return Reno's rate by the square-root law, MSS / RTT * C / sqrt(p), in Mbit/s.

    Mathis et al. (1997), equation 3. The law ignores slow start, timeouts and the receiver's window, so
    the rate is too high for small windows (a loss of several percent).

    ``mss_bytes`` is the segment size in bytes, ``rtt_ms`` the RTT in ms (above 0), and ``loss`` the lost share of the
    segments (0 to 1).
    """
    return rate_mbps(constant * _inverse_power(loss, 0.5), mss_bytes, rtt_ms)


def aimd_window(loss, increase, decrease) -> np.ndarray | np.float64:
    """Return the mean window in segments under additive increase, multiplicative decrease.

    The window is sqrt(increase * (1 + decrease) / (2 * (1 - decrease) * p)) (RFC 9438, section 4.3, after Floyd, Handley and
    Padhye, 2000). For Reno (1, 0.5), this is sqrt(1.5 / p). Losses are evenly spaced; ``increase`` is in segments per round
    trip, ``decrease`` is the factor at a loss.
    """
    return np.sqrt(increase * (1 + decrease) / (2 * (1 - decrease))) * _inverse_power(loss, 0.5)


def reno_friendly_window(loss, beta=CUBIC_BETA) -> np.ndarray | np.float64:
    """Return the mean window of CUBIC's Reno-friendly region, in segments.

    In this region, the window grows by 3 (1 - beta) / (1 + beta) segments per round trip. With this growth, CUBIC has
    Reno's mean window in spite of its smaller decrease (RFC 9438, section 4.3).
    """
    return aimd_window(loss, 3 * (1 - beta) / (1 + beta), beta)


def cubic_window(rtt_ms, loss, c=CUBIC_C, beta=CUBIC_BETA) -> np.ndarray | np.float64:
    """Return CUBIC's mean window in its cubic region, without Reno-friendly growth, in segments.

    The window is (C (3 + beta) / (4 (1 - beta)))^(1/4) * RTT^(3/4) / p^(3/4), with the RTT in seconds
    (RFC 9438, section 5, figure 5). Losses are evenly spaced.
    """
    factor = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25
    return factor * (np.asarray(rtt_ms) / 1000) ** 0.75 * _inverse_power(loss, 0.75)


def cubic_response_mbps(mss_bytes, rtt_ms, loss) -> np.ndarray | np.float64:
    """Return CUBIC's response function in Mbit/s: the larger of the two regions' windows per RTT (RFC 9438, sections 4.3, 5.1).

    The parameters are the same as in `square_root_law_mbps`.
    """
    window = np.maximum(cubic_window(rtt_ms, loss), reno_friendly_window(loss))
    return rate_mbps(window, mss_bytes, rtt_ms)


def cubic_region(rtt_ms, loss) -> str:
    """Return the region in which CUBIC has the larger window: `RENO_REGION` or `CUBIC_REGION`."""
    return CUBIC_REGION if cubic_window(rtt_ms, loss) > reno_friendly_window(loss) else RENO_REGION


def full_queue_delay_ms(queue_bytes, rate_mbps) -> np.ndarray | np.float64:
    """Return the waiting time of a packet behind a full queue, in ms."""
    return np.asarray(queue_bytes) * 8 / (np.asarray(rate_mbps) * 1000)
