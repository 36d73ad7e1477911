"""Settings of a network device, whoever made it."""

from .commands import run


def set_single_packets(node, device) -> None:
    """Let TCP make no super-packets for a device."""
    run(node, ["ip", "link", "set", "dev", device, "gso_max_segs", "1"])
