"""TLS secrets are taken as they were logged, and put before the packets of a capture."""

import struct

import pytest

from publishing.packet_files import blocks_of, packets_of
from publishing.tls_secrets import Secrets, add_secrets, secrets_of
from testbed.readings.packet_capture import head, packet, statistics

CLIENT, SERVER = (b"%s_TRAFFIC_SECRET_0 %s %s\n" % (side, b"0a" * 32, secret * 32) for side, secret in ((b"CLIENT", b"1b"), (b"SERVER", b"2c")))  # fmt: skip


def udp(payload):
    """Return an Ethernet frame of UDP over IPv4."""
    datagram = struct.pack("!HHHH", 40000, 14001, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, 17, 0, bytes([10, 1, 1, 2]), bytes([10, 2, 1, 2]))  # fmt: skip
    return bytes(12) + b"\x08\x00" + header + datagram


def captured(folder, *payloads):
    """Put a capture of datagrams into a folder."""
    folder.mkdir(exist_ok=True)
    packets = b"".join(packet(n, udp(payload), len(udp(payload)), True) for n, payload in enumerate(payloads))
    path = folder / "h1-eth0.pcapng"
    path.write_bytes(head("h1-eth0", "sender of pair 1", 1600, "a run") + packets + statistics(0))
    return path


@pytest.fixture
def again(tmp_path):
    """The folder of a repetition: both sides have logged the same, the server among other things."""
    captured(tmp_path / "again", b"\xc0hello", b"\x40data")
    (tmp_path / "again/client-14001.txt").write_bytes(CLIENT + SERVER)
    (tmp_path / "again/server-14001.txt").write_bytes(b"\0\xff\n# a word\n" + SERVER + CLIENT + SERVER[:-1])
    return tmp_path / "again"


def test_each_line_is_taken_once_and_nothing_else_is(again, tmp_path):
    captured(tmp_path / "run", b"\xc0hello", b"\x40other data")
    assert secrets_of(again, tmp_path / "run") == Secrets([CLIENT, SERVER], [])


def test_a_flow_with_another_handshake_is_named(again, tmp_path):
    captured(tmp_path / "run", b"\xc0hallo", b"\x40data")
    assert secrets_of(again, tmp_path / "run").other == ["10.1.1.2:40000 > 10.2.1.2:14001"]


def test_without_secrets_no_flow_is_named(again, tmp_path):
    captured(tmp_path / "run", b"\xc0hallo")
    for file in again.glob("*.txt"):
        file.write_bytes(SERVER[:50])
    assert secrets_of(again, tmp_path / "run") == Secrets()


def test_secrets_come_before_the_packets_which_stay(tmp_path):
    path = captured(tmp_path / "run", b"\xc0hello", b"\x40data")
    before, packets = [*blocks_of(path)], [*packets_of(path)]
    add_secrets(path, [CLIENT, SERVER])
    after = [*blocks_of(path)]
    assert [kind for kind, _ in after] == [0x0A0D0D0A, 1, 0x0A, 6, 6, 5]
    assert after[:2] + after[3:] == before and [*packets_of(path)] == packets
    kind, length = struct.unpack_from("=II", after[2][1])
    assert kind == 0x544C534B and after[2][1][8 : 8 + length] == CLIENT + SERVER


def test_secrets_of_many_connections_are_in_several_blocks(tmp_path):
    path, lines = captured(tmp_path / "run", b"\x40data"), [b"CLIENT_TRAFFIC_SECRET_0 %064x %096x\n" % (n, n) for n in range(5000)]  # fmt: skip
    add_secrets(path, lines)
    parts = [body[8 : 8 + struct.unpack_from("=I", body, 4)[0]] for kind, body in blocks_of(path) if kind == 0x0A]
    assert len(parts) > 1 and b"".join(parts) == b"".join(lines)
