"""A run's queues and policers: discipline and limits in each direction.

`RunQueues` is a base class of `specification.RunSpecification`.
"""

import math

from experiment.conditions import policers_of
from experiment.disciplines import discipline_of
from experiment.flow_groups import REVERSE
from experiment.qdisc import Discipline
from experiment.timeline import DIRECTIONS


class RunQueues:
    """Properties of the queues and policers in front of a run's bottlenecks."""

    @property
    def policers(self) -> dict[str, dict]:
        """The policers by direction; directions without a policer are omitted."""
        return policers_of(self.scenario["link"])

    @property
    def discipline(self) -> Discipline:
        """The discipline of the bottleneck's queue in the direction of the data; on a chain, at the narrowest bottleneck."""
        return discipline_of(self.narrowest.scenario["queue"] if self.is_chain else self.scenario["queue"])

    def queue_in(self, direction) -> dict:
        """Return the scenario's queue for a direction: size, discipline and parameters."""
        reverse = self.scenario.get("reverse_queue") if direction == REVERSE else None
        return reverse or self.scenario["queue"]

    @property
    def queues(self) -> list[dict]:
        """The queues of all bottlenecks; a bottleneck whose queues differ by direction contributes one queue per direction."""
        return [one.queue_in(way) for one in self.bottlenecks for way in one.ways_apart]

    @property
    def ways_apart(self) -> tuple[str, ...]:
        """Both directions if their queues differ; only ``forward`` if one queue definition applies to both."""
        return DIRECTIONS if self.scenario.get("reverse_queue") else DIRECTIONS[:1]

    @property
    def may_mark(self) -> bool:
        """Whether CE marks are checked: in TCP runs that use ECN or any queue other than drop-tail."""
        managed = any(not discipline_of(queue).limited_only for queue in self.queues)
        return not self.udp and (self.uses_ecn or managed)

    @property
    def queue_packets(self) -> int | None:
        """The forward queue's limit in full packets, or None if the limit is in bytes; on a chain, at the narrowest bottleneck."""
        return self.narrowest.queue_packets if self.is_chain else self.queue_packets_in("forward")

    def queue_packets_in(self, direction) -> int | None:
        """Return the limit of a direction's queue in full packets, or None if the limit is in bytes.

        A limit in BDPs is based on the direction's rate, and is rounded up to a whole number of this run's packets (`packet_bytes`). On a
        cable with several paths, the result is the largest of the paths' limits.
        """
        if self.is_cable and self.paths > 1:
            return max((one.queue_packets_in(direction) for one in self.bottlenecks), key=lambda limit: limit or 0)
        queue = self.queue_in(direction)
        if "packets" in queue:
            return queue["packets"]
        if "bdp" in queue:
            bdp_bytes = self.rate_in(direction) * 1e6 / 8 * self.rtt_path_ms / 1e3
            return max(1, math.ceil(queue["bdp"] * bdp_bytes / self.packet_bytes))
        return None

    @property
    def queue_bytes(self) -> int | None:
        """The forward queue's limit in bytes, or None if the limit is in packets; on a chain, at the narrowest bottleneck."""
        return self.narrowest.queue_bytes if self.is_chain else self.queue_bytes_in("forward")

    def queue_bytes_in(self, direction) -> int | None:
        """Return the limit of a direction's queue in bytes, or None if the limit is in packets."""
        return self.queue_in(direction).get("bytes")

    @property
    def queues_bytes(self) -> list[int]:
        """The limits of all `queues`, converted to bytes; a limit in packets counts as that number of full packets."""
        return [
            (one.queue_packets_in(way) or 0) * one.packet_bytes + (one.queue_bytes_in(way) or 0)
            for one in self.bottlenecks
            for way in one.ways_apart
        ]
