"""Checks of a chain of bottlenecks.

The checks for a single bottleneck are applied to each bottleneck. An additional check verifies that the arrivals at each queue equal the
sum of the departures, the drops and the packets still queued.
"""

from experiment.chain_names import DIRECTIONS, arrivals, attached, ends
from experiment.disciplines import OF_KIND
from testbed.checks.check import Check
from testbed.checks.flow_checks import check_goodput_ceiling, judge_goodput
from testbed.checks.loss_checks import check_loss_forward, check_loss_reverse, counts_of_netem, judge_loss
from testbed.checks.mark_checks import ce_packets, check_marks
from testbed.checks.network_checks import grown
from testbed.network.addresses import access_interface

#: Counter of packets that hosts send but routers don't forward: multicast listener reports and router solicitations.
MULTICAST = "Ip6OutMcastPkts"


def of_each(specification, name, judge) -> Check:
    """Return one `Check` that combines the checks of all bottlenecks.

    ``judge`` is a function that takes a bottleneck's number (from 1) and returns the `Check` of this bottleneck.
    """
    checks = [judge(number) for number in range(1, len(specification.bottlenecks) + 1)]
    expected, observed = (
        "; ".join(f"bottleneck {n}: {getattr(check, what)}" for n, check in enumerate(checks, 1))
        for what in ("expected", "observed")
    )
    return Check(name, all(check.ok for check in checks), expected, observed)


def check_goodput_ceilings(specification, document) -> Check:
    """At each bottleneck, the flows received no more than the bottleneck's capacity plus the data queued downstream."""

    def judge(number):
        here = specification.bottlenecks[number - 1]
        flows, behind = specification.flows_through(number), waiting_behind_bytes(specification, number)
        return judge_goodput(here, document, flows, behind)

    return of_each(specification, "goodput_ceiling", judge)


def waiting_behind_bytes(specification, number) -> float:
    """Return the maximum number of bytes that downstream queues can add to the data received from a bottleneck.

    ``number`` is the bottleneck's number, from 1.
    """
    here, *behind = specification.bottlenecks[number - 1 :]
    held = ((one.queue_bytes or one.queue_packets * one.packet_bytes, one.rate_mbps) for one in behind)
    return sum(count * min(1, here.rate_mbps / rate_mbps) for count, rate_mbps in held)


def check_losses(specification, document, direction) -> Check:
    """The share of packets lost at random after each bottleneck agrees with the configured loss; see `judge_loss`."""
    name, configured = f"loss_{direction}", specification.direction(direction).loss_percent / 100

    def judge(number):
        device = arrivals(number)[direction]
        if configured == 0 and device not in document["network"]["set"]["netem"][direction]:
            return Check(name, True, "0 %", "no netem that could drop packets")
        passed, dropped = counts_of_netem(document, device)
        return judge_loss(name, configured, dropped, passed + dropped)

    return of_each(specification, name, judge)


def check_losses_forward(specification, document) -> Check:
    """The loss in the direction of the data agrees with the configured loss; see `check_losses`."""
    return check_losses(specification, document, "forward")


def check_losses_reverse(specification, document) -> Check:
    """The loss in the direction of the acknowledgements agrees with the configured loss; see `check_losses`."""
    return check_losses(specification, document, "reverse")


def check_marks_of_each(specification, document) -> Check:
    """The packets that each bottleneck marked arrived with a mark, unless they were lost or are still queued downstream.

    No other packet carried a mark. A packet that several bottlenecks marked counts at each of these bottlenecks.
    """
    after, pairs = document["links"]["after"], specification.pairs
    wrong, observed = [], []
    for direction, side in zip(DIRECTIONS, ("receiver", "sender"), strict=True):
        arrived = [ce_packets(document, getattr(pair, side)) for pair in pairs]
        marks = [marks_at(after[ends(n)[direction]]) for n in range(1, len(specification.bottlenecks) + 1)]
        behind = [lost_behind(document, n, direction) for n in range(1, len(marks) + 1)]
        for number, marked in enumerate(marks, 1):
            # In the direction of the data, a packet continues to bottlenecks with higher numbers.
            further = behind[number - 1 :] if direction == "forward" else behind[:number]
            through = sum(
                a for a, p in zip(arrived, pairs, strict=True) if p.first_hop <= number < p.first_hop + p.hops
            )
            if through < marked - sum(further):
                wrong.append(f"{direction} {number}")
        if sum(arrived) > sum(marks) or (sum(marks) and specification.transport.ecn == "off"):
            wrong.append(direction)
        observed.append(
            f"{direction} {' + '.join(map(str, marks))} marked, {sum(arrived)} arrived, "
            f"at most {sum(behind)} lost, waiting or counted twice"
        )
    expected = (
        "no marks"
        if specification.transport.ecn == "off"
        else "marked packets arrived, unless they were lost or are still waiting"
    )
    return Check("marks", not wrong, expected, "; ".join(observed))


def marks_at(interface) -> int:
    """Return the number of packets that the queue of an interface has marked."""
    return sum(queue.get("marks", 0) for queue in interface["qdiscs"].values())


def lost_behind(document, number, direction) -> int:
    """Return an upper bound on the number of marks that a bottleneck counted but that didn't arrive at a host.

    The marked packets may have been dropped, may still be queued, or may have been counted twice.
    """
    after = document["links"]["after"]
    queues = after[ends(number)[direction]]["qdiscs"]
    unseen = max(queue["backlog_packets"] + queue["drops"] for queue in queues.values())
    unseen += sum(OF_KIND[kind].marked_twice(queue) for kind, queue in queues.items() if kind in OF_KIND)
    device = after.get(arrivals(number)[direction], {"qdiscs": {}})
    return unseen + sum(queue["backlog_packets"] + queue["drops"] for queue in device["qdiscs"].values())


def check_conservation(specification, document) -> Check:
    """Every packet that arrived at a queue during the traffic left the queue, was dropped there, or is still queued.

    Multicast packets from hosts may be missing, because routers don't forward them.
    """

    def judge(number):
        own = {direction: not_forwarded(specification, document, number, direction) for direction in DIRECTIONS}
        differences = {direction: unaccounted(specification, document, number, direction) for direction in DIRECTIONS}
        ok = all(abs(difference) <= own[direction] for direction, difference in differences.items())
        seen = ", ".join(f"{direction} {difference:+d}" for direction, difference in differences.items())
        return Check(
            "conservation",
            ok,
            f"no packet unaccounted for, except multicast from hosts (up to {own['forward']} forward, {own['reverse']} reverse)",
            seen,
        )

    return of_each(specification, "conservation", judge)


def unaccounted(specification, document, number, direction) -> int:
    """Return the number of packets that are unaccounted for at a bottleneck's queue.

    This is the number of arrivals during the traffic minus the number of departures, drops and packets still queued.
    """
    name = ends(number)[direction]
    qdiscs = {when: document["links"][when][name]["qdiscs"] for when in ("before", "after")}
    left = grown(document, name, "tx_packets")
    dropped = qdiscs["after"]["htb"]["drops"] - qdiscs["before"]["htb"]["drops"]
    waiting = qdiscs["after"]["htb"]["backlog_packets"] - qdiscs["before"]["htb"]["backlog_packets"]
    return came(specification, document, number, direction) - left - dropped - waiting


def came(specification, document, number, direction) -> int:
    """Return the number of packets that arrived at a bottleneck's queue during the traffic.

    Packets arrive from the previous bottleneck and from the router's hosts. Packets from the previous bottleneck to the router's hosts
    don't reach the queue, so they are subtracted.
    """
    router = name_of_router(number, direction)
    before = number - 1 if direction == "forward" else number + 1
    packets = sum(
        grown(document, f"{host}-eth0", "tx_packets") for host in senders_to(specification, number, direction)
    )
    if 1 <= before <= len(specification.bottlenecks):
        device, opposite = arrivals(before)[direction], {"forward": "reverse", "reverse": "forward"}[direction]
        arriving = ends(before)[opposite]
        is_there = device in document["links"]["after"]
        packets += grown(document, device, "tx_packets") if is_there else grown(document, arriving, "rx_packets")
    for pair in specification.pairs:
        its_router, _ = attached(pair)[1 - DIRECTIONS.index(direction)]
        if its_router == router:
            # Packets from the previous bottleneck to this host don't go to the next bottleneck.
            interface = access_interface(router, pair)
            packets -= grown(document, interface, "tx_packets") + queued(document, interface)
    return packets


def senders_to(specification, number, direction) -> list[str]:
    """Return the names of the hosts that are attached to a bottleneck's router and send packets to the bottleneck's queue.

    In the direction ``forward`` these hosts are senders, in ``reverse`` they are receivers.
    """
    router, side = name_of_router(number, direction), DIRECTIONS.index(direction)
    at_ends = (attached(pair)[side] for pair in specification.pairs)
    return [host for its_router, host in at_ends if its_router == router]


def not_forwarded(specification, document, number, direction) -> int:
    """Return an upper bound on the number of packets that the hosts from `senders_to` sent but that the router didn't forward."""
    return sum(document["stack"]["tcp"][host][MULTICAST] for host in senders_to(specification, number, direction))


def name_of_router(number, direction) -> str:
    """Return the name of the router that holds a bottleneck's queue for the given direction."""
    return ends(number)[direction].partition("-")[0]


def queued(document, name) -> int:
    """Return by how much the number of packets queued at the interface ``name`` increased during the traffic."""
    after, before = (document["links"][when][name]["qdiscs"] for when in ("after", "before"))
    return sum(queue["backlog_packets"] - before[kind]["backlog_packets"] for kind, queue in after.items())


#: Check of a single bottleneck -> check of all bottlenecks that replaces it on a chain.
CHAIN_INSTEAD = {
    check_goodput_ceiling: check_goodput_ceilings,
    check_loss_forward: check_losses_forward,
    check_loss_reverse: check_losses_reverse,
    check_marks: check_marks_of_each,
}
CHAIN = (check_conservation,)
