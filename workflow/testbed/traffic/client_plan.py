"""The plan of a run's clients: their flows, random start times that depend only on the seed, socket readings and time limits."""

import random
from dataclasses import dataclass
from types import ModuleType

from testbed.traffic import file_transfer, iperf3, round_trip

#: Value of a study's `traffic.application` -> module of the application.
APPLICATIONS = {"iperf3": iperf3, "round-trip": round_trip, "ftp": file_transfer}
#: Time in s that a client may take in addition to its duration, with a real and with a virtual clock. If a path loses a client's first
#: packets, they are retransmitted at increasing intervals; a virtual clock skips these intervals.
GRACE_S, VIRTUAL_GRACE_S = 120.0, 21_600.0
#: Maximum ratio of a transfer's duration to the shortest possible duration over the link.
SLOWEST = 30
#: Times of the socket readings, as fractions of the period in which all flows run.
SOCKET_LOOKS = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Client:
    """One client: flows, port of the server, and start time in s since the traffic's origin."""

    flows: tuple
    port: int
    start_offset_s: float


def application_of(specification) -> ModuleType:
    """Return the module of a run's application."""
    return APPLICATIONS[specification.traffic.application]


def plan_clients(specification) -> list[Client]:
    """Return the clients of a run.

    Start times are drawn uniformly within the study's ``start_within_ms`` (by default the longest base RTT). As a result, replications of a
    cell differ even without loss, and flows are not synchronised.
    """
    draw = random.Random(specification.substream("flow-starts"))
    first_port = application_of(specification).FIRST_PORT
    within_s = start_within_s(specification)
    if specification.traffic.processes == "single":
        return [Client(tuple(range(specification.flows)), first_port, draw.uniform(0, within_s))]
    starts_s = [draw.uniform(0, within_s) for _ in specification.long_flows]
    if specification.program_flows:
        # Imported here because other runs don't need it.
        from experiment.programs import starts_drawn

        starts_s, _ = starts_drawn(specification)
    return [
        Client((flow.number,), first_port + flow.number, flow.start_s + start_s)
        for flow, start_s in zip(specification.long_flows, starts_s, strict=True)
    ]


def start_within_s(specification) -> float:
    """Return the length in s of the period in which a client starts, counted from the traffic's origin or the start of its group."""
    within_ms = specification.traffic.start_within_ms
    return (specification.rtt_longest_ms if within_ms is None else within_ms) / 1e3


def look_times_s(clients, specification) -> list[float]:
    """Return the times of socket readings, in s since the traffic's origin.

    For each combination of start and stop times, there are separate readings, at which all flows with these times are running.
    """
    times = []
    for start_s, stop_s in dict.fromkeys((flow.start_s, flow.stop_s) for flow in specification.long_flows):
        begin = start_s + start_within_s(specification)
        common = stop_s - begin
        times += [begin + set_up_s(clients, specification) + fraction * common for fraction in SOCKET_LOOKS]
    return sorted(set(times))


def flows_sending(clients, specification, time_s) -> tuple[set[int], set[int]]:
    """Return the flows that must be sending, and the flows that may be sending, at a socket reading."""
    if not specification.groups:
        return (everyone := set(range(specification.flows))), everyone
    due, possible, latest_s = set(), set(), start_within_s(specification) + set_up_s(clients, specification)
    for flow in specification.long_flows:
        if flow.start_s + latest_s < time_s < flow.stop_s:
            due.add(flow.number)
        # A connection ends when its last packets have arrived, which may take a long time.
        if flow.start_s <= time_s:
            possible.add(flow.number)
    return due, possible


def set_up_s(clients, specification) -> float:
    """Return the time in s that a client takes until data flow, if no packets are lost.

    iperf3's control connection and parameters take three round trips, or no time if they don't use the path. Then the streams of a client
    connect sequentially. The commands that request a file from an FTP server take at least as long.
    """
    return specification.rtt_longest_ms / 1e3 * set_up_rtts(clients, specification)


def set_up_rtts(clients, specification) -> int:
    """Return `set_up_s` in round trips."""
    alone = specification.control_network or specification.per_side
    return (0 if alone else 3) + max((len(client.flows) for client in clients), default=0)


def time_limit_s(specification) -> float:
    """Return the time limit in s for a client.

    A transfer of a given amount of data may take far longer than at the link's rate.
    """
    by_time = specification.expected_s == specification.traffic.duration_s
    grace_s = VIRTUAL_GRACE_S if specification.virtual_clock else GRACE_S
    return grace_s + specification.expected_s * (1 if by_time else SLOWEST)
