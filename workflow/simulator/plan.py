"""A run's plan: the simulation program's input, as lines of text (``envs/ns3/plan.h``)."""

import math

from experiment.packet_sizes import ETHERNET_HEADER_BYTES
from simulator.disciplines import attributes, counterpart_of
from simulator.limits import CCAS
from testbed.readings.deliveries import reading_times_ns
from testbed.traffic.client_plan import SOCKET_LOOKS, plan_clients, start_within_s

#: Size of the PPP header that a point-to-point device of ns-3 puts in front of an IP packet.
LINK_HEADER_BYTES = 2
#: Gap after each packet in bytes, as large as the rest of an Ethernet header. With this gap, the bottleneck passes as many packets per
#: second as Linux's shaper, which counts Ethernet frames.
GAP_BYTES = ETHERNET_HEADER_BYTES - LINK_HEADER_BYTES
#: Direction -> device after the bottleneck, which drops packets at random; and direction -> device in front of the bottleneck, which queues
#: packets.
LOSS = {"forward": "r2-eth1", "reverse": "r1-eth1"}
BOTTLENECK = {"forward": "r1-eth1", "reverse": "r2-eth1"}
RECOVERIES = {"prr": "ns3::TcpPrrRecovery", "classic": "ns3::TcpClassicRecovery"}
#: Size of a socket's buffers as a multiple of BDP plus full queue, and minimum size in bytes.
BUFFER_PATHS = 3
LEAST_BUFFER_BYTES = 2**18
#: Linux's initial cwnd (RFC 6928), in segments.
INITIAL_CWND = 10
#: Attributes whose defaults in ns-3 differ from Linux's: constants of CCAs (tcp_hybla.c, tcp_scalable.c, tcp_bic.c), the initial
#: retransmission timeout of a SYN (RFC 6298; ns-3's default is 3 s), and duplicate address detection, which would delay the traffic by 1 s.
LINUX_DEFAULTS = {
    "ns3::TcpHybla::RRTT": "25ms",
    "ns3::TcpScalable::AIFactor": "100",
    "ns3::TcpBic::SmoothPart": "20",
    "ns3::TcpSocket::ConnTimeout": "1s",
    "ns3::Icmpv6L4Protocol::DAD": "false",
}
#: ns-3's default scheduler. All schedulers order events in the same way, so the results don't depend on the choice.
SCHEDULER = "ns3::MapScheduler"
#: Additional simulated time in s, after the duration, for a flow that connects late because its packets are lost.
GRACE_S = 120


def starts_ns(specification) -> dict[int, int]:
    """Return the time at which each flow starts to connect, in ns since the traffic's origin; times are drawn as in the testbed."""
    starts = {}
    for client in plan_clients(specification):
        starts |= dict.fromkeys(client.flows, round(client.start_offset_s * 1e9))
    return starts


def looks_ns(specification) -> list[int]:
    """Return the times of the socket readings, in ns since the origin; at these times all flows have started and none has ended."""
    begin_s = start_within_s(specification)
    common_s = specification.traffic.duration_s - begin_s
    connected_s = begin_s + specification.rtt_longest_ms / 1e3
    return [round((connected_s + fraction * common_s) * 1e9) for fraction in SOCKET_LOOKS]


def deliveries_ns(specification) -> list[int]:
    """Return the times at which the numbers of delivered bytes are read, in ns since the origin."""
    starts_s = [start * 1e-9 for start in starts_ns(specification).values()]
    return reading_times_ns(starts_s, 1, specification)


def buffer_bytes(specification) -> int:
    """Return the size in bytes of a socket's buffers: far above any CCA's cwnd, including BBR's 2.89 BDPs in Startup.

    ns-3 charges only the payload to a buffer, so smaller buffers suffice than under Linux. Larger buffers would do harm: up to ns-3 3.41,
    BBR can miscount the data in flight and then send the contents of the entire buffer.
    """
    path_bytes = specification.rate_mbps * 1e6 / 8 * specification.rtt_longest_ms / 1e3
    queue_bytes = specification.queue_bytes or specification.queue_packets * specification.packet_bytes
    return max(LEAST_BUFFER_BYTES, math.ceil(BUFFER_PATHS * (path_bytes + queue_bytes)))


def socket_settings(specification) -> dict[str, str]:
    """Return the attributes that every socket must have, by name; most values are written as ns-3 prints them."""
    transport = specification.transport
    settings = {
        "SegmentSize": str(specification.segment_bytes),
        "SndBufSize": str(transport.send_buffer_bytes or buffer_bytes(specification)),
        "RcvBufSize": str(transport.receive_buffer_bytes or buffer_bytes(specification)),
        "InitialCwnd": str(INITIAL_CWND),
        "DelAckCount": "2" if transport.delayed_acks else "1",
        "Sack": "true",
        "Timestamp": "true",
        "WindowScaling": "true",
    }
    if transport.min_rto_ms is not None:
        settings["MinRto"] = f"{transport.min_rto_ms}ms"
    return settings


def queue_limit(specification) -> str:
    """Return the limit of the bottleneck's queue in ns-3's syntax, such as ``100p`` or ``150000B``."""
    packets = specification.queue_packets
    return f"{specification.queue_bytes}B" if packets is None else f"{packets}p"


def defaults(specification) -> dict[str, str]:
    """Return the attributes that must be set before any object is created, by name; names and values are in ns-3's syntax."""
    owners = {
        "MinRto": "TcpSocketBase",
        "Sack": "TcpSocketBase",
        "Timestamp": "TcpSocketBase",
        "WindowScaling": "TcpSocketBase",
    }
    settings = socket_settings(specification)
    return {
        **{f"ns3::{owners.get(name, 'TcpSocket')}::{name}": value for name, value in settings.items()},
        "ns3::TcpL4Protocol::RecoveryType": RECOVERIES[specification.transport.recovery],
        **LINUX_DEFAULTS,
    }


def gap_ns(rate_bps) -> int:
    """Return the gap after each packet in ns; ``rate_bps`` is the link's rate in bit/s."""
    return round(GAP_BYTES * 8e9 / rate_bps)


def change_line(change) -> str:
    """Return the plan's line for an `experiment.timeline.Change`.

    The line contains the time in ns, the device, the quantity, the value, and the gap in ns (0 unless the quantity is a rate).
    """
    if change.quantity == "rate_mbps":
        rate_bps = round(change.value * 1e6)
        place = BOTTLENECK[change.direction]
        return f"change {change.at_ns} {place} rate {rate_bps}bps {gap_ns(rate_bps)}"
    if change.quantity == "delay_ms":
        return f"change {change.at_ns} {BOTTLENECK[change.direction]} delay {round(change.value * 1e6)}ns 0"
    return f"change {change.at_ns} {LOSS[change.direction]} loss {change.value / 100!r} 0"


def plan(specification) -> str:
    """Return the text of the plan that the simulation program reads.

    ``specification`` must be a run for which `limits.refusals` returns no problem.
    """
    traffic, link = specification.traffic, specification.link
    rate_bps = round(specification.rate_mbps * 1e6)
    seed = specification.substream("ns3")
    starts = starts_ns(specification)
    values = {
        "rate": f"{rate_bps}bps",
        "gap_ns": gap_ns(rate_bps),
        "delay_ns": round(link.delay_ms["forward"] * 1e6),
        "queue": queue_limit(specification),
        "loss_forward": repr(link.loss_percent["forward"] / 100),
        "loss_reverse": repr(link.loss_percent["reverse"] / 100),
        "ip": specification.ip_version.removeprefix("ipv"),
        # ns-3's random number generator (MRG32k3a) accepts a nonzero 32-bit seed, and a run number.
        "seed": 1 + seed % (2**31 - 1),
        "run": seed >> 31,
        "recovery": RECOVERIES[specification.transport.recovery],
        "scheduler": SCHEDULER,
        # A linear search gives the same results as the library's own search, and is many times faster (envs/ns3/scoreboard.h).
        "search": "linear",
        "duration_ns": round(traffic.duration_s * 1e9),
        "interval_ns": round(traffic.interval_s * 1e9),
        "sample_ns": (traffic.sample_interval_ms or 0) * 1_000_000,
        "limit_ns": round((start_within_s(specification) + traffic.duration_s + GRACE_S) * 1e9),
        "access_ns": " ".join(str(round(pair.access_delay_ms * 1e6)) for pair in specification.pairs),
        "look_ns": " ".join(map(str, sorted({*looks_ns(specification), *deliveries_ns(specification)}))),
    }
    lines = [f"{key} {value}" for key, value in values.items()]
    if counterpart := counterpart_of(specification):
        lines.append(f"discipline {counterpart.type_id}")
        lines += [
            f"attribute {name} {value}" for name, value in attributes(specification, queue_limit(specification)).items()
        ]
    lines += [change_line(change) for change in specification.timeline.changes]
    lines += [f"default {name} {value}" for name, value in defaults(specification).items()]
    lines += [
        f"flow {specification.flow_pair(flow).index} {CCAS[specification.flow_cca(flow)]} {starts[flow]}"
        for flow in range(specification.flows)
    ]
    return "\n".join(lines) + "\n"
