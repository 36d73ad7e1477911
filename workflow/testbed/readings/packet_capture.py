"""Captures of packets at interfaces, written to pcapng files during the traffic, for `make packets`.

The kernel copies each packet immediately to a ring that it shares with this process (packet_mmap). The rings are read whenever this process
wakes up anyway. No packet is held back, no program is started and no clock is read, so a run's document is the same with and without
captures. If the rings must be read more often, additional readings are made, each of which wakes the guest. The caller that requests
captures verifies that the documents are equal.

Formats: struct tpacket_req and tpacket2_hdr of linux/if_packet.h; pcapng of draft-ietf-opsawg-pcapng.
"""

import mmap
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from testbed.network.addresses import control_interface
from testbed.network.netlink import network_namespace

ETH_P_ALL = 0x0003
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION, TPACKET_V2 = 263, 5, 6, 10, 1
#: tpacket2_hdr: status, bytes on the wire, bytes copied, offset of the copy, seconds, nanoseconds.
FRAME = struct.Struct("=IIIH2xII")
STATUS, IN_USE = struct.Struct("=I"), 1
#: Offset of sll_pkttype in the struct sockaddr_ll after tpacket2_hdr, and the value of sll_pkttype for outgoing packets.
PACKET_TYPE_AT, OUTGOING = 32 + 10, 4
#: Number of bytes before the copy of a packet: both headers, aligned, and space for an Ethernet header.
HEAD_BYTES = 96
#: Sizes in bytes: of all rings together, of the largest ring, and of a ring's block. They are small because guests have little memory.
ALL_BYTES, MOST_BYTES, BLOCK_BYTES = 2**27, 2**25, 2**16
#: Number of packets written at once, limited so that the program's memory doesn't grow.
AT_ONCE = 256
#: Maximum amount of a file's data in the guest's page cache, as a multiple of the ring's size. Emptying the cache wakes kernel threads, so
#: it is done rarely.
CACHED = 1.5
#: An hour, longer than any run.
LATE_CENTISECONDS = "360000"
CLOCK = "times from the guest's virtual clock"
#: Kind of event that comes last among simultaneous events.
LAST = 4
SECTION, INTERFACE, ENHANCED_PACKET = 0x0A0D0D0A, 1, 6
COMMENT, NAME, DESCRIPTION, RESOLUTION, FLAGS = 1, 2, 3, 9, 2
LINKTYPE_ETHERNET, IN, OUT = 1, 1, 2


class PacketCapture:
    """Packet captures of a run during the traffic, one for each requested interface.

    Parameters
    ----------
    path : topology.NetworkPath
    specification : RunSpecification
    asked : dict
        ``bytes``, the number of bytes to keep of each packet; ``at``, the names of interfaces (if empty, all except the control
        interfaces); ``step_s``, the interval between additional readings of the rings in s, or None.
    folder : pathlib.Path
        Folder for the files ``<interface>.pcapng``.
    """

    def __init__(self, path, specification, asked, folder):
        # The files are written immediately (O_SYNC) instead of later by the kernel's own threads.
        for name in ("dirty_writeback_centisecs", "dirty_expire_centisecs"):
            Path("/proc/sys/vm", name).write_text(LATE_CENTISECONDS)
        self._step_s, self._stack, self._rings = asked["step_s"], ExitStack(), []
        control = {control_interface(node.name) for node in path.end_hosts}
        names = [name for name in path.interfaces if (name in asked["at"] if asked["at"] else name not in control)]
        size = min(MOST_BYTES, ALL_BYTES // len(names)) // BLOCK_BYTES * BLOCK_BYTES
        for name in names:
            interface, kept = path.interfaces[name], asked["bytes"]
            handle = os.open(folder / f"{name}.pcapng", os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o644)
            file = self._stack.enter_context(open(handle, "wb", buffering=0))
            comment = f"Sawtooth run {specification.name}, seed {specification.seed}, {CLOCK}"
            file.write(head(name, description(path, interface), kept, comment))
            self._rings.append(self._stack.enter_context(Ring(interface, kept, size, file)))

    def begin(self) -> None:
        """Discard the packets captured so far, because a capture covers the time between the two readings of the link counters."""
        for ring in self._rings:
            while ring.packets(AT_ONCE):
                pass
            ring.lost()

    def end(self) -> None:
        """Write the remaining packets, and the number of packets lost because a ring was full."""
        for ring in self._rings:
            ring.drain()
            ring.file.write(statistics(ring.lost()))

    def close(self) -> None:
        """Close all rings after the run's last step, because the kernel waits when such a socket is closed."""
        self._stack.close()

    def events(self, _) -> Iterator[tuple[float, int, Callable]]:
        """Yield an event for `traffic.start_and_sample`, the first additional reading of the rings; nothing if none was requested."""
        if self._step_s:
            yield self._step_s, LAST, self._again

    def _again(self, at_s):
        return [(at_s + self._step_s, LAST, self._again)]

    def read(self) -> None:
        """Read all rings."""
        for ring in self._rings:
            ring.drain()


class Ring:
    """The ring of a packet socket at an interface.

    ``size`` is the size of the ring in bytes, and the packets are written to ``file``.
    """

    def __init__(self, interface, kept_bytes, size, file):
        self._frame_bytes, self._kept, self._place, self.file = frame_bytes(kept_bytes), kept_bytes, 0, file
        self._frames, self._cached = size // self._frame_bytes, 0
        self._most_cached = CACHED * size
        with network_namespace(interface.node):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        blocks = size // BLOCK_BYTES
        ring = struct.pack("=IIII", BLOCK_BYTES, blocks, self._frame_bytes, self._frames)
        self._socket.setsockopt(SOL_PACKET, PACKET_RX_RING, ring)
        self._memory = mmap.mmap(self._socket.fileno(), size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        self._socket.bind((interface.name, ETH_P_ALL))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._memory.close()
        self._socket.close()

    def drain(self) -> None:
        """Write all packets in the ring to the file."""
        while parts := self.packets(AT_ONCE):
            self._cached += self.file.write(b"".join(parts))
        if self._cached > self._most_cached:
            # Otherwise the guest's memory would fill up, and kernel threads would empty it at unpredictable times.
            os.posix_fadvise(self.file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            self._cached = 0

    def packets(self, most) -> list[bytes]:
        """Remove up to ``most`` packets from the ring, and return them as blocks of a pcapng file."""
        memory, parts = self._memory, []
        while len(parts) < most:
            at = self._place * self._frame_bytes
            status, length, copied, begin, seconds, nanoseconds = FRAME.unpack_from(memory, at)
            if not status & IN_USE:
                break
            copied = min(copied, self._kept)
            leaves = memory[at + PACKET_TYPE_AT] == OUTGOING
            content = memory[at + begin : at + begin + copied]
            parts.append(packet(seconds * 10**9 + nanoseconds, content, length, leaves))
            STATUS.pack_into(memory, at, 0)
            self._place = (self._place + 1) % self._frames
        return parts

    def lost(self) -> int:
        """Return the number of packets that have arrived since the last call while the ring was full."""
        return struct.unpack("=II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]


def frame_bytes(kept_bytes) -> int:
    """Return the size in bytes of a ring's frame that holds ``kept_bytes`` of a packet.

    The size is a power of two, so that frames fill a block.
    """
    return min(1 << (HEAD_BYTES + kept_bytes - 1).bit_length(), BLOCK_BYTES)


def description(path, interface) -> str:
    """Return the role of an interface, as text for the interface's capture file."""
    node = interface.node
    for name, nodes in (("sender", path.senders), ("receiver", path.receivers)):
        if node in nodes:
            return f"{name} of pair {nodes.index(node) + 1}"
    for direction, of in (("data", "forward"), ("ACKs", "reverse")):
        if interface in path.bottleneck[of]:
            return f"bottleneck for the {direction}, after its queue"
    return f"router {node.name}"


def block(kind, body) -> bytes:
    """Return a block of a pcapng file."""
    body += bytes(-len(body) % 4)
    length = struct.pack("=I", len(body) + 12)
    return struct.pack("=I", kind) + length + body + length


def option(code, value) -> bytes:
    """Return an option of a block."""
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("=HH", code, len(value)) + value + bytes(-len(value) % 4)


def head(name, words, kept_bytes, comment) -> bytes:
    """Return the first two blocks of a file: the section header, and an interface description with a time resolution of 1 ns."""
    section = struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1) + option(COMMENT, comment) + option(0, b"")
    interface = struct.pack("=HHI", LINKTYPE_ETHERNET, 0, kept_bytes)
    interface += option(NAME, name) + option(DESCRIPTION, words) + option(RESOLUTION, b"\x09") + option(0, b"")
    return block(SECTION, section) + block(INTERFACE, interface)


def packet(at_ns, content, length, leaves) -> bytes:
    """Return the block of a packet in a pcapng file."""
    body = struct.pack("=IIIII", 0, at_ns >> 32, at_ns & 0xFFFFFFFF, len(content), length)
    body += content + bytes(-len(content) % 4)
    return block(ENHANCED_PACKET, body + option(FLAGS, struct.pack("=I", OUT if leaves else IN)) + option(0, b""))


def statistics(lost) -> bytes:
    """Return the block that reports the number of packets missing from a capture (isb_ifdrop)."""
    return block(5, struct.pack("=III", 0, 0, 0) + option(5, struct.pack("=Q", lost)) + option(0, b""))
