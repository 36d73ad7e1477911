"""An outage of one path of an MPTCP connection: for some time during the run, all packets that arrive over the path are lost.

In both directions, arriving packets pass through a netem, which drops all of them during the outage. No interface goes down. As when a
distant part of a path fails, the hosts aren't notified, and addresses, routes and neighbours remain. Packets that were already queued in
netem still arrive. Changing netem restarts its random number generator; after the outage netem is given a different seed, so that losses
don't repeat.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from testbed.checks.check import Check
from testbed.checks.read_back_checks import same
from testbed.network.commands import batch, batch_json
from testbed.network.devices import devices_of
from testbed.network.emulation import parse_qdiscs
from testbed.readings.queue_information import counters_of

#: Maximum delay of a change under a real clock, in s.
REAL_LATE_S = 0.1


class Outage:
    """Takes a path down and brings it up again while traffic flows.

    ``result`` is the section ``outage`` of the run document; None if no outage is configured or none took place.
    """

    def __init__(self, path, specification):
        self._path, self._specification, self._asked = path, specification, specification.multipath.outage
        self.result = None

    def events(self, origin_ns) -> Iterator[tuple[float, int, Callable]]:
        """Yield events for `traffic.start_and_sample` as (time in s since the origin, kind, function to call).

        The kind -1 puts these events before others at the same time.
        """
        if not self._asked:
            return

        def now_s(at_s):
            # Only a real clock is read, because reading a virtual clock would advance it.
            return at_s if self._specification.virtual_clock else (time.monotonic_ns() - origin_ns) / 1e9

        yield self._asked["at_s"], -1, lambda at_s: self._begin(now_s(at_s))
        yield self._asked["at_s"] + self._asked["for_s"], -1, lambda at_s: self._end(now_s(at_s))

    def _ends(self):
        """Return, by direction, the `Arrivals` that packets pass through when they arrive over the path."""
        number = self._asked["path"] - 1
        return {d: self._path.devices[f"{host}-in{number}"] for d, host in (("forward", "h2"), ("reverse", "h1"))}

    # Changes take some time. Lost packets are therefore counted from before the first change until after the second; packets that pass
    # are counted between the changes.

    def _begin(self, time_s):
        ends = self._ends()
        self._up = {direction: counted(end) for direction, end in ends.items()}
        self.result = {
            "path": self._asked["path"],
            "begin_s": time_s,
            "devices": {direction: end.name for direction, end in ends.items()},
            "down": {d: set_and_read(end, replace(end.emulation, loss_percent=100)) for d, end in ends.items()},
        }
        self._down = {direction: counted(end) for direction, end in ends.items()}

    def _end(self, time_s):
        ends = self._ends()
        let_in = {
            direction: sum(counted(end)[name] - self._down[direction][name] for name in ("packets", "backlog_packets"))
            for direction, end in ends.items()
        }
        up = {direction: set_and_read(end, self._afterwards(direction, end)) for direction, end in ends.items()}
        dropped = {direction: counted(end)["drops"] - self._up[direction]["drops"] for direction, end in ends.items()}
        self.result |= {"end_s": time_s, "dropped": dropped, "let_in": let_in, "up": up}

    def _afterwards(self, direction, end):
        return replace(end.emulation, seed=seed_after(self._specification, direction))


def seed_after(specification, direction) -> int:
    """Return the seed of a direction's netem after an outage."""
    return specification.substream(f"netem-{direction}-path-{specification.multipath.outage['path']}-after-outage")


def set_and_read(end, emulation) -> bool:
    """Change the netem of an `Arrivals`, and return whether the values read back from the kernel are as requested."""
    batch(end.node, "tc", emulation.commands(end.name))
    (qdiscs,) = batch_json(end.node, "tc", [f"qdisc show dev {end.name}"])
    wanted, read_back = emulation.expected()["netem"], parse_qdiscs(qdiscs, []).get("netem", {})
    return all(same(read_back.get(name), value) for name, value in wanted.items())


def counted(end) -> dict[str, int]:
    """Return the netem counters of an `Arrivals`."""
    index = devices_of(end.node)[end.name]["index"]
    return next(counts for of, kind, counts in counters_of(end.node) if (of, kind) == (index, "netem"))


def check_outage(specification, document) -> Check:
    """Check that the path was down at the requested time: arriving packets were dropped, none passed, and the path came up again."""
    asked, seen = specification.multipath.outage, document.get("outage", {})
    begin_s, end_s = asked["at_s"], asked["at_s"] + asked["for_s"]
    expected = f"path {asked['path']} down from {begin_s:g} to {end_s:g} s, all packets dropped"
    if "end_s" not in seen:
        return Check("outage", False, expected, "the path did not come up again" if seen else "no outage")
    late_s = 0.0 if specification.virtual_clock else REAL_LATE_S
    in_time = all(0 <= seen[when] - at <= late_s for when, at in (("begin_s", begin_s), ("end_s", end_s)))
    as_set = all((*seen["down"].values(), *seen["up"].values(), seen["path"] == asked["path"]))
    lost = seen["dropped"]["forward"] > 0 and not any(seen["let_in"].values())
    observed = (
        f"path {seen['path']} down from {seen['begin_s']:g} to {seen['end_s']:g} s, packets dropped: {seen['dropped']['forward']} "
        f"forward and {seen['dropped']['reverse']} reverse, packets passed: {sum(seen['let_in'].values())}"
    )
    return Check("outage", in_time and as_set and lost, expected, observed)
