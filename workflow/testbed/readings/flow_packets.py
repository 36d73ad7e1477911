"""Packets of declared programs, observed by the kernel at the sender and at the receiver, independently of the programs' reports.

At the interface of each host, a kernel filter selects the data packets by port, and a ring receives their first bytes. UDP and TCP are
measured in the same way: amounts of data sent and received in each time step, and one-way delays. Retransmissions are visible only
with TCP, because QUIC encrypts its headers.
"""

import ctypes
import socket
import struct
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from testbed.network.addresses import control_interface
from testbed.network.links import EmulatedInterface
from testbed.readings.packet_capture import AT_ONCE, FRAME, IN_USE, LAST, STATUS, Ring
from testbed.readings.sequence_numbers import SequenceNumbers

SO_ATTACH_FILTER = 26
#: Number of bytes to examine of each packet, size of a ring in bytes, and interval at which rings are read.
KEPT_BYTES, RING_BYTES, STEP_NS = 128, 2**23, 100_000_000
#: Maximum number of delays to keep for a flow: with more packets, only every second delay is kept, then every fourth, and so on.
MOST_DELAYS = 16_384
ETHERNET_BYTES, UDP, TCP = 14, 17, 6
#: End of the IPv6 header, next-header value and length of the IPv6 fragment header, and the IPv4 flag More Fragments (set in all fragments
#: but the last).
IPV6_END, FRAGMENT, FRAGMENT_BYTES, MORE_FOLLOW = ETHERNET_BYTES + 40, 44, 8, 0x2000
#: Instructions of classic BPF (linux/bpf_common.h): load, compare, return.
LOAD_HALF, LOAD_BYTE, LOAD_HALF_AT_X, LENGTH_TO_X, X_IS = 0x28, 0x30, 0x48, 0xB1, 0x01
IF_EQUAL, IF_ANY_OF, RETURN = 0x15, 0x45, 0x06
INSTRUCTION = struct.Struct("=HBBI")
#: Number of payload bytes used to identify a packet.
TOLD_BY_BYTES = 40


class PacketMeter:
    """Counter of the packets of a run's declared programs during the traffic (used like `packet_capture.PacketCapture`)."""

    #: Name of the meter's section in the run document.
    name = "program_packets"

    def __init__(self, path, specification):
        self._stack, self._flows, places = ExitStack(), [], defaultdict(list)
        self._ahead_ns = time.time_ns() - time.monotonic_ns()
        for flow in specification.program_flows:
            counted = FlowPackets(flow, specification.ip_version)
            self._flows.append(counted)
            places[flow.pair.sender].append((counted, counted.sent))
            places[flow.pair.receiver].append((counted, counted.arrived))
        # Read all senders' rings before the receivers', because packets are sent before they arrive.
        senders = {flow.pair.sender for flow in specification.program_flows}
        self._rings = [
            self._stack.enter_context(HeadRing(interface_of(path, host), places[host], specification.ip_version))
            for host in sorted(places, key=lambda host: (host not in senders, host))
        ]

    def begin(self) -> None:
        """Discard the packets received so far."""
        for ring in self._rings:
            ring.drop()

    def events(self, origin_ns) -> Iterator[tuple[float, int, Callable]]:
        """Yield the first event for `traffic.start_and_sample`; the rings are read at every event."""
        for flow in self._flows:
            flow.origin_ns = origin_ns + self._ahead_ns
        yield STEP_NS / 1e9, LAST, self._again

    def _again(self, at_s):
        return [(at_s + STEP_NS / 1e9, LAST, self._again)]

    def read(self) -> None:
        """Read all rings."""
        for ring in self._rings:
            ring.read()

    def end(self) -> None:
        """Read the remaining packets."""
        self.read()

    def close(self) -> None:
        """Close all rings."""
        self._stack.close()

    def section(self) -> dict:
        """Return the document's section ``program_packets``, with ``flows`` and ``missed``.

        ``missed`` is the number of packets that were lost because a ring was full.
        """
        return {"missed": sum(ring.lost() for ring in self._rings), "flows": [flow.section() for flow in self._flows]}


def interface_of(path, host) -> EmulatedInterface:
    """Return a host's interface to the path."""
    (interface,) = (
        one for name, one in path.interfaces.items() if one.node.name == host and name != control_interface(host)
    )
    return interface


class HeadRing(Ring):
    """A ring that receives, at one interface, the first bytes of packets with certain ports.

    Each of the ``takers`` is a pair: a `FlowPackets`, and the method of this object that processes a packet.
    """

    def __init__(self, interface, takers, ip_version):
        super().__init__(interface, KEPT_BYTES, RING_BYTES, None)
        self._takers = {(flow.port, flow.from_server): take for flow, take in takers}
        self._is_ipv4 = ip_version == "ipv4"
        of_servers, of_clients = ([port for port, server in self._takers if server == way] for way in (True, False))
        code = b"".join(INSTRUCTION.pack(*one) for one in instructions(ip_version, of_servers, of_clients))
        kept = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("=H6xQ", len(code) // INSTRUCTION.size, ctypes.addressof(kept))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)

    def read(self) -> None:
        """Pass every packet in the ring to its flow."""
        memory = self._memory
        while True:
            place = self._place * self._frame_bytes
            status, length, copied, begin, seconds, nanoseconds = FRAME.unpack_from(memory, place)
            if not status & IN_USE:
                return
            head = memory[place + begin : place + begin + min(copied, KEPT_BYTES)]
            STATUS.pack_into(memory, place, 0)
            self._place = (self._place + 1) % self._frames
            _, at, _ = transport(head, self._is_ipv4)
            source, target = head[at : at + 2], head[at + 2 : at + 4]
            take = self._takers.get((int.from_bytes(source), True)) or self._takers.get((int.from_bytes(target), False))
            if take:
                take(seconds * 10**9 + nanoseconds, head, length)

    def drop(self) -> None:
        """Discard the packets in the ring."""
        while self.packets(AT_ONCE):
            pass
        self.lost()


def transport(head, is_ipv4) -> tuple[int, int, bool]:
    """Return a packet's transport protocol, the position of the transport header, and whether the packet is a first fragment."""
    if is_ipv4:
        return (
            head[23],
            ETHERNET_BYTES + 4 * (head[ETHERNET_BYTES] & 15),
            bool(int.from_bytes(head[20:22]) & MORE_FOLLOW),
        )
    if head[20] == FRAGMENT:
        return head[IPV6_END], IPV6_END + FRAGMENT_BYTES, True
    return head[20], IPV6_END, False


def instructions(ip_version, source_ports, target_ports) -> list[tuple[int, int, int, int]]:
    """Return the instructions of a filter that selects UDP and TCP packets by IP version and port.

    The filter selects packets from ``source_ports`` or to ``target_ports``. Of a fragmented packet, it selects the first fragment, which
    contains the ports. It selects no IPv6 packets with other extension headers. A conditional jump in classic BPF skips at most 255
    instructions, so each comparison is followed by a separate return instruction.
    """
    take, leave = (RETURN, 0, 0, 0xFFFF), (RETURN, 0, 0, 0)
    is_udp_or_tcp = [(IF_EQUAL, 2, 0, UDP), (IF_EQUAL, 1, 0, TCP), leave]
    if ip_version == "ipv4":
        kind, ports_at = 0x0800, ETHERNET_BYTES
        to_ports = [
            (LOAD_BYTE, 0, 0, 23),
            *is_udp_or_tcp,
            (LOAD_HALF, 0, 0, 20),
            (IF_ANY_OF, 0, 1, 0x1FFF),
            leave,
            (LENGTH_TO_X, 0, 0, ETHERNET_BYTES),
        ]
    else:
        kind, ports_at = 0x86DD, IPV6_END
        first_fragment = [
            (LOAD_HALF, 0, 0, IPV6_END + 2),
            (IF_ANY_OF, 0, 1, 0xFFF8),
            leave,
            (X_IS, 0, 0, FRAGMENT_BYTES),
            (LOAD_BYTE, 0, 0, IPV6_END),
        ]
        to_ports = [
            (X_IS, 0, 0, 0),
            (LOAD_BYTE, 0, 0, 20),
            (IF_EQUAL, 0, len(first_fragment), FRAGMENT),
            *first_fragment,
            *is_udp_or_tcp,
        ]
    code = [(LOAD_HALF, 0, 0, 12), (IF_EQUAL, 1, 0, kind), leave, *to_ports]
    for offset, ports in ((0, source_ports), (2, target_ports)):
        code.append((LOAD_HALF_AT_X, 0, 0, ports_at + offset))
        for port in ports:
            code += [(IF_EQUAL, 0, 1, port), take]
    return [*code, leave]


class FlowPackets:
    """Counts of a flow's data packets at the sender and at the receiver."""

    def __init__(self, flow, ip_version):
        self.port, self.number, self.group = flow.port, flow.number, flow.group
        self.from_server, self.is_tcp = flow.program.data_from == "server", flow.program.protocol == "tcp"
        self._is_ipv4, self.origin_ns = ip_version == "ipv4", 0
        self._under_way, self._ambiguous, self._largest = defaultdict(deque), 0, 0
        self._counts = dict.fromkeys(
            (
                "packets_sent", "packets_arrived", "bytes_sent", "bytes_arrived", "frame_bytes_sent", "frame_bytes_arrived",
                "fragmented_packets", "other_packets",
            ), 0
        )  # fmt: skip
        self._first_sent_ns = self._last_arrived_ns = None
        self._steps = {"sent": [], "arrived": []}
        #: Sequence numbers by connection, which the ports identify: those of several connections overlap.
        self._numbers = {"sent": defaultdict(SequenceNumbers), "arrived": defaultdict(SequenceNumbers)}
        self._repeats, self._every, self._seen, self._delays = 0, 1, 0, []

    def sent(self, at_ns, head, length) -> None:
        """Process a packet that leaves the sender."""
        payload_bytes, told_by, fresh = self._take("sent", at_ns, head, length)
        if not payload_bytes:
            return
        self._repeats += self.is_tcp and fresh < payload_bytes
        if self._first_sent_ns is None:
            self._first_sent_ns = at_ns
        waiting = self._under_way[told_by]
        self._ambiguous += bool(waiting)
        waiting.append(at_ns)

    def arrived(self, at_ns, head, length) -> None:
        """Process a packet that reaches the receiver."""
        payload_bytes, told_by, _ = self._take("arrived", at_ns, head, length)
        if not payload_bytes:
            return
        self._last_arrived_ns = at_ns
        if waiting := self._under_way.get(told_by):
            self._keep(waiting.popleft(), at_ns)
            if not waiting:
                del self._under_way[told_by]

    def _take(self, where, at_ns, head, length):
        """Count a packet; return its payload in bytes, its identifier, and the number of payload bytes not seen before.

        Fragmented packets, and packets of a protocol other than the declared one, are counted only where they leave the sender.
        """
        protocol, at, is_fragment = transport(head, self._is_ipv4)
        if is_fragment or protocol != (TCP if self.is_tcp else UDP):
            self._counts["fragmented_packets" if is_fragment else "other_packets"] += where == "sent"
            return 0, None, 0
        payload_bytes, told_by, number = self._parsed(head, at)
        self._largest = max(self._largest, length)
        if not payload_bytes:
            return 0, None, 0
        fresh = self._numbers[where][head[at : at + 4]].add(number, payload_bytes) if self.is_tcp else payload_bytes
        self._counts[f"packets_{where}"] += 1
        self._counts[f"bytes_{where}"] += payload_bytes
        self._counts[f"frame_bytes_{where}"] += length
        steps, step = self._steps[where], max(0, at_ns - self.origin_ns) // STEP_NS
        steps.extend([0] * (step + 1 - len(steps)))
        steps[step] += fresh
        return payload_bytes, told_by, fresh

    def _parsed(self, head, at):
        """Return the size of a packet's payload in bytes, the packet's identifier, and its sequence number (None without TCP).

        The transport header begins at position ``at``.
        """
        if self._is_ipv4:
            size, own = int.from_bytes(head[16:18]) + ETHERNET_BYTES - at, head[18:20]
        else:
            size, own = int.from_bytes(head[18:20]), b""
        if not self.is_tcp:
            return size - 8, own + head[at : at + 6] + head[at + 8 : at + 8 + TOLD_BY_BYTES], None
        header = 4 * (head[at + 12] >> 4)
        # The checksum is excluded, because the sender leaves it to the device.
        return (
            size - header,
            own + head[at : at + 16] + head[at + 18 : at + header],
            int.from_bytes(head[at + 4 : at + 8]),
        )

    def _keep(self, sent_ns, arrived_ns):
        """Record a packet's delay, or skip it so that at most `MOST_DELAYS` evenly spaced delays are kept."""
        if self._seen % self._every == 0:
            self._delays.append((sent_ns - self.origin_ns, arrived_ns - sent_ns))
            if len(self._delays) > MOST_DELAYS:
                self._delays, self._every = self._delays[::2], 2 * self._every
        self._seen += 1

    def section(self) -> dict:
        """Return the flow's entry in the document."""
        since = {
            name: None if at_ns is None else at_ns - self.origin_ns
            for name, at_ns in (("first_sent_ns", self._first_sent_ns), ("last_arrived_ns", self._last_arrived_ns))
        }
        return {
            "flow": self.number, **self._counts, **since, "largest_packet_bytes": self._largest, "alike": self._ambiguous,
            "repeated_packets": self._repeats if self.is_tcp else None,
            "distinct_bytes": sum(one.distinct for one in self._numbers["arrived"].values()) if self.is_tcp else None,
            "step_ns": STEP_NS, "sent_bytes_by_step": self._steps["sent"], "arrived_bytes_by_step": self._steps["arrived"],
            "delay_of_every": self._every,
            "sent_ns": [sent for sent, _ in self._delays], "delay_ns": [delay for _, delay in self._delays],
        }  # fmt: skip
