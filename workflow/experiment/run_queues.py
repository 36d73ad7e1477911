"""A run's queues and policers: discipline and limits in each direction. Part of `specification.RunSpecification`."""

import math

from experiment.conditions import policers_of
from experiment.disciplines import discipline_of
from experiment.flow_groups import REVERSE
from experiment.qdisc import Discipline
from experiment.timeline import DIRECTIONS


class RunQueues:
    """The queues and policers in front of a run's bottlenecks."""

    @property
    def policers(self) -> dict[str, dict]:
        """The policers by direction; directions without a policer are omitted."""
        return policers_of(self.scenario["link"])

    @property
    def discipline(self) -> Discipline:
        """The discipline of the bottleneck's queue in the direction of the data; on a chain, at the narrowest bottleneck."""
        return discipline_of(self.narrowest.scenario["queue"] if self.is_chain else self.scenario["queue"])

    def queue_in(self, direction) -> dict:
        """Return the queue of a direction as in the scenario, with the discipline and its parameters."""
        reverse = self.scenario.get("reverse_queue") if direction == REVERSE else None
        return reverse or self.scenario["queue"]

    @property
    def queues(self) -> list[dict]:
        """The queues of all bottlenecks, one per direction if the directions' queues differ."""
        return [one.queue_in(way) for one in self.bottlenecks for way in one.ways_apart]

    @property
    def ways_apart(self) -> tuple[str, ...]:
        """The directions whose queues differ; only ``forward`` if both directions have the same queue."""
        return DIRECTIONS if self.scenario.get("reverse_queue") else DIRECTIONS[:1]

    @property
    def may_mark(self) -> bool:
        """Whether marks are checked: in TCP runs that use ECN or have any queue other than drop-tail."""
        managed = any(not discipline_of(queue).limited_only for queue in self.queues)
        return not self.udp and (self.uses_ecn or managed)

    @property
    def queue_packets(self) -> int | None:
        """The forward queue's limit in full packets, or None if it is in bytes; on a chain, at the narrowest bottleneck."""
        return self.narrowest.queue_packets if self.is_chain else self.queue_packets_in("forward")

    def queue_packets_in(self, direction) -> int | None:
        """Return the limit of a direction's queue in full packets, or None if it is in bytes.

        A limit in BDPs refers to the direction's rate, and is rounded up to whole packets of this run (`packet_bytes`). With several
        paths, the result is the largest of the paths' limits.
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
        """The forward queue's limit in bytes, or None if it is in packets; on a chain, at the narrowest bottleneck."""
        return self.narrowest.queue_bytes if self.is_chain else self.queue_bytes_in("forward")

    def queue_bytes_in(self, direction) -> int | None:
        """Return the limit of a direction's queue in bytes, or None if it is in packets."""
        return self.queue_in(direction).get("bytes")

    @property
    def queues_bytes(self) -> list[int]:
        """The limits of all `queues` in bytes; a limit in packets counts full packets."""
        return [
            (one.queue_packets_in(way) or 0) * one.packet_bytes + (one.queue_bytes_in(way) or 0)
            for one in self.bottlenecks
            for way in one.ways_apart
        ]
