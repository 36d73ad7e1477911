"""Read flows from captures made by `testbed.readings.packet_capture`."""

import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from publishing.result_checks.received_errors import ReceivedError
from testbed.readings.packet_capture import FLAGS, OUT
from wording.number_format import count

ENHANCED_PACKET, STATISTICS = 6, 5
ETHERNET_BYTES, IPV4, IPV6, TCP, UDP = 14, 0x0800, 0x86DD, 6, 17
#: Number and size in bytes of IPv6's fragment header, and mask of IPv4's fragment offset.
FRAGMENT, FRAGMENT_BYTES, OFFSET = 44, 8, 0x1FFF
#: Total size in bytes of an Ethernet header, the longest IPv4 header and the first fields of a TCP header.
SHORTEST_BYTES = 14 + 60 + 14
#: Block type -> minimum size of the block's body in bytes.
LEAST_BODY_BYTES = {ENHANCED_PACKET: 20, STATISTICS: 24}
#: Maximum size of a block in bytes; a block with the longest possible packet is smaller.
LARGEST_BLOCK_BYTES = 2**20
#: Half of TCP's sequence number space: a sequence number that is ahead of another by less than this value is the newer one.
HALF = 2**31


@dataclass
class Flow:
    """The packets sent from one port to another.

    ``leaves`` is true if the packets leave the interface. ``repeated`` is the number of TCP segments that begin before the end of earlier
    segments. Where packets leave their sender, these segments are retransmissions; elsewhere, they may also be originals that arrived late.
    """

    source: str
    destination: str
    protocol: str
    leaves: bool = False
    first_ns: int = 0
    last_ns: int = 0
    packets: int = 0
    payload_bytes: int = 0
    repeated: int = 0
    next_sequence: int | None = None

    def words(self) -> str:
        """Describe the flow in one line of text."""
        text = f"{self.protocol} {self.source} > {self.destination}: {count(self.packets, 'packet')}, {self.payload_bytes:,} bytes of payload in {(self.last_ns - self.first_ns) / 1e9:.6f} s"
        repeated = "retransmitted" if self.leaves else "late or repeated"
        return f"{text}, {self.repeated:,} {repeated}" if self.protocol == "TCP" else text


def blocks_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the body of each block in a pcapng file; raise ReceivedError if the file is incomplete."""
    with path.open("rb") as file:
        while head := file.read(8):
            kind, length = struct.unpack("=II", head.ljust(8, b"\0"))
            body = file.read(min(length, LARGEST_BLOCK_BYTES) - 12) if length > 12 else b""
            is_whole = len(body) == length - 12 and file.read(4) == head[4:]
            if not is_whole or len(body) < LEAST_BODY_BYTES.get(kind, 0):
                raise ReceivedError(f"{path.name} is not a complete capture.")
            yield kind, body


def packets_of(path: Path) -> Iterator[tuple[int, bytes, int]]:
    """Yield each packet in a capture as its timestamp (ns since 1970), its captured bytes, and its length on the wire in bytes."""
    for kind, body in blocks_of(path):
        if kind == ENHANCED_PACKET:
            yield _packet(body)


def flows_of(path: Path, segment_bytes: int | None = None) -> tuple[list[Flow], int]:
    """Return the flows in a capture, ordered by their first packets, and the number of packets missing from the capture.

    ``segment_bytes`` is the payload of a full TCP segment if the capture was made with segmentation offload, so that a packet may contain
    several segments. If it is None, each packet counts as one segment.
    """
    flows, lost = {}, 0
    for kind, body in blocks_of(path):
        if kind == STATISTICS:
            lost = struct.unpack_from("=Q", body, 16)[0]
        if kind != ENHANCED_PACKET:
            continue
        at_ns, content, length = _packet(body)
        key, payload, sequence = _parsed(content, length)
        flow = flows.get(key)
        if flow is None:
            flow = flows[key] = Flow(*_ends(key), leaves=_leaves(body, len(content)), first_ns=at_ns)
        flow.packets += 1
        flow.last_ns = at_ns
        flow.payload_bytes += payload
        if payload and sequence is not None:
            end = (sequence + payload) % 2**32
            if flow.next_sequence is not None and 0 < (flow.next_sequence - sequence) % 2**32 < HALF:
                flow.repeated += -(-payload // (segment_bytes or payload))
            if flow.next_sequence is None or (end - flow.next_sequence) % 2**32 < HALF:
                flow.next_sequence = end
    return list(flows.values()), lost


def udp_payload(content: bytes, length: int) -> tuple[str, str, str, bytes]:
    """Return source, destination, protocol and UDP payload of a completely captured packet; for other protocols, the payload is empty."""
    key, size, _ = _parsed(content, length)
    return *_ends(key), content[length - size : length] if key[0] == UDP and 0 < size < length else b""


def _packet(body):
    """Return the timestamp (ns since 1970), the captured bytes and the length on the wire of the packet in a block's body."""
    _, high, low, kept, length = struct.unpack_from("=IIIII", body)
    return (high << 32) + low, body[20 : 20 + kept], length


def _leaves(body, kept):
    """Return whether the flags in a block's body mark the packet as outgoing; ``kept`` is the number of captured bytes."""
    options = body[20 + kept + -kept % 4 :]
    return options[:8] == struct.pack("=HHI", FLAGS, 4, OUT)


def _parsed(content, length):
    """Return a packet's key (protocol, addresses, ports), payload size in bytes (0 if unknown), and TCP sequence number (or None).

    Only the first fragment of a datagram contains ports. For other fragments, the ports are None, and the payload is the entire fragment.
    """
    content = content.ljust(SHORTEST_BYTES, b"\0")
    (kind,) = struct.unpack_from("!H", content, 12)
    at = ETHERNET_BYTES
    if kind == IPV4:
        protocol, header = content[at + 9], 4 * (content[at] & 15)
        offset = struct.unpack_from("!H", content, at + 6)[0] & OFFSET
        total = struct.unpack_from("!H", content, at + 2)[0] or length - at
        ends = content[at + 12 : at + 16], content[at + 16 : at + 20]
    elif kind == IPV6:
        protocol, header, offset = content[at + 6], 40, 0
        if protocol == FRAGMENT:
            protocol, header = content[at + 40], 40 + FRAGMENT_BYTES
            offset = struct.unpack_from("!H", content, at + 42)[0] >> 3
        total = (struct.unpack_from("!H", content, at + 4)[0] + 40) or length - at
        ends = content[at + 8 : at + 24], content[at + 24 : at + 40]
    else:
        return (kind, b"", b"", 0, 0), 0, None
    at += header
    if protocol not in (TCP, UDP) or len(content) < at + 8:
        return (protocol, *ends, 0, 0), 0, None
    if offset:
        return (protocol, *ends, None, None), total - header, None
    ports = struct.unpack_from("!HH", content, at)
    if protocol == UDP:
        return (protocol, *ends, *ports), total - header - 8, None
    (sequence,) = struct.unpack_from("!I", content, at + 4)
    return (protocol, *ends, *ports), total - header - 4 * (content[at + 12] >> 4), sequence


def _ends(key):
    """Return the source, the destination and the protocol of a flow as texts."""
    protocol, source, destination, from_port, to_port = key
    names = {TCP: "TCP", UDP: "UDP"}
    if not source:
        return "", "", f"Ethernet 0x{protocol:04x}"
    ends = [str(ipaddress.ip_address(address)) for address in (source, destination)]
    if from_port is None:
        return *ends, f"{names[protocol]} fragments"
    if protocol in names:
        ends = [f"[{end}]:{port}" if ":" in end else f"{end}:{port}" for end, port in zip(ends, (from_port, to_port), strict=True)]  # fmt: skip
    return *ends, names.get(protocol, f"IP {protocol}")
