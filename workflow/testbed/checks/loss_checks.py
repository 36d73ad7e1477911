"""Checks of packet loss: at random, in bursts, on several paths, and at a rate that changes during the run."""

import math

from experiment.netem_correlation import packets_of_one
from testbed.checks.check import SENDER, Check
from testbed.checks.loss_burst_checks import judge_bursty_loss
from testbed.checks.loss_phases import check_phases, loss_phases

#: Maximum probability that a correct run fails a loss check.
LOSS_FALSE_ALARM = 1e-6


def check_loss(specification, document, direction) -> Check:
    """The share of packets that netem dropped agrees with the configured loss; see `judge_loss`."""
    name = f"loss_{direction}"
    if len(specification.timeline.values_with_first(direction, "loss_percent")) > 1:
        return check_phases(name, loss_phases(specification, document, direction), judge_loss)
    if specification.multipath.path_loss_percent is not None:
        return check_phases(name, losses_of_paths(specification, document, direction), judge_loss)
    configured, correlation = specification.loss_share(direction), specification.correlation("loss", direction)
    if configured == 0 and not document["network"]["set"]["netem"][direction]:
        return Check(name, True, "0 %", "no netem that could drop packets")
    offered, dropped = netem_counts(document, direction)
    if specification.link.netem_is_queue and dropped > configured * offered:
        # netem counts random losses and drops from a full queue in the same counter, and so does a shaper above netem
        # (`net_xmit_drop_count`).
        observed = f"{loss_words(dropped, offered)}, including drops because netem's queue was full"
        return Check(name, True, f"at least {100 * configured:g} %", observed)
    if model := specification.direction(direction).loss_model:
        return judge_bursty_loss(name, model, dropped, offered, LOSS_FALSE_ALARM)
    return judge_loss(name, configured, dropped, offered, packets_of_one(correlation))


def judge_loss(name, configured, dropped, offered, of_one=1) -> Check:
    """Return the `Check` that compares a share of packets lost at random with the configured share.

    The test uses the Chernoff-Hoeffding bound on the binomial tail (1963). With n packets, a configured share p and a dropped share q,
    n D(q||p) exceeds ln(2/a) with a probability of at most a, where D is the relative entropy. ``configured`` is a fraction. ``of_one`` is
    the number of packets that give as much information as one independent packet.
    """
    if offered == 0:
        return Check(name, False, f"{100 * configured:g} %", "no packet passed", SENDER)
    ok = offered / of_one * relative_entropy(dropped / offered, configured) <= math.log(2 / LOSS_FALSE_ALARM)
    return Check(name, ok, f"{100 * configured:g} %", loss_words(dropped, offered))


def loss_words(dropped, offered) -> str:
    """Return the number and share of lost packets as text."""
    return f"{dropped} of {offered} packets, {100 * dropped / offered:.4f} %"


def check_loss_forward(specification, document) -> Check:
    """The loss in the direction of the data agrees with the configured loss; see `check_loss`."""
    return check_loss(specification, document, "forward")


def check_loss_reverse(specification, document) -> Check:
    """The loss in the direction of the acknowledgements agrees with the configured loss; see `check_loss`."""
    return check_loss(specification, document, "reverse")


def netem_counts(document, direction) -> tuple[int, int]:
    """Return the number of packets offered to netem and the number that netem dropped, in one direction during the traffic.

    Both numbers are summed over all pairs, and exclude packets lost in an outage. Passed packets are counted by the device, because with
    segmentation offload a qdisc counts each segment of a super-packet that it passes, but counts a dropped super-packet only once.
    """
    counts = [counts_of_netem(document, name) for name in document["network"]["set"]["netem"][direction]]
    passed, dropped = (sum(count[place] for count in counts) for place in (0, 1))
    dropped -= outage_drops(document, direction)
    return passed + dropped, dropped


def losses_of_paths(specification, document, direction) -> list[tuple[float, int, int]]:
    """Return (loss in percent, packets offered, packets dropped at random) for each path of a cable with a netem in the direction."""
    outage, receiving = document.get("outage", {}), {"forward": "h2", "reverse": "h1"}[direction]
    found = []
    for path, run in enumerate(specification.bottlenecks):
        name = f"{receiving}-in{path}"
        if name not in document["network"]["set"]["netem"][direction]:
            continue
        passed, dropped = counts_of_netem(document, name)
        if outage.get("devices", {}).get(direction) == name:
            dropped -= outage["dropped"][direction]
        found.append((run.direction(direction).loss_percent, passed + dropped, dropped))
    return found


def outage_drops(document, direction) -> int:
    """Return the number of packets lost in a direction while a path was down (`outage`)."""
    return document.get("outage", {}).get("dropped", {}).get(direction, 0)


def counts_of_netem(document, name) -> tuple[int, int]:
    """Return the number of packets that a device's netem passed, and the number that it dropped, during the traffic."""
    before, after = (document["links"][when][name] for when in ("before", "after"))
    return after["tx_packets"] - before["tx_packets"], counter_of(document, name, "netem", "drops")


def counter_of(document, name, kind, counter) -> int:
    """Return by how much a counter of a device's qdisc increased during the traffic."""
    before, after = (document["links"][when][name]["qdiscs"][kind] for when in ("before", "after"))
    return after[counter] - before[counter]


def relative_entropy(q, p) -> float:
    """Return the relative entropy D(q||p) of two Bernoulli distributions in nats; it is infinite if q is impossible under p."""
    total = 0.0
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            if b <= 0:
                return math.inf
            total += a * math.log(a / b)
    return total
