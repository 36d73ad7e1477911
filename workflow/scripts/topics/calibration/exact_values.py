"""Exact values for the calibration's measurements, computed from formulas for the shaper, the queue, the cable and netem.

Rates are in Mbit/s and sizes in bytes, so 8 x bytes / rate is in us.
"""

import math

import numpy as np

from experiment.loss_models import GilbertElliott, LossModel  # noqa: F401, one is used in an example
from experiment.packet_sizes import ECHO_BYTES, ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, PACKET_BYTES
from tcp_models.wire_theory import frame_bytes

NS_PER_S = 1_000_000_000
#: Number of messages that iperf3's server sends just before the data transfer starts. Each message is acknowledged.
WORDS_TO_BEGIN = 2
#: Hosts send Router Solicitations at doubling intervals (RFC 7559). The values are the largest number of solicitations in the last three
#: quarters of a period, and the size of each in bytes: Ethernet and IPv6 headers, the 8-byte message (RFC 4861) and an 8-byte option.
MOST_SOLICITATIONS, SOLICITATION_BYTES = 2, ETHERNET_HEADER_BYTES + IP_HEADER_BYTES["ipv6"] + 16
#: Weight of a new difference between two packets' delays in the smoothed difference (RFC 3550, section 6.4.1).
SPREAD_GAIN = 1 / 16
#: Standard deviation of a uniformly distributed delay, in multiples of the jitter.
EVEN = 1 / math.sqrt(3)


def shaper_time_ns(size: int, rate_mbps: float) -> int:
    """Return a frame's transmission time as the kernel's shaper computes it, rounded down to whole ns.

    The calculation is the same as in ``psched_ratecfg_precompute__`` (net/sched/sch_generic.c), which computes a 32-bit factor, and
    ``psched_l2t_ns`` (include/net/sch_generic.h).

    >>> shaper_time_ns(1514, 1000), shaper_time_ns(1514, 10_000)
    (12112, 1211)
    """
    rate, factor, shift = round(rate_mbps * 1e6 / 8), NS_PER_S, 0
    while not (factor // rate) & 1 << 31 and not factor & 1 << 63:
        factor, shift = factor << 1, shift + 1
    return size * (factor // rate) >> shift


def shaper_known_ppm(size: int, rate_mbps: float) -> float:
    """Return by how many ppm the rate is too high because the shaper rounds transmission times down to whole ns.

    >>> round(shaper_known_ppm(1514, 10_000), 1)
    165.2
    """
    return (8e3 * size / rate_mbps / shaper_time_ns(size, rate_mbps) - 1) * 1e6


def echo_us(rate_mbps: float, ip_version: str, overhead: float) -> float:
    """Return an echo request's round-trip time over an idle cable in us, excluding the cable's delay.

    >>> round(echo_us(0.02, "ipv4", 24), 3)  # 2 x 122 bytes at 20 kbit/s
    97600.0
    """
    frame = ECHO_BYTES + IP_HEADER_BYTES[ip_version] + ETHERNET_HEADER_BYTES + overhead
    return 2 * 8 * frame / rate_mbps


def longer_message_us(shorter: float, longer: float, rate_mbps: float) -> float:
    """Return the difference in us between the round-trip times of a longer and a shorter message over a cable.

    >>> longer_message_us(128, 1408, 100)
    204.8
    """
    return 2 * 8 * (longer - shorter) / rate_mbps


def full_queue_bytes(limit: float, frame: float) -> float:
    """Return the number of bytes in a queue with a limit of ``limit`` bytes after it has been filled with frames of one size.

    >>> full_queue_bytes(100_000, 1514)
    99924
    """
    return limit // frame * frame


def burst_bytes(ip_version: str) -> int:
    """Return the size in bytes of the burst after idle time, excluding the packet that overdraws the shaper's bucket.

    The shaper's bucket allows one full packet minus the acknowledgements that leave just before the data: iperf3's
    server sends two messages at the start, TEST_START and then TEST_RUNNING, and the client's kernel acknowledges each
    of them.

    >>> burst_bytes("ipv4")
    1382
    """
    return PACKET_BYTES - WORDS_TO_BEGIN * int(frame_bytes(0, "tcp", ip_version))


def spread_ms(jitter_ms: float) -> float:
    """Return the mean absolute difference between two random delays, in ms.

    The delays are uniformly distributed over a range of 2 x ``jitter_ms``, and the mean difference is a third of this range.
    """
    return 2 * jitter_ms / 3


def spread_error_ms(jitter_ms: float, estimates: float) -> float:
    """Return the standard error, in ms, of the mean of ``estimates`` smoothed differences between successive delays.

    The smoothed differences are independent of each other. A smoothed difference is the sum of g (1 - g)^k d_k over k = 0, 1, 2 and so on,
    where g is `SPREAD_GAIN` and d_k is the difference k steps back, with the variance 2 J^2 / 9 for a jitter of J. Successive differences
    share a packet, so they are correlated: for X, Y and Z uniform on an interval of width w, cov(|X - Y|, |Y - Z|) = (7/60 - 1/9) w^2 =
    w^2 / 180.

    >>> round(spread_error_ms(5, 1), 3)
    0.461
    """
    variance, covariance = 2 * jitter_ms**2 / 9, (2 * jitter_ms) ** 2 / 180
    smoothed = SPREAD_GAIN / (2 - SPREAD_GAIN) * (variance + 2 * (1 - SPREAD_GAIN) * covariance)
    return math.sqrt(smoothed / estimates)


def round_trip_error_ms(deviation_forward_ms: float, deviation_reverse_ms: float, exchanges: float) -> float:
    """Return the standard error, in ms, of the mean of ``exchanges`` round-trip times with random delays in both directions.

    >>> round(round_trip_error_ms(5 * EVEN, 5 * EVEN, 600), 4)
    0.1667
    """
    return math.sqrt((deviation_forward_ms**2 + deviation_reverse_ms**2) / exchanges)


def loss_error(probability: float, packets: float, of_one: float = 1) -> float:
    """Return the standard error of a loss rate.

    ``of_one`` packets provide as much information as one packet with independent loss.

    >>> loss_error(0.2, 10_000)
    0.004
    """
    return math.sqrt(probability * (1 - probability) * of_one / packets)


def packets_of_one(model: LossModel) -> float:
    """Return how many packets under a loss model are equivalent to one packet with independent loss.

    Equivalent packets provide the same amount of information about the loss rate.

    Per packet, the variance of a sum over a stationary chain is the variance of one packet plus twice the sum of its covariances with all
    later packets. The chain's fundamental matrix gives this sum (Kemeny and Snell 1960).

    >>> round(packets_of_one(GilbertElliott(0.01, 0.19)), 6)  # (1 + c) / (1 - c) with the correlation c = 1 - p - r of neighbours
    9.0
    """
    shares, changes, losses = (np.array(part, float) for part in model.chain())
    mean = shares @ losses
    beyond = losses - mean
    fundamental = np.eye(len(shares)) - changes + np.outer(np.ones(len(shares)), shares)
    later = np.linalg.solve(fundamental, changes @ beyond)
    return float(1 + 2 * (shares * beyond) @ later / (mean * (1 - mean)))
