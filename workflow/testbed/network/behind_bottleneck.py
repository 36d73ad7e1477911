"""Link options behind the bottleneck: a netem on an ifb between the bottleneck and the path's delay and loss.

This netem delays, duplicates or damages packets, and never drops any. With ``reorder``, netem lets a share of packets pass at once and
delays the others, called late packets (netem_enqueue in net/sched/sch_netem.c). Packets that arrive during a late packet's additional delay
overtake the late packet. RFC 4737 then calls the late packet reordered: the additional delay is its late time, and the number of
overtaking packets is its reordering extent. The path's own netem, with delay and loss, is unchanged and comes afterwards.

The kernel counts the packets that arrive (at the interface's ingress), the packets that leave netem or wait in netem, and the packets
that pass netem at once (``requeues``).
"""

from experiment.link_options import ARRIVALS, correlations_at, options_at
from experiment.timeline import DIRECTIONS
from testbed.network.emulation import Netem

#: Direction -> the interface at which packets arrive behind the bottleneck, and the ifb that the packets then pass through.
PLACES = {"forward": ("r2-eth1", "r2-in1"), "reverse": ("r1-eth1", "r1-in1")}
#: Length of the ifb's own queue. If this queue were full, netem would reverse the order of packets that pass at once.
IFB_QUEUE_PACKETS = 10_000


def plan(specification) -> dict[str, Netem]:
    """Return the netem that implements the link options behind the bottleneck, by direction; empty without such options."""
    planned = {}
    for direction in DIRECTIONS:
        if options := options_at(specification.scenario["link"], ARRIVALS, direction):
            delay_ms = sum(option.delay_ms(value) for option, value in options.items())
            # Named after the first option that existed here, so that runs keep their random numbers.
            seed = specification.substream(f"netem-reordering-{direction}")
            correlations = correlations_at(specification.scenario["link"], ARRIVALS, direction)
            planned[direction] = Netem(delay_ms, 0, 0, seed, options=options, correlations=correlations)
    return planned


def grown(document, name, kind, *keys) -> int:
    """Return the total increase in the counters ``keys`` during the traffic, for the qdisc ``kind`` of the device ``name``."""
    before, after = (document["links"][when][name]["qdiscs"][kind] for when in ("before", "after"))
    return sum(after.get(key, 0) - before.get(key, 0) for key in keys)


def counts(document, direction) -> tuple[int, int, int] | None:
    """Return three packet counts of a direction's netem: packets that arrived, packets that left or are still queued, and late packets.

    The counts are the increases of the kernel's counters during the traffic. The result is None without such a netem. A late packet may be
    a duplicate.
    """
    arriving, device = PLACES[direction]
    if device not in document["network"]["set"].get("arrivals", {}):
        return None
    left = grown(document, device, "netem", "packets", "backlog_packets")
    return (
        grown(document, arriving, "ingress", "packets"),
        left,
        left - grown(document, device, "netem", "at_once_packets"),
    )


def duplicates(document, direction) -> int:
    """Return the number of packets that netem duplicated in a direction."""
    came, left, _ = counts(document, direction) or (0, 0, 0)
    return left - came
