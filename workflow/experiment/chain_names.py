"""Names of the nodes and devices of a chain (`chain`)."""

DIRECTIONS = ("forward", "reverse")


def routers(specification) -> list[str]:
    """Return the names of the routers, in the direction of the data."""
    return [f"r{number}" for number in range(1, len(specification.bottlenecks) + 2)]


def ends(number) -> dict[str, str]:
    """Return the interfaces that send over a bottleneck, by direction; ``number`` is the bottleneck's number, from 1."""
    return {"forward": f"r{number}-right", "reverse": f"r{number + 1}-left"}


def arrivals(number) -> dict[str, str]:
    """Return the ifb devices that packets pass through after a bottleneck, by direction."""
    return {"forward": f"r{number + 1}-in-left", "reverse": f"r{number}-in-right"}


def attached(pair) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the access links of a `Pair` as (router, host): first the sender's link, then the receiver's link."""
    return (f"r{pair.first_hop}", pair.sender), (f"r{pair.first_hop + pair.hops}", pair.receiver)
