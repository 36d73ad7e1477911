"""Probe of the path after the traffic, which observes each effect of the network on packets separately.

Datagrams are sent between the hosts of each pair, or over each path of a cable. Individual datagrams measure the delay, and a packet train
measures the rate. To measure the limit of a queue or a policer, slightly more datagrams are sent at once than the limit allows. A tap
behind each bottleneck sees the packets before any other effect is applied. All times are the kernel's arrival times, in ns of the guest's
clock. The expected values are in `checks.probe_checks`. The probe doesn't change any result, because the traffic has ended.
"""

import contextlib
import math
import socket
import statistics
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from experiment.chain_names import ends
from experiment.link_options import ARRIVALS, PATH, options_at
from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, LARGEST_MTU_BYTES, UDP_HEADER_BYTES
from experiment.timeline import DIRECTIONS
from testbed.network.addresses import idle_destinations
from testbed.network.netlink import network_namespace
from testbed.network.policer import POLICED_AT
from testbed.readings.queue_information import QueueReader, counters_of
from testbed.traffic.alarm import punctual

FAMILIES = {"ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
#: From <linux/if_ether.h> and <linux/if_packet.h>: a socket that is open for all Ethernet protocols sees packets before they are
#: redirected.
ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING = 3, 263, 23
#: From <asm-generic/socket.h>; Python has no names for these.
SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_SNDBUFFORCE = 35, 33, 32
BUFFER_BYTES = 512 * 2**20
TIMESTAMP = struct.Struct("=qq")
#: Last bytes of each datagram: a mark, and the datagram's number.
MARK, NUMBER = b"sawtooth", struct.Struct("=I")
SMALL_BYTES = 64
#: Number of individual datagrams to send if the path has no random effects, and number of packets in a train to a bottleneck.
SINGLES, TRAIN = 10, 16
#: Number of individual datagrams with jitter: the range of uniform samples exceeds 60 % of the jitter's range with a probability of 1 -
#: 1e-12.
OF_JITTER = 64
#: Number of individual datagrams with a custom delay table.
OF_TABLE = 500
#: Interval between individual datagrams, in s; maximum interval, in ns, at which datagrams count as simultaneous; minimum number of gaps
#: that a train must contain.
APART_S, TOGETHER_NS, LEAST_GAPS = 1e-3, 1_000, 3
#: Ratio of the jitter to the interval between datagrams in the test for overtaking.
CLOSE = 16
#: Maximum probability that no datagram shows a random effect, and maximum number of datagrams to send to achieve this.
RARE, MOST_SINGLES = 1e-9, 1000
#: Maximum number of packets to send at once to fill a queue or a bucket, and number of packets to send beyond its capacity.
MOST_AT_ONCE, BEYOND = 2_000, 8
#: Maximum filling time of a bucket in s; buckets that take longer to fill are not probed.
MOST_FILLING_S = 600.0
#: Length in s of a period in which no packet passes, which must precede a probe, and maximum number of such periods to wait.
QUIET_S, QUIET_TIMES = 1.0, 120


@dataclass
class Line:
    """Two hosts that exchange datagrams.

    ``number`` is an index from 0. It refers to a bottleneck if the line is for probing bottlenecks, and otherwise to a pair of hosts or, on
    a cable, to a path.
    """

    sender: str
    receiver: str
    address: str
    number: int | None


def lines_of(specification) -> tuple[list[Line], list[Line]]:
    """Return the lines for probing delays, and the lines for probing bottlenecks.

    On a chain, bottlenecks are probed between the pairs that cross only one bottleneck.
    """
    everyone = [Line(*one, number) for number, one in enumerate(idle_destinations(specification))]
    if specification.is_cable:
        return everyone, everyone
    if specification.is_chain:
        return everyone, [Line(one.sender, one.receiver, one.address, one.number - 1) for one in everyone[1:]]
    return everyone, [Line(everyone[0].sender, everyone[0].receiver, everyone[0].address, 0)]


def behind(specification, number) -> dict[str, str]:
    """Return, by direction, the interface at which packets arrive behind a bottleneck.

    ``number`` is the bottleneck's number, from 0.
    """
    if specification.is_cable:
        return {"forward": f"h2-eth{number}", "reverse": f"h1-eth{number}"}
    if specification.is_chain:
        forward, reverse = (ends(number + 1)[direction] for direction in DIRECTIONS)
        return {"forward": reverse, "reverse": forward}
    return {"forward": "r2-eth1", "reverse": "r1-eth1"}


def singles_of(specification, direction) -> int:
    """Return the number of individual datagrams needed to probe a direction's delay."""
    effect = specification.direction(direction)
    lost, late = at_the_end(specification, direction, "loss_percent") / 100, specification.late_percent(direction) / 100
    count = OF_JITTER if effect.jitter_ms else SINGLES
    if specification.option("jitter_table", direction):
        count = OF_TABLE
    arriving = max(1e-6, 1 - lost)
    if late:
        # At least one datagram must be late, and at least one must not be.
        count = max(count, math.log(RARE) / math.log(max(late, 1 - late)))
    if lost:
        count = max(count / arriving * 2, math.log(RARE) / math.log(min(lost, 1 - 1e-9)))
    return min(MOST_SINGLES, math.ceil(count))


def options_ms(specification, direction) -> float:
    """Return the maximum additional delay that link options cause for a datagram, in ms."""
    link = specification.scenario["link"]
    on_path, arriving = (options_at(link, place, direction).items() for place in (PATH, ARRIVALS))
    return sum(option.idle_ms(value) for option, value in on_path) + sum(
        option.delay_ms(value) for option, value in arriving
    )


def singles_apart_s(specification, direction) -> float:
    """Return the interval between individual datagrams in s.

    With this interval, no datagram waits for another. The interval is at least a quarter of a slot.
    """
    slot_ms = specification.slot_ms(direction)
    times_s = (
        time_of(specification, SMALL_BYTES, direction, number) for number in range(len(specification.bottlenecks))
    )
    return max(2 * max(times_s), slot_ms / 4e3 if slot_ms else APART_S)


class PathProbe:
    """Sender and receiver of a probe's datagrams."""

    def __init__(self, path, specification):
        self._path, self._specification = path, specification
        self._version = specification.ip_version
        self._sent = 0

    def section(self) -> dict:
        """Run the probe and return the document's section ``probe``."""
        self._wait_until_quiet()
        of_delays, of_bottlenecks = lines_of(self._specification)
        found = {"delays": [], "bottlenecks": []}
        with punctual(), contextlib.ExitStack() as stack:
            for line in of_delays:
                ways = self._ways(stack, line)
                found["delays"] += [
                    {
                        "sender": line.sender,
                        "receiver": line.receiver,
                        "direction": direction,
                        **self._delays(ways[direction], direction, self._specification.on_path(line.number)),
                    }
                    for direction in DIRECTIONS
                ]
            for line in of_bottlenecks if self._specification.rate_mbps is not None else ():
                ways = self._ways(stack, line)
                found["bottlenecks"] += [
                    {
                        "bottleneck": line.number + 1,
                        "direction": direction,
                        **self._bottleneck(stack, ways[direction], line, direction),
                    }
                    for direction in DIRECTIONS
                ]
        return found

    def _wait_until_quiet(self):
        """Wait until no packets are in transit."""
        before = None
        for _ in range(QUIET_TIMES):
            time.sleep(QUIET_S)
            now = [
                (counted["packets"], counted["backlog_packets"])
                for node in self._path.net.hosts
                for _, _, counted in counters_of(node)
            ]
            if now == before and not any(waiting for _, waiting in now):
                return
            before = now

    def _ways(self, stack, line):
        """Return (sending socket, receiving socket) for each direction of a line."""
        with network_namespace(self._path.net[line.sender]):
            sender = stack.enter_context(socket.socket(FAMILIES[self._version], socket.SOCK_DGRAM))
        with network_namespace(self._path.net[line.receiver]):
            receiver = stack.enter_context(socket.socket(FAMILIES[self._version], socket.SOCK_DGRAM))
        receiver.bind((line.address, 0))
        sender.connect(receiver.getsockname())
        for one in (sender, receiver):
            prepare(one)
        receiver.connect(sender.getsockname())
        return {"forward": (sender, receiver), "reverse": (receiver, sender)}

    def _delays(self, way, direction, run):
        """Send individual datagrams; return their counts, and their shortest and longest delay in ns.

        The result also contains the values that the checks of some jitter options need. ``run`` is the specification of this path only.
        """
        count = singles_of(run, direction)
        slot_ms, apart_s = run.slot_ms(direction), singles_apart_s(run, direction)
        if run.option("jitter_order", direction) == "kept":
            # No datagram should wait for the previous one.
            apart_s = max(apart_s, 2 * run.direction(direction).jitter_reach_ms / 1e3)
        came, sent = self._exchange(way, way[1], count, SMALL_BYTES, apart_s, self._longest_s(direction))
        first = {number: at for at, number in reversed(came)}
        delays = [at - sent[number] for number, at in first.items()]
        found = {"sent": count, "arrived": len(first), "twice": len(came) - len(first)}
        found |= {"shortest_ns": min(delays, default=None), "longest_ns": max(delays, default=None)}
        if run.option("jitter_order", direction) == "kept":
            apart_s = max(2 * time_of(run, SMALL_BYTES, direction), run.direction(direction).jitter_ms / CLOSE / 1e3)
            close, _ = self._exchange(way, way[1], OF_JITTER, SMALL_BYTES, apart_s, self._longest_s(direction))
            found["overtaken"] = sum(after < before for (_, before), (_, after) in pairwise(close))
        if run.option("jitter_table", direction):
            found["delays_ns"] = sorted(delays)
        if run.option("jitter_distribution", direction):
            found["deviation_ns"] = round(statistics.pstdev(delays)) if delays else None
        return found | ({"bunches_ns": bunches(at for at, _ in came)} if slot_ms else {})

    def _longest_s(self, direction):
        """Return the longest time in s that a datagram may take after leaving the bottleneck."""
        run = self._specification
        hops = max(pair.hops for pair in run.pairs)
        return (
            run.rtt_most_ms + hops * run.direction(direction).jitter_reach_ms + options_ms(run, direction)
        ) / 1e3 + 0.01

    def _bottleneck(self, stack, way, line, direction):
        """Probe a bottleneck: return the interval between the packets of a train in ns, and the results of `_policed` and `_fill`."""
        run = self._specification
        tap = self._tap(stack, behind(run, line.number)[direction])
        policer = run.policers.get(direction)
        found = self._policed(way, tap, policer, direction) if policer else {}
        one_s, most = (
            time_of(run, run.link_mtu_bytes, direction, line.number),
            held_packets(run, direction, line.number),
        )
        place = self._path.bottleneck[direction][line.number]
        # The packets for which the shaper's bucket holds tokens pass at once.
        credit = place.emulation.burst_bytes // run.largest_packet_bytes
        # If packets are sent at twice the rate, twice as many packets as the bucket holds pass before the rate takes effect.
        train = min(TRAIN + (8 if run.shaper_burst_bytes else 4) * (credit - 1), found.get("passed", math.inf))
        # A queue shorter than the train is kept busy by packets that arrive at twice the rate.
        apart_s = 0 if most >= train else one_s / 2
        came, _ = self._exchange(way, tap, train, self._full(), apart_s, train * one_s + self._longest_s(direction))
        gaps = [after - before for (before, _), (after, _) in pairwise(came)]
        found["gap_ns"] = statistics.median_low(gaps[len(gaps) // 2 :]) if len(gaps) >= LEAST_GAPS else None
        if most <= MOST_AT_ONCE and "passed" not in found:
            if run.shaper_burst_bytes:
                time.sleep(2 * credit * one_s)
            found |= self._fill(stack, way, place, most + credit + BEYOND, one_s, direction)
            if run.shaper_burst_bytes:
                left = sorted(at for at, number in received(tap) if number is None)
                found["burst_packets"] = sum(at - left[0] <= TOGETHER_NS for at in left)
        return found

    def _fill(self, stack, way, place, count, one_s, direction):
        """Send ``count`` packets at once; return the number of packets and bytes in the bottleneck's queue immediately afterwards."""
        kinds = (place.emulation.kind_and_limit[0],)
        queue = stack.enter_context(QueueReader(place.node, place.name, kinds))
        out = way[0]
        for _ in range(count):
            out.send(bytes(self._full()))
        waiting = queue.read()
        time.sleep(count * one_s + self._longest_s(direction))
        return {"at_once": count, "waiting_packets": waiting["packets"], "waiting_bytes": waiting["bytes"]}

    def _policed(self, way, tap, policer, direction):
        """Send packets at once to a direction's policer, and return the number that passed.

        This is done twice: with a full bucket, and half a filling time later. The result is empty if the bucket is too large or fills too
        slowly.
        """
        run, burst_bytes = self._specification, policer["burst_bytes"]
        holds, filling_s = burst_bytes // run.largest_packet_bytes, burst_bytes * 8e-6 / policer["rate_mbps"]
        if holds > MOST_AT_ONCE or filling_s > MOST_FILLING_S:
            return {}
        time.sleep(filling_s)
        passed = []
        for wait_s in (filling_s / 2, 2 * filling_s + (holds + BEYOND) * time_of(run, run.link_mtu_bytes, direction)):
            before = self._policer_drops(direction)
            for _ in range(holds + BEYOND):
                way[0].send(bytes(self._full()))
            passed.append(holds + BEYOND - (self._policer_drops(direction) - before))
            time.sleep(wait_s)
        list(received(tap)), list(received(way[1]))
        return {"policed": holds + BEYOND, "passed": passed[0], "passed_again": passed[1]}

    def _policer_drops(self, direction):
        """Return the number of packets that a direction's policer has dropped so far."""
        node = self._path.net[POLICED_AT[direction]]
        return sum(counted["drops"] for _, kind, counted in counters_of(node) if kind == "ingress")

    def _full(self):
        return self._specification.link_mtu_bytes - IP_HEADER_BYTES[self._version] - UDP_HEADER_BYTES

    def _tap(self, stack, name):
        """Return a socket that sees the packets arriving at an interface before any other effect is applied."""
        with network_namespace(self._path.interfaces[name].node):
            tap = stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL)))
            tap.bind((name, ETH_P_ALL))
        tap.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        prepare(tap)
        return tap

    def _exchange(self, way, watched, count, payload_bytes, apart_s, longest_s):
        """Send datagrams and wait until they have arrived.

        Returns
        -------
        came : list of tuple
            (arrival time in ns, number) of each datagram that reached the ``watched`` socket.
        sent : dict
            Number of a datagram -> sending time in ns.
        """
        out, receiving = way
        filling, sent = bytes(payload_bytes - len(MARK) - NUMBER.size), {}
        for _ in range(count):
            if apart_s or not sent:
                # Each reading of the clock advances it, so datagrams that are sent at once share one reading.
                now_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
            sent[self._sent] = now_ns
            out.send(filling + MARK + NUMBER.pack(self._sent))
            self._sent += 1
            if apart_s:
                time.sleep(apart_s)
        time.sleep(longest_s)
        came = sorted((at, number) for at, number in received(watched) if number in sent)
        # If a tap was watched, the receiving socket still holds its copies of the packets; discard them.
        list(received(receiving))
        return came, sent


def at_the_end(specification, direction, quantity) -> float | None:
    """Return the final value of a quantity in a direction, which also applies after the traffic."""
    return specification.timeline.values(direction, quantity)[-1][1]


def time_of(specification, payload_bytes, direction, number=0) -> float:
    """Return the time in s that a bottleneck needs to transmit a datagram at the bottleneck's final rate, or 0 without a rate."""
    run = specification.bottlenecks[number]
    rate_mbps = at_the_end(run, direction, "rate_mbps")
    frame = payload_bytes + ETHERNET_HEADER_BYTES + run.link.frame_overhead_bytes
    frame += 0 if payload_bytes == run.link_mtu_bytes else IP_HEADER_BYTES[specification.ip_version] + UDP_HEADER_BYTES
    return frame * 8 / rate_mbps / 1e6 if rate_mbps else 0.0


def prepare(one) -> None:
    """Give a socket buffers that are large enough for all packets that may arrive, and enable the kernel's timestamps."""
    for option in (SO_RCVBUFFORCE, SO_SNDBUFFORCE):
        one.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
    one.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    one.setblocking(False)


def received(one) -> Iterator[tuple[int, int | None]]:
    """Yield (time in ns, number of the datagram or None) for each packet that a socket has received."""
    while True:
        try:
            data, said, _, _ = one.recvmsg(LARGEST_MTU_BYTES + 64, 64)
        except BlockingIOError:
            return
        seconds, nanoseconds = TIMESTAMP.unpack(said[0][2])
        marked = data[-len(MARK) - NUMBER.size : -NUMBER.size] == MARK
        yield seconds * 10**9 + nanoseconds, NUMBER.unpack(data[-NUMBER.size :])[0] if marked else None


def held_packets(specification, direction, number=0) -> int:
    """Return the number of full packets that a bottleneck's queue can hold in a direction.

    ``number`` is the bottleneck's number, from 0.
    """
    run = specification.bottlenecks[number]
    # For a single flow, some disciplines hold fewer packets than their limit.
    of_flow = (run.queue_in(direction).get(name) for name in ("depth_packets", "flow_limit_packets"))
    limit = run.queue_packets_in(direction) or run.queue_bytes_in(direction) // run.largest_packet_bytes
    return min([limit, *filter(None, of_flow)])


def bunches(times_ns) -> list[int]:
    """Return the arrival times of bunches of packets, in ns since the first bunch.

    Packets that arrive within `TOGETHER_NS` belong to one bunch.
    """
    instants = []
    for at in sorted(times_ns):
        if not instants or at - instants[-1] > TOGETHER_NS:
            instants.append(at)
    return [at - instants[0] for at in instants]
