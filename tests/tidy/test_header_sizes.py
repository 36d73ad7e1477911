"""A packet's payload and its size on the cable: headers of each protocol, tunnel and option."""

import pytest

from asked_run import asked
from experiment import packet_sizes
from run_tables.run_metrics import payload_and_frame_bytes


def document(ip_version="ipv4", protocol="tcp", by="none", outside="ipv4", mss_bytes=1000, overhead=24):
    """Return a run's document reduced to the parts that determine a packet's size."""
    paths = {"by": by, "paths": 2, "tunnel_ip_version": outside}
    traffic = {"application": "iperf3", "protocol": protocol, "block_bytes": 700}
    more = {"link": {"frame_overhead_bytes": overhead}, "transport": {"segment_bytes": None}}
    return {
        "specification": asked({"multipath": paths, "traffic": traffic, **more}, ip_version=ip_version),
        "sockets": [{"time_s": 1, "sockets": [{"flow": 0, "mss_bytes": mss_bytes}]}],
    }


@pytest.mark.parametrize(
    ("changes", "payload", "frame"),
    [
        ({}, 1000, 1000 + 32 + 20 + 14 + 24),
        ({"ip_version": "ipv6"}, 1000, 1000 + 32 + 40 + 14 + 24),
        ({"protocol": "udp", "overhead": 0}, 700, 700 + 8 + 20 + 14),
        ({"by": "mptcp"}, 980, 1000 + 32 + 20 + 14 + 24),
        ({"by": "gre", "outside": "ipv6"}, 1000, 1000 + 32 + 20 + 14 + 24 + 40 + 8 + 4 + 14),
    ],
)  # fmt: skip
def test_a_full_packet_and_its_frame(changes, payload, frame):
    assert payload_and_frame_bytes(document(**changes)) == (payload, frame)


def test_a_full_tunnels_packet_is_a_full_packet():
    """1,500 bytes of IP and 14 of Ethernet, with a segment that fits into a tunnel."""
    for inside in ("ipv4", "ipv6"):
        for outside in ("ipv4", "ipv6"):
            room = 1500 - packet_sizes.IP_HEADER_BYTES[outside] - packet_sizes.TUNNEL_HEADER_BYTES
            mss = room - packet_sizes.HEADER_BYTES[inside] - packet_sizes.TCP_TIMESTAMP_OPTION_BYTES
            full = document(inside, by="gre", outside=outside, mss_bytes=mss, overhead=0)
            assert payload_and_frame_bytes(full) == (mss, 1514)
