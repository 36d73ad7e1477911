"""Checks of ECN: what the connections negotiated, which marks were set, and which marks arrived."""

from experiment.disciplines import OF_KIND
from testbed.checks.check import Check, words
from testbed.checks.flow_checks import readings
from testbed.network.transport import ECN

#: Counter of SYN and SYN-ACK packets that a host retransmitted.
REPEATED_SYN = "TcpExtTCPSynRetrans"


def check_ecn(specification, document) -> Check:
    """Every data connection negotiated the study's variant of ECN, according to the kernel at every reading.

    A connection may use no ECN or a weaker variant if its SYN or SYN-ACK was lost, because Linux doesn't request ECN when it retransmits a
    SYN (net.ipv4.tcp_ecn_fallback). There must not be more such connections than retransmitted SYN and SYN-ACK packets.
    """
    seen, wanted, otherwise = [], [], {}
    for socket in readings(document):
        pair = specification.flow_pair(socket["flow"])
        seen.append(socket["ecn"])
        wanted.append(specification.pair_ecn(pair))
        if seen[-1] != wanted[-1]:
            less = list(ECN).index(seen[-1]) < list(ECN).index(wanted[-1]) if seen[-1] in ECN else False
            otherwise.setdefault(pair, {})[socket["local_port"], socket["remote_port"]] = less
    tcp = document["stack"]["tcp"]
    fell_back = all(
        all(connections.values())
        and len(connections) <= sum(tcp[host][REPEATED_SYN] for host in (pair.sender, pair.receiver))
        for pair, connections in otherwise.items()
    )
    expected = words(wanted or [specification.transport.ecn])
    after_loss = (
        f", connections with weaker ECN after a lost SYN: {sum(map(len, otherwise.values()))}"
        if otherwise and fell_back
        else ""
    )
    return Check("ecn", bool(seen) and fell_back, expected, f"{words(seen)} ({len(seen)} readings){after_loss}")


def check_marks(specification, document) -> Check:
    """The packets that the bottleneck marked arrived with a mark, unless they were in transit or lost; no other packet carried a mark.

    Without ECN, no packet may be marked. Both directions are checked, because acknowledgements may be marked too.
    """
    wrong, observed = [], []
    for direction, end in (("forward", 1), ("reverse", 0)):
        marked, unseen = marks_and_unseen(document, direction)
        arrived = sum(ce_packets(document, pair.ends[end]) for pair in specification.pairs)
        # Duplicated packets may carry a mark.
        most = marked + (duplicates_of(document, direction) if specification.has_arrival_options else 0)
        if not marked - unseen <= arrived <= most or (marked and not specification.uses_ecn):
            wrong.append(direction)
        observed.append(
            f"{direction} {marked} marked, {arrived} arrived, at most {unseen} lost, waiting or counted twice"
        )
    expected = (
        "no marks"
        if not specification.uses_ecn
        else "marked packets arrived, unless they were lost or are still waiting"
    )
    return Check("marks", not wrong, expected, "; ".join(observed))


def duplicates_of(document, direction) -> int:
    """Return the number of duplicated packets in a direction (`behind_bottleneck.duplicates`)."""
    # Imported here because other runs don't need the module.
    from testbed.network.behind_bottleneck import duplicates

    return duplicates(document, direction)


def marks_and_unseen(document, direction) -> tuple[int, int]:
    """Return the number of marks counted by a direction's bottlenecks, and an upper bound on the number of those that didn't arrive."""
    placed, after = document["network"]["set"], document["links"]["after"]
    queues = [q for name in placed["bottleneck"][direction] for q in after[name]["qdiscs"].values()]
    towards = {"forward": "r2", "reverse": "r1"}[direction]
    late = [name for name, interface in placed.get("arrivals", {}).items() if interface == f"{towards}-eth1"]
    passed = [*placed["netem"][direction], *(name for name in late if name not in placed["netem"][direction])]
    behind = [q for name in passed for q in after[name]["qdiscs"].values()]
    waiting = max((q["backlog_packets"] for q in queues), default=0)
    # RED may mark a packet and then drop it because the queue is full; other disciplines may count a mark twice.
    waiting += sum(q.get("counted", {}).get("pdrop", 0) for q in queues)
    kinds = [item for name in placed["bottleneck"][direction] for item in after[name]["qdiscs"].items()]
    waiting += sum(OF_KIND[kind].marked_twice(queue) for kind, queue in kinds if kind in OF_KIND)
    return sum(q.get("marks", 0) for q in queues), waiting + sum(q["backlog_packets"] + q["drops"] for q in behind)


def ce_packets(document, host) -> int:
    """Return the number of packets with a CE mark that have arrived at a host since the network was built."""
    counters = document["stack"]["tcp"][host]
    return counters["IpExtInCEPkts"] + counters.get("Ip6InCEPkts", 0)
