"""What the network lost while traffic flowed, by the kernel's counters: what may explain that a flow began late or got nothing."""


def packets_lost(document) -> int:
    """Return how many packets were dropped by all queues, delay lines and policers, or arrived damaged, while traffic flowed.

    A packet that a shaper's child qdisc drops counts at the shaper too; each interface counts once, by its largest counter.
    """
    links = document["links"]
    dropped = sum(
        max((drops_grown(links, name, kind) for kind in interface["qdiscs"]), default=0)
        for name, interface in links["after"].items()
    )
    return dropped + sum(damaged(counters) for counters in document["stack"]["tcp"].values())


def drops_grown(links, name, kind) -> int:
    """Return by how much the drops of an interface's qdisc grew."""
    before, after = (links[when][name]["qdiscs"].get(kind, {"drops": 0}) for when in ("before", "after"))
    return after["drops"] - before["drops"]


def damaged(counters) -> int:
    """Return how many packets a host refused because of their checksums, since there was a network."""
    return sum(count for name, count in counters.items() if name.endswith("InCsumErrors"))
