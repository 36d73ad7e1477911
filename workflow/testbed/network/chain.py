"""A chain (parking lot): routers with bottlenecks in series, long flows that cross all bottlenecks, and cross flows over each bottleneck.

With two bottlenecks, pair 1 (h1, h2) carries the long flows. Pair 2 (h3, h4) crosses the first bottleneck, and pair 3 (h5, h6) crosses
the second::

    h1   h3      h5
      \\ /        |
       r1 ====== r2 ====== r3
                 |        /  \\
                 h4      h6   h2

Components of the bottleneck between r1 and r2 (the other bottlenecks are the same; for the reasons see `topology`):

===========================  =====================================================================
r1-right (towards r2)        bottleneck for data: htb rate + its queue
r2-left (towards r1)         bottleneck for ACKs: the same
r2-in-left, r1-in-right      the link's delay, jitter, loss, serialisation delay: netem on an ifb that packets pass
                             through on arrival, so that no packet waits there instead of in the next queue
routers' other interfaces    delay of the hosts' own links: netem towards the hosts, if needed
===========================  =====================================================================

Senders are in 10.1/16 and receivers in 10.2/16 (as on a dumbbell), regardless of their position on the chain.
"""

from experiment.chain_names import DIRECTIONS, arrivals, attached, ends
from experiment.link_options import PATH, options_at
from testbed.network.addresses import access_interface
from testbed.network.emulation import Netem
from testbed.network.links import Arrivals


def plan_links(specification) -> list[tuple[str, str, tuple[str, str]]]:
    """Return the links in the form of `topology.plan_links`: first the links between routers, then the hosts' links."""
    numbers = range(1, len(specification.bottlenecks) + 1)
    links = [(f"r{number}", f"r{number + 1}", tuple(ends(number).values())) for number in numbers]
    return links + [
        (host, router, (f"{host}-eth0", access_interface(router, pair)))
        for pair in specification.pairs
        for router, host in attached(pair)
    ]


def plan_emulation(specification, bottlenecks) -> dict:
    """Return the emulation by interface: `Bottleneck` for links between routers, `Netem` for hosts' own links.

    ``bottlenecks`` are in the chain's order.
    """
    planned = {name: one for number, one in enumerate(bottlenecks, 1) for name in ends(number).values()}
    for pair in specification.pairs:
        # The receiver's router delays data, and the sender's router delays acknowledgements.
        for (router, _), direction in zip(attached(pair), ("reverse", "forward"), strict=True):
            if pair.access_delay_ms:
                seed = specification.substream(f"netem-{direction}-access-{pair.index + 1}")
                planned[access_interface(router, pair)] = Netem(2 * pair.access_delay_ms, 0, 0, seed)
    return planned


def plan_netem(specification, number, direction) -> Netem:
    """Return the netem behind bottleneck ``number`` (counted from 1) for a direction."""
    bottleneck = specification.bottlenecks[number - 1]
    effect = bottleneck.direction(direction)
    more = {}
    if specification.serialised:
        more = {"rate_mbps": bottleneck.rate_mbps, "overhead_bytes": specification.link.frame_overhead_bytes}
    seed = specification.substream(f"netem-{direction}-bottleneck-{number}")
    options = options_at(specification.scenario["link"], PATH, direction)
    return Netem(effect.delay_ms, effect.jitter_ms, effect.loss_percent, seed, options=options, **more)


def locate(specification, interfaces) -> tuple[dict[str, list], dict[str, list]]:
    """Return the result of `topology.locate` for a chain.

    The devices with netem are the ifbs behind the bottlenecks, in order; they don't include the hosts' own links.
    """
    bottleneck, netem = {direction: [] for direction in DIRECTIONS}, {direction: [] for direction in DIRECTIONS}
    for number in range(1, len(specification.bottlenecks) + 1):
        sending, passed = ends(number), arrivals(number)
        for direction, other in zip(DIRECTIONS, DIRECTIONS[::-1], strict=True):
            bottleneck[direction].append(interfaces[sending[direction]])
            effect = plan_netem(specification, number, direction)
            if effect.does_something:
                # Data arrive at the interface that sends acknowledgements.
                netem[direction].append(Arrivals(interfaces[sending[other]], passed[direction], effect))
    return bottleneck, netem


def as_set(specification, netem) -> list[dict]:
    """Return the interfaces, ifbs and flows of each bottleneck, for the section ``chain`` of the run document.

    ``netem`` maps a direction to the names of the existing ifbs.
    """
    return [
        {
            "bottleneck": number,
            **ends(number),
            "netem": {d: name if (name := arrivals(number)[d]) in netem[d] else None for d in DIRECTIONS},
            "flows": specification.flows_through(number),
        }
        for number in range(1, len(specification.bottlenecks) + 1)
    ]
