"""Packets that come late or twice: a netem on an ifb that packets pass between the bottleneck and the path's delay and loss.

netem's ``reorder`` lets a share of packets pass at once and delays the others (netem_enqueue of net/sched/sch_netem.c); here
the others are the late ones. Each is overtaken by the packets that come in the time by which it is late: RFC 4737 then calls it
reordered, with that time as its late time and their number as its reordering extent. The path's own netem, with delay and loss,
stays as it is behind this one, in which nothing is dropped. The kernel counts what arrives (at the interface's ingress), what
leaves netem or waits there, and what passed it at once (``requeues``).
"""

from dataclasses import dataclass

from experiment.timeline import DIRECTIONS
from testbed.network.emulation import NETEM_LIMIT_PACKETS

#: Direction -> the interface at which packets arrive behind the bottleneck, and the ifb that they pass there.
PLACES = {"forward": ("r2-eth1", "r2-in1"), "reverse": ("r1-eth1", "r1-in1")}
#: The queue of the ifb itself: were it full, netem would put packets that pass at once one before the other.
IFB_QUEUE_PACKETS = 10_000


@dataclass(frozen=True)
class Disorder:
    """A netem that holds a share of the packets back for a time, and sends a share of them twice."""

    late_percent: float
    late_ms: float
    duplicate_percent: float
    seed: int

    def commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch``."""
        late = f" delay {self.late_ms:.6f}ms reorder {100 - self.late_percent:.7f}%" if self.late_percent else ""
        twice = f" duplicate {self.duplicate_percent:.7f}%" if self.duplicate_percent else ""
        made = f"netem limit {NETEM_LIMIT_PACKETS}{late}{twice} seed {self.seed}"
        return [f"qdisc replace dev {device} root handle 20: {made}"]

    def expected(self) -> dict[str, dict]:
        """Return what `links.Arrivals.read_back` must give."""
        late = {"at_once_percent": 100 - self.late_percent} if self.late_percent else {}
        twice = {"duplicate_percent": self.duplicate_percent} if self.duplicate_percent else {}
        rest = {"delay_ms": self.late_ms, "jitter_ms": 0, "loss_percent": 0}
        return {"netem": {**rest, "limit": NETEM_LIMIT_PACKETS, "seed": self.seed, **late, **twice}}


def plan(specification) -> dict[str, Disorder]:
    """Return direction -> what makes packets late or doubles them, where that is asked for."""
    planned = {}
    for direction in DIRECTIONS:
        late, twice = specification.late_percent(direction), specification.link.duplicate_percent[direction]
        late_ms = specification.link.reordering["late_ms"] if late else 0
        if late or twice:
            seed = specification.substream(f"netem-reordering-{direction}")
            planned[direction] = Disorder(late, late_ms, twice, seed)
    return planned


def counts(document, direction) -> tuple[int, int, int] | None:
    """Return how many packets came to the netem of a direction while traffic flowed, how many left it or wait in it, and how many of these are late.

    None where there is no such netem. A late packet may be a duplicate.
    """
    arriving, device = PLACES[direction]
    if device not in document["network"]["set"].get("arrivals", {}):
        return None

    def grown(name, kind, *keys):
        before, after = (document["links"][when][name]["qdiscs"][kind] for when in ("before", "after"))
        return sum(after.get(key, 0) - before.get(key, 0) for key in keys)

    left = grown(device, "netem", "packets", "backlog_packets")
    return grown(arriving, "ingress", "packets"), left, left - grown(device, "netem", "at_once_packets")


def duplicates(document, direction) -> int:
    """Return how many packets of a direction came twice."""
    came, left, _ = counts(document, direction) or (0, 0, 0)
    return left - came
