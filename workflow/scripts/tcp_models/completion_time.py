"""Completion time of a web object on an empty path, packet by packet: slow start only, without loss or window limits."""

import math
from functools import lru_cache

#: Linux's initial congestion window in segments (RFC 6928).
INITIAL_WINDOW = 10
#: Round trips that every object takes: one to connect, and one for the request and the first packet of the response.
ROUND_TRIPS_BEFORE = 2


@lru_cache(maxsize=100_000)
def last_departure_s(
    segments: int,
    packet_bytes: int,
    acknowledgement_bytes: int,
    rate_mbps: float,
    rtt_s: float,
    initial_window: int = INITIAL_WINDOW,
) -> float:
    """Return when the last of ``segments`` full packets leaves the bottleneck, in s after the server received the request.

    The first ``initial_window`` packets may leave at once. The acknowledgement of a packet arrives one round trip after the packet left,
    and allows two more packets to leave, because slow start (RFC 5681, section 3.1) increases cwnd by the amount of acknowledged data. The
    bottleneck is a token bucket with room for the tokens of one full packet; packets pass until the number of tokens is negative. The
    acknowledgement of the request has just used some of the tokens. The formulas of Cardwell, Savage and Anderson (Modeling TCP Latency,
    INFOCOM 2000) for the case without loss are based on this recursion over packets.

    Parameters
    ----------
    segments : int
        Number of packets, 1 or more.
    packet_bytes, acknowledgement_bytes : int
        Bytes that the bottleneck counts for a full packet, and for a packet without data.
    rate_mbps : float
        Rate of the bottleneck.
    rtt_s : float
        Round-trip time of the empty path.
    initial_window : int
        Initial congestion window in segments.
    """
    bytes_per_s = rate_mbps * 1e6 / 8
    tokens, at_s, left = packet_bytes - acknowledgement_bytes, 0.0, []
    for number in range(segments):
        acknowledged = max(0, math.ceil((number + 1 - initial_window) / 2))
        due_s = max(at_s, left[acknowledged - 1] + rtt_s if acknowledged else 0.0)
        tokens = min(packet_bytes, tokens + (due_s - at_s) * bytes_per_s)
        at_s = due_s + max(0.0, -tokens) / bytes_per_s
        tokens = max(0.0, tokens) - packet_bytes
        left.append(at_s)
    return left[-1]


def ideal_completion_s(
    object_bytes: int,
    segment_bytes: int,
    packet_bytes: int,
    acknowledgement_bytes: int,
    rate_mbps: float,
    rtt_s: float,
    initial_window: int = INITIAL_WINDOW,
) -> float:
    """Return the completion time of an object on an empty path in s, from the call to connect until the last byte arrives.

    The slowdown is the actual completion time divided by this time; it is at least 1. Alizadeh et al. (pFabric, SIGCOMM 2013, section 5)
    and Montazeri et al. (Homa, SIGCOMM 2018, section 5) also divide by the completion time of an object that is alone in the network.

    Parameters
    ----------
    object_bytes : int
        Size of the object, including the header of the response.
    segment_bytes : int
        Payload of a full packet.
    packet_bytes, acknowledgement_bytes : int
        Bytes that the bottleneck counts for a full packet, and for a packet without data.
    rate_mbps : float
        Rate of the bottleneck.
    rtt_s : float
        Round-trip time of the empty path.
    initial_window : int
        Initial congestion window in segments.

    Examples
    --------
    >>> round(ideal_completion_s(10_221, 1448, 1514, 66, 20, 0.04), 6)  # 8 packets: all at once but for the bottleneck
    0.08366
    """
    segments = max(1, math.ceil(object_bytes / segment_bytes))
    return ROUND_TRIPS_BEFORE * rtt_s + last_departure_s(
        segments, packet_bytes, acknowledgement_bytes, rate_mbps, rtt_s, initial_window
    )
