"""Pairs of hosts, a sender and a receiver each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """A sender and a receiver: their names, the index from 0, the RTT of their empty path, and the bottlenecks on it.

    The bottlenecks are ``hops`` in a row of a chain's from ``first_hop`` on, counted from 1.
    """

    index: int
    sender: str
    receiver: str
    access_delay_ms: float
    rtt_ms: float
    first_hop: int = 1
    hops: int = 1
