"""Packets lost by the network during the traffic, from the kernel's counters: they may explain a flow that started late or got nothing."""


def packets_lost(document) -> int:
    """Return the number of packets dropped by all queues, delay lines and policers, or damaged on arrival, during the traffic.

    A packet that a shaper's child qdisc drops counts at the shaper too; each interface counts once, by its largest counter.
    """
    links = document["links"]
    dropped = sum(
        max((drops_grown(links, name, kind) for kind in interface["qdiscs"]), default=0)
        for name, interface in links["after"].items()
    )
    return dropped + sum(damaged(counters) for counters in document["stack"]["tcp"].values())


def drops_grown(links, name, kind) -> int:
    """Return the increase in the drops of an interface's qdisc during the traffic."""
    before, after = (links[when][name]["qdiscs"].get(kind, {"drops": 0}) for when in ("before", "after"))
    return after["drops"] - before["drops"]


def damaged(counters) -> int:
    """Return the number of packets that a host rejected because of their checksums, since the network was built."""
    return sum(count for name, count in counters.items() if name.endswith("InCsumErrors"))
