"""Exact goodput and round-trip time of messages of a given size over a cable, calculated from the rate and the header sizes.

Header sizes are the same as in the testbed: Ethernet (IEEE 802.3), IPv4 (RFC 791), IPv6 (RFC 8200), UDP (RFC 768), TCP (RFC 9293) and its
timestamp option (RFC 7323, padded), GRE (RFC 2784). Additional bytes per frame (frame check sequence, preamble and inter-frame gap: 24
bytes) are set by `frame_overhead_bytes` in a study. On a full-duplex cable, acknowledgements don't reduce the rate of the data.
"""

from experiment.packet_sizes import (
    ETHERNET_HEADER_BYTES,
    IP_HEADER_BYTES,
    TCP_HEADER_BYTES,
    TCP_TIMESTAMP_OPTION_BYTES,
    TUNNEL_HEADER_BYTES,
    UDP_HEADER_BYTES,
)

TRANSPORT_BYTES = {"udp": UDP_HEADER_BYTES, "tcp": TCP_HEADER_BYTES + TCP_TIMESTAMP_OPTION_BYTES}
#: Size of the headers that GRE-in-UDP (RFC 8086) adds, in bytes: outer IP, UDP, GRE and inner Ethernet.
TUNNEL_BYTES = {version: size + TUNNEL_HEADER_BYTES for version, size in IP_HEADER_BYTES.items()}
#: Maximum deviation of a cell from the calculated value, in percent.
TOLERANCE_PERCENT = 0.5
#: Step of the guest's clock in us. Each time a process reads the clock, the clock advances by one step (arch/um/kernel/time.c,
#: TIMER_MULTIPLIER).
CLOCK_STEP_US = 0.256
#: Number of clock steps by which a round trip may be longer because the clock is read. The measured numbers don't depend on the message
#: size: 0.5 (IPv6) and 1.5 (IPv4) with UDP, 4.6 and 5.6 with TCP, which reads the clock for each segment that it sends or receives.
CLOCK_STEPS = {"udp": 2, "tcp": 6}


def frame_bytes(payload, protocol: str, ip_version: str, overhead=0, tunnel_ip_version: str | None = None) -> float:
    """Return the number of bytes that a packet with ``payload`` bytes of data occupies on the cable.

    ``overhead`` is the number of bytes per frame that Linux doesn't count. If ``tunnel_ip_version`` is given, the packet is sent through a
    GRE-in-UDP tunnel.
    """
    tunnel = 0 if tunnel_ip_version is None else TUNNEL_BYTES[tunnel_ip_version]
    return payload + TRANSPORT_BYTES[protocol] + IP_HEADER_BYTES[ip_version] + ETHERNET_HEADER_BYTES + overhead + tunnel


def full_cable_mbps(rate_mbps: float, payload: float, frame: float) -> float:
    """Return the goodput over a fully utilised cable: rate x payload / frame, in Mbit/s.

    ``rate_mbps`` is the total rate of all cables that is available for data packets; ``payload`` and ``frame`` are sizes in bytes per
    packet.
    """
    return rate_mbps * payload / frame


def goodput_mbps(rate_mbps, payload, protocol, ip_version, overhead, background_mbps=0.0) -> float:
    """Return the goodput over a fully utilised cable: (rate - background) x payload / frame, in Mbit/s.

    For UDP messages of 128 bytes over IPv4 at 100 Mbit/s, the frames are 128 + 42 + 24 = 194 bytes long:

    >>> round(goodput_mbps(100, 128, "udp", "ipv4", 24), 2)
    65.98
    """
    return full_cable_mbps(rate_mbps - background_mbps, payload, frame_bytes(payload, protocol, ip_version, overhead))


def round_trip_us(rate_mbps, payload, protocol, ip_version, overhead) -> float:
    """Return the round-trip time of a message over an idle cable: 2 x frame / rate, in us.

    >>> round(round_trip_us(100, 128, "tcp", "ipv4", 24), 2)
    34.88
    """
    return 2 * 8 * frame_bytes(payload, protocol, ip_version, overhead) / rate_mbps


def clock_allowance_us(protocol) -> float:
    """Return the additional time that a round trip may take on a guest with a virtual clock, in us."""
    return CLOCK_STEPS[protocol] * CLOCK_STEP_US


def agrees(measured, calculated, allowance=0.0, tolerance_percent=TOLERANCE_PERCENT) -> bool:
    """Return whether a measured value is within the tolerance of the calculated value; ``allowance`` extends the upper limit."""
    slack = tolerance_percent / 100 * calculated
    return calculated - slack <= measured <= calculated + allowance + slack
