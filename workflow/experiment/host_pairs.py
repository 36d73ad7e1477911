"""Pairs of hosts: one sender and one receiver each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """A sender and a receiver: the pair's index (from 0), the hosts' names, the delay of their links, and the pair's base RTT.

    On a chain the pair's path crosses ``hops`` bottlenecks in series, starting with bottleneck ``first_hop`` (counted from 1). On a
    dumbbell, ``direction`` is the direction of the pair's data.
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
        """The hosts at the two ends of the path; on a dumbbell, first the host at router r1, then the host at router r2."""
        return (self.sender, self.receiver) if self.direction == "forward" else (self.receiver, self.sender)
