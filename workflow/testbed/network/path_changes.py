"""Changes to a link's rate, delay and loss during the traffic, as planned by `timeline`.

Each change is read back at once. This process makes the changes through netlink, as `sampling` makes its readings. No process is started
for a change, and the guest's clock stands still during a change, except for one reading of the clock. To change a rate, the bottleneck's
class is changed (as by `tc class change`), and packets stay in the queue. To change a delay or loss, netem is changed (as by `tc qdisc
change`); packets in transit stay in netem, and its sequence of random numbers continues.

Kernel formats: struct tc_htb_opt, tc_netem_qopt, TCA_HTB_* and TCA_NETEM_* of include/uapi/linux/pkt_sched.h.
"""

import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise

from experiment.late_deliveries import REAL_TIMER_S
from experiment.loss_models import CERTAIN
from experiment.shaper_units import TICK_NS
from experiment.timeline import DIRECTIONS
from testbed.network.devices import devices_of
from testbed.network.netlink import NETLINK_ROUTE, Channel, attribute, attributes
from testbed.readings.queue_information import MESSAGE, RTM_GETQDISC, TCA_KIND, counters, queue

RTM_NEWQDISC, RTM_NEWTCLASS, RTM_GETTCLASS = 36, 40, 42
TCA_OPTIONS, TCA_HTB_PARMS, TCA_NETEM_LATENCY64, TCA_NETEM_JITTER64 = 2, 1, 10, 11
TC_H_ROOT = 0xFFFFFFFF
#: Handles that `emulation` assigns: htb, htb's class, and netem.
HTB, HTB_CLASS, NETEM = 0x10000, 0x10001, 0x200000
#: struct tc_htb_opt: two struct tc_ratespec (cell_log, linklayer, overhead, cell_align, mpu, rate), buffer, cbuffer, quantum, level, prio.
HTB_OPTIONS = struct.Struct("=2B2hHI 2B2hHI 5I")
RATE, CEIL, BUFFER, CBUFFER = 5, 11, 12, 13
#: struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter.
NETEM_OPTIONS, NANOSECONDS = struct.Struct("=6I"), struct.Struct("=q")
#: Index of the loss in NETEM_OPTIONS.
LOSS = 2
#: Minimum number of queued packets with which a rate can be verified.
LEAST_WAITING = 8


class PathChanges:
    """Changes to a run's path according to the timeline; a context manager that must be entered before the traffic starts.

    ``result`` is a list with one dict for each change that took place. The keys of each dict are:

    - the request: ``at_ns`` since the traffic's origin, ``direction``, ``quantity``, ``value`` and ``kind``;
    - ``realised_ns``, the time at which the change was complete;
    - ``devices``: by device, the kernel's ``value`` after the change and the counters ``packets`` and ``bytes`` (sent), ``drops`` and
      ``backlog_packets``.
    """

    def __init__(self, path, specification):
        self._path, self._specification, self.result = path, specification, []
        self._channels, self._index = {}, {}

    def __enter__(self):
        with ExitStack() as stack:
            places = self._path.bottleneck, self._path.netem
            nodes = {device.node for place in places for devices in place.values() for device in devices}
            for node in sorted(nodes if self._specification.timeline else (), key=lambda node: node.name):
                self._channels[node.name] = stack.enter_context(Channel(node, NETLINK_ROUTE))
                self._index |= {name: known["index"] for name, known in devices_of(node).items() if name != "lo"}
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._open.close()

    def events(self, origin_ns) -> Iterator[tuple[float, int, object]]:
        """Yield events for `traffic.start_and_sample` as (time in s since the origin, kind, function to call).

        The kind -1 puts these events before others at the same time.
        """
        changes = self._specification.timeline.changes
        for change in changes:
            yield change.at_ns / 1e9, -1, lambda _, change=change: self._carry_out(change, origin_ns)
        looks = delays_that_end(self._specification.timeline) if self._specification.virtual_clock else ()
        for number, at_ns in looks:
            yield at_ns / 1e9, -1, lambda _, number=number: self._look(number)

    def _look(self, number):
        """Record the number of packets that have reached netem, one delay before the change that follows change ``number``."""
        place = self._path.netem[self.result[number]["direction"]]
        counts = {device.name: self._count_of(device, NETEM) for device in place}
        for name, counted in counts.items():
            came = sum(counted[each] for each in ("packets", "backlog_packets"))
            self.result[number]["devices"][name]["came_packets"] = came

    def _look_again(self, number):
        """Record the bytes and drops at the bottleneck since rate change ``number``.

        This method is called when all packets that were queued at the change must have left.
        """
        for device in self._path.bottleneck[self.result[number]["direction"]]:
            entry, now = self.result[number]["devices"][device.name], self._count_of(device, HTB)
            entry["left_bytes"] = now["bytes"] - entry["bytes"]
            entry["dropped_packets"] = now["drops"] - entry["drops"]

    def _count_of(self, device, handle):
        channel, index = self._channels[device.node.name], self._index[device.name]
        return self._counted(channel, index, handle, f"counts of {device.name}")

    def _carry_out(self, change, origin_ns):
        """Make one change on all devices of the change's direction, and record the result.

        Return the events for a later reading of counters: a tuple with one event, or an empty tuple.
        """
        place = self._path.bottleneck if change.quantity == "rate_mbps" else self._path.netem
        make = self._set_rate if change.quantity == "rate_mbps" else self._set_netem
        devices = {device.name: make(device, change) for device in place[change.direction]}
        self.result.append(
            {
                "at_ns": change.at_ns,
                "direction": change.direction,
                "quantity": change.quantity,
                "value": change.value,
                "kind": change.kind,
                "realised_ns": time.monotonic_ns() - origin_ns,
                "devices": devices,
            }
        )
        return self._next_look(change) if self._specification.virtual_clock and change.quantity == "rate_mbps" else ()

    def _next_look(self, change):
        """Return a tuple with the event at which all packets that were queued at a rate change must have left.

        The tuple is empty for a trace, if few packets are queued, or if the rate changes again before the packets have left.
        """
        number, entry = len(self.result) - 1, self.result[-1]
        waiting = max((device["backlog_packets"] for device in entry["devices"].values()), default=0)
        left_ns = change.at_ns + round(waiting * self._specification.packet_bytes * 8e3 / change.value)
        same_way = (change.direction, change.quantity)
        ends_ns = next(
            (
                c.at_ns
                for c in self._specification.timeline.changes
                if c.at_ns > change.at_ns and (c.direction, c.quantity) == same_way
            ),
            round(self._specification.traffic.duration_s * 1e9),
        )
        if waiting < LEAST_WAITING or change.kind == "trace" or left_ns >= ends_ns:
            return ()
        return ((left_ns / 1e9, -1, lambda _: self._look_again(number)),)

    def _set_rate(self, device, change):
        """Set a new rate at a device's bottleneck, and return the values read back from the kernel."""
        channel, index = self._channels[device.node.name], self._index[device.name]
        what = f"rate of {device.name}"
        options = list(self._class_options(channel, index, what))
        rate_bytes = round(change.value * 1e6 / 8)
        options[RATE] = options[CEIL] = rate_bytes
        options[BUFFER] = options[CBUFFER] = int(self._burst_bytes(change.value) * 1e9 / rate_bytes / TICK_NS)
        body = MESSAGE.pack(0, index, HTB_CLASS, HTB, 0) + attribute(TCA_KIND, b"htb\0")
        body += attribute(TCA_OPTIONS, attribute(TCA_HTB_PARMS, HTB_OPTIONS.pack(*options)))
        channel.change(RTM_NEWTCLASS, body, what)
        now = self._class_options(channel, index, what)
        if now[RATE] != now[CEIL]:
            return {"value": None}
        return {"value": now[RATE] * 8 / 1e6} | self._counted_by_shaper(channel, index, what)

    def _counted_by_shaper(self, channel, index, what):
        """Return the shaper's counters, and the number of queued bytes."""
        (waiting,) = channel.ask(RTM_GETQDISC, MESSAGE.pack(0, index, HTB, 0, 0), what, queue, dump=False)
        return self._counted(channel, index, HTB, what) | {"backlog_bytes": waiting["bytes"]}

    def _burst_bytes(self, rate_mbps):
        """Return the bytes that the shaper may send at once: one packet, or under a real clock at least the data of one millisecond."""
        real = 0 if self._specification.virtual_clock else round(rate_mbps * 1e6 / 8 * REAL_TIMER_S)
        return max(self._specification.largest_packet_bytes, real)

    def _class_options(self, channel, index, what):
        """Return the fields of struct tc_htb_opt for a device's class."""
        request = MESSAGE.pack(0, index, HTB_CLASS, HTB, 0)
        # A dump would also contain the classes of the queueing discipline, such as those of CAKE and FQ-CoDel.
        ((_, options),) = channel.ask(RTM_GETTCLASS, request, what, _htb_options, dump=False)
        return options

    def _set_netem(self, device, change):
        """Set a new delay or loss at a device's netem, and return the values read back from the kernel."""
        channel, index = self._channels[device.node.name], self._index[device.name]
        what, delays = f"{change.quantity} of {device.name}", change.quantity == "delay_ms"
        # Keep the delay added by the hosts' own links.
        further_ms = device.emulation.delay_ms - self._specification.link.delay_ms[change.direction]
        numbers, latency_ns, jitter_ns = self._netem_options(channel, index, what)
        if delays:
            latency_ns = round((change.value + further_ms) * 1e6)
        else:
            numbers[LOSS] = round(change.value / 100 * CERTAIN)
        body = MESSAGE.pack(0, index, NETEM, TC_H_ROOT, 0) + attribute(TCA_KIND, b"netem\0")
        times = attribute(TCA_NETEM_LATENCY64, NANOSECONDS.pack(latency_ns))
        times += attribute(TCA_NETEM_JITTER64, NANOSECONDS.pack(jitter_ns))
        channel.change(RTM_NEWQDISC, body + attribute(TCA_OPTIONS, NETEM_OPTIONS.pack(*numbers) + times), what)
        numbers, latency_ns, _ = self._netem_options(channel, index, what)
        value = latency_ns / 1e6 - further_ms if delays else numbers[LOSS] / CERTAIN * 100
        return {"value": value} | self._counted(channel, index, NETEM, what)

    def _netem_options(self, channel, index, what):
        """Return the fields of struct tc_netem_qopt for a device's netem, the latency in ns, and the jitter in ns."""
        request = MESSAGE.pack(0, index, NETEM, 0, 0)
        (options,) = channel.ask(RTM_GETQDISC, request, what, _netem_options, dump=False)
        return options

    def _counted(self, channel, index, handle, what):
        """Return a qdisc's counters."""
        ((_, _, counted),) = channel.ask(RTM_GETQDISC, MESSAGE.pack(0, index, handle, 0, 0), what, counters, dump=False)
        return {name: counted[name] for name in ("packets", "bytes", "drops", "backlog_packets")}


def delays_that_end(timeline) -> list[tuple[int, int]]:
    """Return (number, time in ns) for each delay change that is followed by another delay change in the same direction.

    The time is that of the next change, minus the delay set by this change. A change is omitted if it lasts at most twice as long as the
    longest delay so far, because packets with an earlier delay may then still be in transit.
    """
    numbers = {(c.direction, c.quantity, c.at_ns): number for number, c in enumerate(timeline.changes)}
    looks = []
    for direction in DIRECTIONS:
        values = timeline.values_with_first(direction, "delay_ms")
        for place, ((at_ns, delay_ms), (ends_ns, _)) in enumerate(pairwise(values[1:]), 1):
            longest_ns = round(1e6 * max(value for _, value in values[: place + 1]))
            if ends_ns - at_ns > 2 * longest_ns:
                looks.append((numbers[direction, "delay_ms", at_ns], ends_ns - round(delay_ms * 1e6)))
    return looks


def _htb_options(buffer, start, end):
    """Parse the struct tcmsg of a class, and return the class's handle and the fields of struct tc_htb_opt."""
    handle = MESSAGE.unpack_from(buffer, start)[2]
    at, until = attributes(buffer, *attributes(buffer, start + MESSAGE.size, end)[TCA_OPTIONS])[TCA_HTB_PARMS]
    if until - at < HTB_OPTIONS.size:
        raise ValueError(f"struct tc_htb_opt of {until - at} bytes, expected {HTB_OPTIONS.size}")
    return handle, HTB_OPTIONS.unpack_from(buffer, at)


def _netem_options(buffer, start, end):
    """Parse the struct tcmsg of netem, and return [fields of struct tc_netem_qopt, latency in ns, jitter in ns]."""
    at, until = attributes(buffer, start + MESSAGE.size, end)[TCA_OPTIONS]
    further = attributes(buffer, at + NETEM_OPTIONS.size, until)
    latency, jitter = (
        NANOSECONDS.unpack_from(buffer, further[kind][0])[0] for kind in (TCA_NETEM_LATENCY64, TCA_NETEM_JITTER64)
    )
    return [list(NETEM_OPTIONS.unpack_from(buffer, at)), latency, jitter]
