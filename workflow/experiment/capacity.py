"""Capacity and delay of a run's path in each direction, as functions of time.

The capacity is limited by the link's rate, the link's timeline or trace, a policer in front of the link, and outages. Labels,
utilisation, ideal goodput, ceilings, checks and theory all use this module.

Rates are in Mbit/s and are based on packet sizes as the bottleneck counts them. The rates of parallel paths are summed. A rate is None if
it is unlimited. The capacity of a chain is the capacity of its narrowest bottleneck; each of a run's `bottlenecks` also has a separate
`Capacity`. Times are in ns since the traffic's origin. This module uses only the standard library.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from experiment.late_deliveries import LateDeliveries
from experiment.timeline import DIRECTIONS, LOST_ALL, integral, value_in_force

FORWARD, REVERSE = DIRECTIONS
#: A time in ns, longer than any run.
EVER_NS = 10**18
#: Maximum delay, in round trips, from the start of the UDP intervals at iperf3's client to their start at its server. The exchange on the
#: control connection causes this delay.
SET_UP_RTTS = 4


class Capacity(LateDeliveries):
    """Capacity and delay of a run's path over time, for data in one direction.

    ``specification`` is the run's `RunSpecification`.
    """

    def __init__(self, specification, direction=FORWARD):
        self._run = specification
        #: Direction of the data; acknowledgements use the opposite direction.
        self.direction = direction
        self._back = REVERSE if direction == FORWARD else FORWARD

    @cached_property
    def policed_mbps(self) -> float | None:
        """Rate of this direction's policer in Mbit/s; None without a policer."""
        policer = self._run.policers.get(self.direction)
        return policer["rate_mbps"] if policer else None

    @cached_property
    def _link_rates(self):
        """Total rate of the links in each direction, as (start, Mbit/s) pairs; the rate is 0 while all packets are lost."""
        return {direction: self._link_rates_of(direction) for direction in DIRECTIONS}

    def _link_rates_of(self, direction):
        run = self._run
        if run.rate_mbps is None or not run.shaped:
            return [(0, None)]
        if run.is_chain:
            return [(0, run.rate_mbps)]
        if run.is_cable and run.paths > 1:
            return _sum([Capacity(one)._link_rates_of(direction) for one in run.bottlenecks])
        offered, lost = (run.timeline.values(direction, name) for name in ("rate_mbps", "loss_percent"))
        times = sorted({*(at_ns for at_ns, _ in (*offered, *lost)), *self._outage_ns})
        passes = (value_in_force(lost, at_ns) != LOST_ALL and not self._is_down(at_ns) for at_ns in times)
        return _changes(
            [(at, value_in_force(offered, at) if open_ else 0) for at, open_ in zip(times, passes, strict=True)]
        )

    @property
    def _outage_ns(self):
        """Start and end in ns of the outage on a cable's only path; empty without an outage."""
        outage = self._run.multipath.outage if self._run.is_cable else None
        return [round(1e9 * at_s) for at_s in (outage["at_s"], outage["at_s"] + outage["for_s"])] if outage else []

    def _is_down(self, at_ns):
        """Return whether the path is down at a given time."""
        return bool(self._outage_ns) and self._outage_ns[0] <= at_ns < self._outage_ns[1]

    @cached_property
    def _rates(self):
        rates = dict(self._link_rates)
        if self.policed_mbps is not None:
            policed = (
                (at_ns, self.policed_mbps if rate is None else min(rate, self.policed_mbps))
                for at_ns, rate in rates[self.direction]
            )
            rates[self.direction] = list(policed)
        return rates

    def rates(self) -> list[tuple[int, float | None]]:
        """Return the path's capacity as (start in ns, Mbit/s) pairs; the first rate also applies before its start; None if unlimited."""
        return self._rates[self.direction]

    def is_unlimited(self) -> bool:
        """Return whether the path's rate is unlimited."""
        return self.rates()[0][1] is None

    @property
    def is_links(self) -> bool:
        """Whether the capacity is constant and equal to the links' rate: the rate never changes, and there is no policer."""
        return len(self._link_rates[self.direction]) == 1 and self.policed_mbps is None

    def mbps_at(self, at_ns) -> float | None:
        """Return the path's capacity at a given time, in Mbit/s; None if it is unlimited."""
        return value_in_force(self.rates(), at_ns)

    def least_mbps(self) -> float | None:
        """Return the path's minimum capacity during the run, in Mbit/s; None if it is unlimited."""
        return None if self.is_unlimited() else min(rate for _, rate in self.rates())

    def most_mbps(self) -> float | None:
        """Return the path's maximum capacity during the run, in Mbit/s; None if it is unlimited."""
        return None if self.is_unlimited() else max(rate for _, rate in self.rates())

    def carried_bytes(self, begin_ns, end_ns) -> float | None:
        """Return the number of bytes that the path can carry between two times; None if the capacity is unlimited.

        The limits of the policer and of the link apply separately to the entire period, because packets that pass the policer while the
        link is slow may wait in front of the link.
        """
        return self._carried_bytes([(begin_ns, end_ns)])

    def _carried_bytes(self, spans):
        if self.is_unlimited():
            return None
        link, limits = self._link_rates[self.direction], []
        if link[0][1] is not None:
            limits.append(sum(integral(link, *span) for span in spans))
        if self.policed_mbps is not None:
            limits.append(self.policed_mbps * sum(end - begin for begin, end in spans))
        return min(limits) / 8e3

    def mean_mbps(self, begin_ns, end_ns) -> float | None:
        """Return the path's mean capacity between two times, in Mbit/s; None if it is unlimited."""
        carried = self.carried_bytes(begin_ns, end_ns)
        return None if carried is None else carried * 8e3 / (end_ns - begin_ns)

    def delay_ms(self, at_ns, pair=None) -> float:
        """Return the one-way delay in ms, without queueing, of data that leave the bottleneck at a given time.

        ``pair`` is a `Pair` of hosts; the default is the run's first pair.
        """
        return self._delay_ms(self.direction, at_ns, pair or self._run.pairs[0])

    def _delay_ms(self, direction, at_ns, pair):
        run = self._run
        if run.is_chain:
            return pair.rtt_ms / 2
        return run.timeline.value_at(direction, "delay_ms", at_ns) + self._constant_ms(pair)

    def _constant_ms(self, pair):
        """Return the constant part of a pair's one-way delay in ms: the delays of the hosts' own links and of the shortest path."""
        return 2 * pair.access_delay_ms + min(self._run.multipath.path_delay_ms)

    def waited_ns(self, sent_ns, arrived_ns, pair=None) -> int:
        """Return how long a packet waited before it left the bottleneck, in ns, given the times at which it was sent and arrived.

        If the path's delay decreased in the meantime, two waiting times are possible; the shorter one is returned.
        """
        constant_ns = round(self._constant_ms(pair or self._run.pairs[0]) * 1e6)
        for begin, end, delay_ms in _spans(self._run.timeline.values(self.direction, "delay_ms")):
            left_ns = arrived_ns - constant_ns - round(delay_ms * 1e6)
            if max(begin, sent_ns) <= left_ns < end:
                return left_ns - sent_ns
        return 0

    def rtt_ms(self, at_ns, pair=None) -> float:
        """Return a pair's RTT in ms, without queueing, for a packet that leaves the bottleneck at a given time."""
        pair = pair or self._run.pairs[0]
        there_ms = self._delay_ms(self.direction, at_ns, pair)
        return there_ms + self._delay_ms(self._back, at_ns + round(there_ms * 1e6), pair)

    def shortest_rtt_ms(self, pair=None) -> float:
        """Return a pair's minimum RTT in ms during the run, without queueing and jitter."""
        run, pair = self._run, pair or self._run.pairs[0]
        if run.is_chain:
            return pair.rtt_ms
        return sum(run.timeline.least(way, "delay_ms") + self._constant_ms(pair) for way in DIRECTIONS)

    def departures(self, begin_ns, end_ns, pair=None) -> list[tuple[int, int]]:
        """Return when packets whose delivery becomes known between two times leave the bottleneck, as spans (begin, end) in ns.

        A TCP sender learns of a packet's delivery one base RTT after the packet left the bottleneck. While the reverse path passes no
        acknowledgements, no deliveries become known to the sender; afterwards they all become known at once. A UDP receiver learns of a
        packet after the one-way delay.
        """
        pair, spans = pair or self._run.pairs[0], []
        for begin, end, takes_ns, known_ns in self._ways(pair):
            if known_ns is None:
                begin, end = max(begin, begin_ns - takes_ns), min(end, end_ns - takes_ns)
            elif not begin_ns < known_ns <= end_ns:
                continue
            if begin < end:
                spans.append((begin, end))
        return spans

    def _ways(self, pair) -> Iterator[tuple[int, int, int, int | None]]:
        """Yield (begin, end, delay, time) in ns for each span of departures from the bottleneck.

        If the time is None, each delivery becomes known after the delay. Otherwise the delay is 0, and all deliveries become known at
        this time.
        """
        run = self._run
        if run.is_chain:
            yield -EVER_NS, EVER_NS, round(pair.rtt_ms * 1e6), None
            return
        constant_ns = round(self._constant_ms(pair) * 1e6)
        for begin, end, delay_ms in _spans(run.timeline.values(self.direction, "delay_ms")):
            there_ns = round(delay_ms * 1e6) + constant_ns
            if run.udp:
                yield begin, end, there_ns, None
                continue
            first = max(0, bisect_right(self._ways_back, begin + there_ns, key=lambda way: way[0]) - 1)
            for back_begin, back_end, back_ns, open_ns in self._ways_back[first:]:
                if back_begin >= end + there_ns:
                    break
                part, back_ns = (
                    (max(begin, back_begin - there_ns), min(end, back_end - there_ns)),
                    back_ns + constant_ns,
                )
                yield (*part, there_ns + back_ns, None) if open_ns is None else (*part, 0, open_ns + back_ns)

    @cached_property
    def _ways_back(self):
        """Spans of the reverse path as (begin, end, delay, opening time), in ns.

        If packets pass during the span, the opening time is None. Otherwise packets pass again from the opening time on.
        """
        delays = self._run.timeline.values(self._back, "delay_ms")
        passes = _changes([(at_ns, rate != 0) for at_ns, rate in self._link_rates[self._back]])
        times = sorted({at_ns for at_ns, _ in (*delays, *passes)})
        is_open = [value_in_force(passes, at_ns) for at_ns in times]
        ways, opens_ns = [], EVER_NS
        for number in reversed(range(len(times))):
            begin, end = times[number] if number else -EVER_NS, (*times, EVER_NS)[number + 1]
            opens_ns = times[number] if is_open[number] else opens_ns
            delay_ns = round(value_in_force(delays, opens_ns) * 1e6)
            ways.append((begin, end, delay_ns, None if is_open[number] else opens_ns))
        return ways[::-1]

    @cached_property
    def _flows(self):
        """Numbers of the flows that send data in this direction."""
        return [flow for flow in range(self._run.flows) if self._run.flow_pair(flow).direction == self.direction]

    def known_bytes(self, begin_ns, end_ns, flows=None) -> float | None:
        """Return the maximum payload, in bytes, whose delivery over this path can become known between two times.

        ``flows`` defaults to all flows in this direction. If the flows' paths differ, the result applies to the path that allows the
        largest payload. None if the capacity is unlimited.
        """
        run = self._run
        if self.is_unlimited():
            return None
        if run.udp:
            carried = max(
                self._carried_bytes(self.departures(*window)) for window in self._windows_of_server(begin_ns, end_ns)
            )
        else:
            pairs = dict.fromkeys(run.flow_pair(flow) for flow in (self._flows if flows is None else flows))
            carried = max(
                self._carried_bytes(self.departures(begin_ns, end_ns, pair)) for pair in pairs or run.pairs[:1]
            )
        return carried * run.payload_bytes / run.packet_bytes

    def _windows_of_server(self, begin_ns, end_ns):
        """Yield the periods (begin, end) in which iperf3's server may count the packets of a UDP measurement.

        The server starts counting at most `SET_UP_RTTS` round trips later than the client.
        """
        latest_ns = round(SET_UP_RTTS * self._run.rtt_most_ms * 1e6)
        there_ns = round(self.delay_ms(begin_ns) * 1e6)
        # The number of bytes is a piecewise linear function of the shift. Its slope changes only where an end of the period coincides with
        # a rate change.
        meeting = (
            at_ns + there_ns - end for at_ns, _ in self._link_rates[self.direction] for end in (begin_ns, end_ns)
        )
        for shift in (0, latest_ns, *(shift for shift in meeting if 0 < shift < latest_ns)):
            yield begin_ns + shift, end_ns + shift

    def share_percent(self, delivered_bytes, begin_ns, end_ns, flows=None) -> float | None:
        """Return the delivered bytes as a percentage of the bytes that the path allows between two times.

        The result is None if the path is unlimited or passes nothing. If more bytes were delivered than the path allows, but at most
        `most_bytes`, the excess is explained by data that left the bottleneck earlier, and the result is 100 %. If more than `most_bytes`
        were delivered, which is an error, the result exceeds 100 %.
        """
        known = self.known_bytes(begin_ns, end_ns, flows)
        if not known:
            return None
        late = known < delivered_bytes <= self.most_bytes(begin_ns, end_ns, flows)
        return 100.0 if late else 100 * delivered_bytes / known


def _sum(of_each):
    """Add up several series of (start, value) pairs and return the sum as one such series."""
    times = sorted({at_ns for values in of_each for at_ns, _ in values})
    return _changes([(at_ns, math.fsum(value_in_force(one, at_ns) for one in of_each)) for at_ns in times])


def _changes(values):
    """Remove the (start, value) pairs that repeat the previous value."""
    return [values[0], *(after for before, after in pairwise(values) if after[1] != before[1])]


def _spans(values):
    """Yield (begin, end, value) for each (start, value) pair; the spans extend from -`EVER_NS` to `EVER_NS`."""
    begins = [-EVER_NS, *(at_ns for at_ns, _ in values[1:])]
    yield from zip(begins, [*begins[1:], EVER_NS], (value for _, value in values), strict=True)
