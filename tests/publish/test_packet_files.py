"""Captures are read back as they were written, and packets are grouped into flows by addresses and ports."""

import ipaddress
import struct

import pytest

from publishing.packet_files import flows_of, packets_of
from publishing.result_checks.received_errors import ReceivedError
from testbed.readings.packet_capture import block, frame_bytes, head, packet, statistics

KEPT = 128


def tcp(source, destination, sequence, payload, ports=(40000, 5201)):
    """Return an Ethernet frame of TCP over the addresses' IP version, as long as its payload."""
    addresses = [ipaddress.ip_address(one).packed for one in (source, destination)]
    segment = struct.pack("!HHIIBBHHH", *ports, sequence % 2**32, 0, 5 << 4, 16, 0, 0, 0) + bytes(payload)
    if len(addresses[0]) == 4:
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0, 64, 6, 0)
    else:
        header = struct.pack("!IHBB", 6 << 28, len(segment), 6, 64)
    return bytes(12) + struct.pack("!H", 0x0800 if len(addresses[0]) == 4 else 0x86DD) + header + b"".join(addresses) + segment  # fmt: skip


def written(path, frames, lost=0, leaves=True):
    content = head("h1-eth0", "sender of pair 1", KEPT, "a run")
    for at_ns, frame in frames:
        content += packet(at_ns, frame[:KEPT], len(frame), leaves)
    path.write_bytes(content + statistics(lost))
    return path


def test_what_is_written_is_read(tmp_path):
    frames = [(1_700_000_000_000_000_000 + n, tcp("10.0.0.1", "10.0.1.1", n, n * 100)) for n in range(9)]
    path = written(tmp_path / "a.pcapng", frames)
    assert list(packets_of(path)) == [(at_ns, frame[:KEPT], len(frame)) for at_ns, frame in frames]


def test_retransmissions_are_counted_also_where_sequence_numbers_begin_anew(tmp_path):
    begin = 2**32 - 3000
    sequences = [begin, begin + 1448, begin + 2896, begin + 4344, begin + 1448, begin + 2896, begin + 5792]
    frames = [(n, tcp("10.0.0.1", "10.0.1.1", sequence, 1448)) for n, sequence in enumerate(sequences)]
    (flow,), lost = flows_of(written(tmp_path / "a.pcapng", frames, lost=3))
    assert (flow.packets, flow.payload_bytes, flow.repeated, lost) == (7, 7 * 1448, 2, 3)
    assert flow.words() == "TCP 10.0.0.1:40000 > 10.0.1.1:5201: 7 packets, 10,136 bytes of payload in 0.000000 s, 2 retransmitted"  # fmt: skip


def test_a_receiver_s_capture_doesn_t_show_what_was_retransmitted(tmp_path):
    frames = [(n, tcp("10.0.0.1", "10.0.1.1", n_th * 1448, 1448)) for n, n_th in enumerate((0, 2, 1, 3))]
    (flow,), _ = flows_of(written(tmp_path / "a.pcapng", frames, leaves=False))
    assert flow.words().endswith(", 1 late or repeated")


def test_a_super_packet_counts_as_the_segments_in_it(tmp_path):
    frames = [(n, tcp("10.0.0.1", "10.0.1.1", begin, size)) for n, (begin, size) in enumerate([(0, 14480), (14480, 14480), (0, 14480), (14480, 1449)])]  # fmt: skip
    (flow,), _ = flows_of(written(tmp_path / "a.pcapng", frames), 1448)
    assert flow.words().endswith(", 12 retransmitted")


def test_directions_and_ip_versions_are_flows_of_their_own(tmp_path):
    frames = [
        (0, tcp("10.0.0.1", "10.0.1.1", 0, 10)),
        (1, tcp("10.0.1.1", "10.0.0.1", 0, 0, (5201, 40000))),
        (2, tcp("2001:db8::1", "2001:db8::2", 0, 1400)),
        (3, bytes(12) + b"\x08\x06" + bytes(46)),
    ]
    flows, _ = flows_of(written(tmp_path / "a.pcapng", frames))
    assert [(flow.source, flow.payload_bytes) for flow in flows] == [
        ("10.0.0.1:40000", 10), ("10.0.1.1:5201", 0), ("[2001:db8::1]:40000", 1400), ("", 0),
    ]  # fmt: skip
    assert flows[3].protocol == "Ethernet 0x0806"


@pytest.mark.parametrize("ip_version", [4, 6])
def test_fragments_of_a_datagram_have_no_ports(tmp_path, ip_version):
    """A datagram of 4,008 bytes (with header) has three fragments, of which only the first contains the ports."""
    datagram, frames = struct.pack("!HHHH", 5000, 6000, 4008, 0) + bytes(range(250)) * 16, []
    for begin in range(0, 4008, 1440):
        part, more = datagram[begin : begin + 1440], begin + 1440 < 4008
        if ip_version == 4:
            header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(part), 1, more << 13 | begin // 8, 64, 17, 0)
            packed = header + bytes([10, 0, 0, 1, 10, 0, 1, 1])
        else:
            packed = struct.pack("!IHBB", 6 << 28, 8 + len(part), 44, 64) + bytes(15) + b"\1" + bytes(15) + b"\2"
            packed += struct.pack("!BBHI", 17, 0, begin | more, 1)
        frames.append((begin, bytes(12) + (b"\x08\x00" if ip_version == 4 else b"\x86\xdd") + packed + part))
    first, others = flows_of(written(tmp_path / "a.pcapng", frames))[0]
    assert (first.protocol, first.packets, first.payload_bytes) == ("UDP", 1, 1432)
    assert (first.source, first.destination) == (
        ("10.0.0.1:5000", "10.0.1.1:6000") if ip_version == 4 else ("[::1]:5000", "[::2]:6000")
    )
    ends = "10.0.0.1 > 10.0.1.1" if ip_version == 4 else "::1 > ::2"
    assert others.words() == f"UDP fragments {ends}: 2 packets, 2,568 bytes of payload in 0.000001 s"


@pytest.mark.parametrize("harm", [lambda content: content[:-7], lambda content: content + b"x" * 5, lambda content: content[:4] + b"\xff" * 4 + content[8:], lambda content: content + block(6, b""), lambda content: content + block(5, b"")])  # fmt: skip
def test_a_capture_that_is_not_whole_is_refused(tmp_path, harm):
    path = written(tmp_path / "a.pcapng", [(1, tcp("10.0.0.1", "10.0.1.1", 0, 10))])
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(ReceivedError, match=r"a\.pcapng is not a complete capture"):
        flows_of(path)


def test_packets_of_nonsense_are_flows_without_ports(tmp_path):
    frames = [(n, content) for n, content in enumerate([b"", b"\x08\x00" * 20, bytes(12) + b"\x86\xdd", bytes(12) + b"\x08\x00\xff\xff"])]  # fmt: skip
    flows, _ = flows_of(written(tmp_path / "a.pcapng", frames))
    assert sum(flow.packets for flow in flows) == 4


def test_frames_of_a_ring_fill_its_blocks():
    for kept in (64, 128, 192, 1600, 9014, 65_440):
        assert kept + 96 <= frame_bytes(kept) <= 2**16 and 2**16 % frame_bytes(kept) == 0
