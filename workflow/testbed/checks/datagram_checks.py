"""The check of UDP flows: the kernels' counters must account for every datagram.

iperf3's server stops counting when its client has sent the last datagram. The server's counts therefore don't include datagrams that are
still queued at this time, or lost datagrams that no later datagram reveals. The hosts' kernels continue to count.
"""

from testbed.checks.check import Check, in_turn
from testbed.checks.lost_packets import packets_lost
from testbed.readings.deliveries import KERNEL_NAMES, datagrams_sent, packets_streamed

#: Maximum number of a flow's datagrams that don't count as data, without and with losses. They are the opening datagrams, which the client
#: repeats every second if packets are lost, and datagrams that arrive while the server stops counting.
BESIDE, REPEATED = 8, 300
#: Kernel counters of arrived datagrams: delivered to a socket, without a matching socket, or damaged. Their names are the same for both
#: IP versions.
ARRIVED = ("InDatagrams", "NoPorts", "InErrors")


def check_datagrams(specification, document) -> Check:
    """Every datagram was received, was counted as dropped by a kernel, or was in transit when iperf3's server stopped counting."""
    observed, all_sent, missing, wrong = [], 0, 0, False
    for process in document["traffic"]:
        sent = process["client"]["end"]["sum"]["packets"]
        server = process["server"]["end"]["sum"]
        received, lost = server["packets"] - server["lost_packets"], server["lost_packets"]
        wrong |= not 0 <= server["packets"] <= sent
        all_sent, missing = all_sent + sent, missing + sent - received
        observed.append(f"{sent} sent, {received} received, {lost} lost")
    left, arrived = by_the_kernel(specification, document)
    in_network, explained = left - arrived, packets_lost(document) + waiting(document)
    # When a flow ends, all packets in transit may belong to it.
    held, few = specification.flows * most_under_way(specification), BESIDE * specification.flows
    openings = REPEATED * specification.flows if explained else few
    wrong |= not 0 <= left - all_sent - packets_streamed(document) <= openings
    wrong |= not 0 <= in_network <= explained + few
    wrong |= not -openings <= missing - in_network <= held + few
    observed.append(
        f"by the kernels' counters, {in_network} did not arrive, and {explained} packets were dropped, damaged or still waiting"
    )
    expected = f"every datagram sent was received or lost, except those dropped or in transit at the end (up to {held} in transit)"
    return Check("datagrams", not wrong, expected, in_turn(observed))


def by_the_kernel(specification, document) -> tuple[int, int]:
    """Return the number of datagrams sent and the number received, as the hosts' kernels count them.

    Damaged datagrams count as received.
    """
    counters, version = document["stack"]["tcp"], KERNEL_NAMES[specification.ip_version]
    arrived = (counters[pair.receiver][version + name] for pair in specification.pairs for name in ARRIVED)
    return datagrams_sent(specification, document), sum(arrived)


def waiting(document) -> int:
    """Return the number of packets still held in queues and by netem at the end."""
    after = document["links"]["after"].values()
    return sum(max((q["backlog_packets"] for q in one["qdiscs"].values()), default=0) for one in after)


def most_under_way(specification) -> int:
    """Return the maximum number of datagrams that can be in transit, in the queues and on the path."""
    held = 0
    for one in specification.bottlenecks:
        held += one.queue_packets or (one.queue_bytes or 0) // specification.packet_bytes
    fastest_mbps = specification.capacity.most_mbps()
    if fastest_mbps is None:
        fastest_mbps = sum(flow.rate_mbps or 0 for flow in specification.long_flows)
    on_path_bytes = fastest_mbps * 1e6 / 8 * specification.rtt_most_ms / 1e3
    return held + round(on_path_bytes / specification.packet_bytes)
