"""Pairs of hosts: one sender and one receiver each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """A sender and a receiver: their names, the pair's index (from 0), and the RTT of their empty path.

    On a chain the pair's path has ``hops`` bottlenecks in series, starting with ``first_hop`` (counted from 1). On a dumbbell a
    pair's data may flow in the direction ``reverse``.
    """

    index: int
    sender: str
    receiver: str
    access_delay_ms: float
    rtt_ms: float
    first_hop: int = 1
    hops: int = 1
    direction: str = "forward"

    @property
    def ends(self) -> tuple[str, str]:
        """The hosts at the two ends of the path: first the host at router r1, then the host at router r2."""
        return (self.sender, self.receiver) if self.direction == "forward" else (self.receiver, self.sender)
