"""Changes to a path over time: individual changes at given times, derived from a scenario's `link.timeline` and `link.trace`.

Times count from the traffic's origin, which is the earliest time at which a flow may start. A step is a single change, and a ramp is a
series of changes at intervals of `step_ms`. While a link is down, all packets sent over it are lost, as on a cut cable or a blocked line of
sight. The interface doesn't notice this and keeps sending, so the queue keeps draining at the link's rate, and packets already in transit
arrive. (A link that holds packets back instead, like a radio link during a handover, is modelled by a rate close to zero.) If the delay
decreases, later packets overtake those in transit, as after a route change; if the delay increases, packets in transit still arrive at
their original time. A packet that a shaper is already sending keeps the old rate; the rates that implement a trace take this into account,
so that none of the trace's capacity is lost (`traces`).

`path_changes` makes the changes, and `timeline_checks` checks them. This module uses only the standard library, because the analysis uses
it too.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise, takewhile

from experiment.packet_sizes import PACKET_BYTES
from experiment.shaper_units import rate_bps
from experiment.traces import shaper_gaps, stretches

DIRECTIONS = ("forward", "reverse")
#: The quantities that may change during a run.
QUANTITIES = ("rate_mbps", "delay_ms", "loss_percent")
LOST_ALL = 100
#: Keys of a link whose values are traces.
TRACES = ("trace", "reverse_trace")


@dataclass(frozen=True)
class Change:
    """A change to one quantity in one direction; ``kind`` is `step`, `ramp`, `down`, `up` or `trace`.

    For a trace, ``value`` is the shaper's rate, whereas `Timeline.values` returns the trace's capacity.
    """

    at_ns: int
    direction: str
    quantity: str
    value: float
    kind: str


class Timeline:
    """All changes to a link, in chronological order (``changes``).

    Parameters
    ----------
    link : dict
        The link of a resolved scenario: at least ``rate_mbps``, ``delay_ms`` and ``loss_percent``; other keys may be missing.
    duration_s : float
        Duration in seconds for which a trace is repeated.
    packet_bytes : int
        Size of a full packet as the bottleneck counts it; a trace passes a whole number of such packets.
    """

    def __init__(self, link, duration_s, packet_bytes=PACKET_BYTES):
        self._start = {
            (way, name): rate_of(link, way) if name == "rate_mbps" else link[name][way]
            for way in DIRECTIONS
            for name in QUANTITIES
        }
        changes, self._offered = [], {}
        for trace in traces_of(link):
            made = list(_of_trace(trace, duration_s, packet_bytes))
            self._offered |= dict.fromkeys(directions_of(trace), _capacity(trace, made, duration_s))
            changes += made
        in_force = dict(self._start)
        for entry in sorted(link.get("timeline", ()), key=lambda entry: entry["at_s"]):
            for way in directions_of(entry):
                for change in _of_entry(entry, way, in_force):
                    changes.append(change)
                    in_force[way, change.quantity] = change.value
        self.changes = tuple(sorted(changes, key=lambda c: (c.at_ns, DIRECTIONS.index(c.direction), c.quantity)))

    def __bool__(self):
        return bool(self.changes)

    def changes_netem(self, direction) -> bool:
        """Return whether the delay or loss in a direction ever changes."""
        return any(c.direction == direction and c.quantity != "rate_mbps" for c in self.changes)

    def values(self, direction, quantity) -> list[tuple[int, float]]:
        """Return the values of a quantity during the traffic as (start in ns, value) pairs; the first start is 0.

        The value before the traffic is omitted if the first change is at 0. A rate is the capacity that the link offers. With a trace, this
        is the capacity of each step, which may be 0.
        """
        values = self.values_with_first(direction, quantity)
        if quantity == "rate_mbps" and direction in self._offered:
            values = [values[0], *self._offered[direction]]
        return [*(one for one, following in pairwise(values) if one[0] < following[0]), values[-1]]

    def values_with_first(self, direction, quantity) -> list[tuple[int, float]]:
        """Return the link's value before the traffic and the value of each change, as (start in ns, value) pairs."""
        changes = [c for c in self.changes if (c.direction, c.quantity) == (direction, quantity)]
        return [(0, self._start[direction, quantity]), *((c.at_ns, c.value) for c in changes)]

    def value_at(self, direction, quantity, at_ns) -> float | None:
        """Return a quantity's value at a given time in ns; None for an unlimited rate."""
        return value_in_force(self.values(direction, quantity), at_ns)

    def least(self, direction, quantity) -> float | None:
        """Return a quantity's minimum during the run, or None for an unlimited rate."""
        return _pick(min, self.values(direction, quantity))

    def most(self, direction, quantity) -> float | None:
        """Return a quantity's maximum during the run, or None for an unlimited rate."""
        return _pick(max, self.values(direction, quantity))

    def mean_rate_mbps(self, begin_ns, end_ns, direction="forward") -> float:
        """Return the mean rate between two times in Mbit/s: the integral of the rate divided by the elapsed time.

        Examples
        --------
        >>> entry = {"at_s": 1, "direction": "both", "rate_mbps": 10, "over_s": 0, "step_ms": 100}
        >>> link = {"rate_mbps": 1, "delay_ms": {"forward": 1, "reverse": 1}, "loss_percent": {"forward": 0, "reverse": 0}}
        >>> Timeline(link | {"timeline": [entry]}, 4).mean_rate_mbps(0, 3_000_000_000)
        7.0
        """
        return integral(self.values(direction, "rate_mbps"), begin_ns, end_ns) / (end_ns - begin_ns)


def rate_of(link, direction) -> float | None:
    """Return a link's rate in a direction before the first change, in Mbit/s; None if it is unlimited."""
    return link.get("reverse_rate_mbps") or link["rate_mbps"] if direction == "reverse" else link["rate_mbps"]


def traces_of(link) -> list[dict]:
    """Return the traces of a link: an empty list, one trace, or one trace per direction."""
    return [link[key] for key in TRACES if link.get(key)]


def directions_of(entry) -> tuple[str, ...]:
    """Return the directions to which a timeline entry or a trace applies."""
    return DIRECTIONS if entry["direction"] == "both" else (entry["direction"],)


def value_in_force(values, at_ns) -> float | None:
    """Return the value that applies at a given time, from (start in ns, value) pairs; the first one also applies before its start."""
    return values[max(0, bisect_right(values, at_ns, key=_time) - 1)][1]


def integral(values, begin_ns, end_ns) -> float:
    """Return the integral of a step function between two times; the function is given as (start in ns, value) pairs.

    The first value also applies before its start.
    """
    first = max(0, bisect_right(values, begin_ns, key=_time) - 1)
    following = values[first + 1 : bisect_left(values, end_ns, lo=first + 1, key=_time)]
    edges_ns = [begin_ns, *(at_ns for at_ns, _ in following), end_ns]
    in_force = [values[first][1], *(value for _, value in following)]
    return sum(value * (until - since) for value, (since, until) in zip(in_force, pairwise(edges_ns), strict=True))


def _time(item):
    return item[0]


def _pick(pick, values):
    return None if values[0][1] is None else pick(value for _, value in values)


def _of_entry(entry, way, in_force):
    """Yield the changes that a timeline entry makes in a direction; ``in_force`` holds the values before the entry."""
    at_ns = _ns(entry["at_s"])
    for name in QUANTITIES:
        if entry.get(name) is None:
            continue
        if not entry["over_s"]:
            yield Change(at_ns, way, name, _exact(name, entry[name]), "step")
            continue
        begin, over_ns, step_ns = in_force[way, name], _ns(entry["over_s"]), round(entry["step_ms"] * 1e6)
        count = math.ceil(over_ns / step_ns)
        for number in range(1, count + 1):
            passed_ns = min(number * step_ns, over_ns)
            value = _exact(name, begin + (entry[name] - begin) * passed_ns / over_ns)
            yield Change(at_ns + passed_ns, way, name, value, "ramp")
    if entry.get("down_for_s"):
        loss = in_force[way, "loss_percent"]
        yield Change(at_ns, way, "loss_percent", LOST_ALL, "down")
        yield Change(at_ns + _ns(entry["down_for_s"]), way, "loss_percent", loss, "up")


def _of_trace(trace, duration_s, packet_bytes):
    """Yield the changes that implement a trace, repeated until the end of the traffic; consecutive equal rates are merged."""
    before = None
    for at_ns, gap_ns in shaper_gaps(trace, _ns(duration_s), packet_bytes):
        rate = _exact("rate_mbps", packet_bytes * 8e3 / gap_ns)
        if rate != before:
            for way in directions_of(trace):
                yield Change(at_ns, way, "rate_mbps", rate, "trace")
        before = rate


def _capacity(trace, changes, duration_s):
    """Return a trace's capacity as (start in ns, Mbit/s) pairs; after the traffic, the capacity is the last rate that was set."""
    offered = takewhile(lambda one: one[0] < _ns(duration_s), stretches(trace))
    return (*((begin, rate) for begin, _, rate in offered), (_ns(duration_s), changes[-1].value))


def _ns(seconds):
    return round(seconds * 1e9)


def _exact(name, value):
    """Round a value as the kernel stores it: a rate to whole bytes per second, a delay to whole nanoseconds."""
    if name == "rate_mbps":
        value = rate_bps(value) / 1e6
    value = round(value, 6)
    return int(value) if float(value).is_integer() else value
