"""What traffic, environments and platforms of a study of message sizes are called."""

ENVIRONMENTS = {"none": "peer to peer", "server": "client-server"}
TRAFFIC_NAMES = {
    "tcp": "TCP, messages",
    "tcp-segments": "TCP, segments",
    "udp": "UDP",
    "tcp-rtt": "TCP round trip",
    "udp-rtt": "UDP round trip",
}
CLOCKS = {"uml": "virtual clock", "host": "real clock"}


def clock_words(platform):
    """Return "virtual clock (uml)"."""
    return f"{CLOCKS.get(platform, 'platform')} ({platform})"


def environment_of(background):
    """Return "peer to peer" or "client-server"."""
    return ENVIRONMENTS[background]
