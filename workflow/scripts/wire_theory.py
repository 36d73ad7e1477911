"""What a cable carries of messages of a size, and how long one takes there and back: exact, from headers alone.

Sizes of headers: Ethernet 14 (IEEE 802.3), IPv4 20 (RFC 791), IPv6 40 (RFC 8200), UDP 8 (RFC 768), TCP 20
(RFC 9293) and its timestamp option 12 (RFC 7323, padded), GRE 4 (RFC 2784). What a frame takes besides (checksum,
preamble and gap: 24 bytes) is a study's `frame_overhead_bytes`. A full-duplex cable carries acknowledgements for
nothing.
"""

ETHERNET_BYTES = 14
IP_BYTES = {"ipv4": 20, "ipv6": 40}
TRANSPORT_BYTES = {"udp": 8, "tcp": 20 + 12}
#: Of GRE-in-UDP (RFC 8086) around an Ethernet frame: outer IP, UDP, GRE, the inner Ethernet header.
TUNNEL_BYTES = {version: size + TRANSPORT_BYTES["udp"] + 4 + ETHERNET_BYTES for version, size in IP_BYTES.items()}
#: Of a segment that carries data over MPTCP (RFC 8684, DSS), as Linux reserves it.
MPTCP_OPTION_BYTES = 20
#: So far a cell may be off, in percent of what is calculated.
TOLERANCE_PERCENT = 0.5
#: The guest's clock goes in steps, and each time that a process reads it, it goes a step ahead
#: (arch/um/kernel/time.c, TIMER_MULTIPLIER): in us.
CLOCK_STEP_US = 0.256
#: Steps that a round trip may take longer for that. Measured, the same for all sizes: 0.5 (IPv6) and 1.5 (IPv4) with
#: UDP, 4.6 and 5.6 with TCP, which takes the time of each segment that it sends and gets.
CLOCK_STEPS = {"udp": 2, "tcp": 6}


def frame_bytes(payload, protocol, ip_version, overhead=0, tunnel_ip_version=None):
    """Return what a packet with ``payload`` bytes of data takes of the cable, in bytes.

    Parameters
    ----------
    payload : float
    protocol : str
        ``tcp`` or ``udp``.
    ip_version : str
    overhead : float
        What each frame takes besides the bytes that Linux counts.
    tunnel_ip_version : str, optional
        Of the GRE-in-UDP tunnel that it travels in.
    """
    tunnel = 0 if tunnel_ip_version is None else TUNNEL_BYTES[tunnel_ip_version]
    return payload + TRANSPORT_BYTES[protocol] + IP_BYTES[ip_version] + ETHERNET_BYTES + overhead + tunnel


def full_cable_mbps(rate_mbps, payload, frame):
    """Return what a full cable carries of data: rate x payload / frame, in Mbit/s.

    Parameters
    ----------
    rate_mbps : float
        What is left to the data's packets, of all cables together.
    payload, frame : float
        Of each packet, in bytes.
    """
    return rate_mbps * payload / frame


def goodput_mbps(rate_mbps, payload, protocol, ip_version, overhead, background_mbps=0.0):
    """Return what a full cable carries of data: (rate - background) x payload / frame, in Mbit/s.

    A message of 128 bytes by UDP over IPv4 at 100 Mbit/s, with frames of 128 + 42 + 24 = 194 bytes:

    >>> round(goodput_mbps(100, 128, "udp", "ipv4", 24), 2)
    65.98
    """
    return full_cable_mbps(rate_mbps - background_mbps, payload, frame_bytes(payload, protocol, ip_version, overhead))


def round_trip_us(rate_mbps, payload, protocol, ip_version, overhead):
    """Return how long a message takes there and back over an idle cable: 2 x frame / rate, in us.

    >>> round(round_trip_us(100, 128, "tcp", "ipv4", 24), 2)
    34.88
    """
    return 2 * 8 * frame_bytes(payload, protocol, ip_version, overhead) / rate_mbps


def clock_allowance_us(protocol):
    """Return what a round trip may take longer on a guest with a virtual clock, in us."""
    return CLOCK_STEPS[protocol] * CLOCK_STEP_US


def agrees(measured, calculated, allowance=0.0, tolerance_percent=TOLERANCE_PERCENT):
    """Tell whether a value is what was calculated, within the tolerance, or later than that by up to ``allowance``."""
    slack = tolerance_percent / 100 * calculated
    return calculated - slack <= measured <= calculated + allowance + slack
