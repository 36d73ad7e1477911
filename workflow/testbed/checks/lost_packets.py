"""Number of packets that the network lost during the traffic, derived from the kernel's counters.

Losses may explain why a flow started late or delivered nothing.
"""


def packets_lost(document) -> int:
    """Return the number of packets lost during the traffic: dropped by a queue, netem or policer, or damaged on arrival.

    A shaper also counts the packets that its child qdisc drops, so only the largest drop counter of each interface is used. The number of
    damaged packets is counted from the time when the network was built.
    """
    links = document["links"]
    dropped = sum(
        max((drops_grown(links, name, kind) for kind in interface["qdiscs"]), default=0)
        for name, interface in links["after"].items()
    )
    return dropped + sum(damaged(counters) for counters in document["stack"]["tcp"].values())


def drops_grown(links, name, kind) -> int:
    """Return the number of packets that an interface's qdisc dropped during the traffic."""
    before, after = (links[when][name]["qdiscs"].get(kind, {"drops": 0}) for when in ("before", "after"))
    return after["drops"] - before["drops"]


def damaged(counters) -> int:
    """Return the number of packets with a wrong checksum that have arrived at a host since the network was built."""
    return sum(count for name, count in counters.items() if name.endswith("InCsumErrors"))
