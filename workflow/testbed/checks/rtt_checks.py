"""Check of the RTTs that TCP measured: no RTT was below the minimum RTT of its path."""

from testbed.checks.check import Check, in_turn
from testbed.checks.flow_checks import readings
from testbed.readings.deliveries import COOKIE_ACKED_BYTES

#: Linux's default pacing rate after slow start, as a percentage of the rate that cwnd and RTT allow (`net.ipv4.tcp_pacing_ca_ratio`).
TCP_PACING_PERCENT = 120


def check_rtt_floor(specification, document) -> Check:
    """No connection measured an RTT below the minimum RTT of its path."""
    jitter_ms = sum(specification.direction(d).jitter_reach_ms for d in ("forward", "reverse"))
    link_ms = sum(specification.link.delay_ms.values())
    shorter_ms = link_ms - specification.link_rtts_ms[0]
    wrong, expected, observed = [], [], []
    for pair in dict.fromkeys(specification.flow_pair(flow.number) for flow in specification.long_flows):
        floor = max(0.0, pair.rtt_ms - shorter_ms - pair.hops * jitter_ms)
        sockets = [s for s in readings(document) if s["host"] == pair.sender and "rtt_min_ms" in s]
        paced = {
            s["cca"] for s in sockets if specification.max_pacing_rate_mbps or sets_its_pacing_rate(specification, s)
        }
        seen = [s["rtt_min_ms"] for s in sockets if not (s["cca"] in paced and may_be_of_an_early_segment(s))]
        # The kernel's RTTs are in whole microseconds. After a loss, the kernel computes them from TCP's timestamps, as the difference
        # between two times in whole milliseconds. Such an RTT may be too short by less than one millisecond: 43 instead of 43.9998, but
        # not 43 instead of 44. Until data are acknowledged, there may be no RTT.
        acknowledged = any(
            s.get("bytes_acked", 0) > COOKIE_ACKED_BYTES for s in readings(document) if s["host"] == pair.sender
        )
        if (acknowledged and not sockets) or any(rtt < floor - 0.001 if rtt % 1 else rtt <= floor - 1 for rtt in seen):
            wrong.append(pair.sender)
        expected.append(f"at least {floor:g} ms")
        none = "only readings after paced retransmissions" if sockets else "no reading"
        observed.append(f"{min(seen):g} ms" if seen else none)
    return Check("rtt_floor", not wrong, in_turn(expected), in_turn(observed))


def sets_its_pacing_rate(specification, socket) -> bool:
    """Return whether a CCA sets a lower pacing rate than TCP would derive from cwnd and the RTT, as BBR does.

    Before the first smoothed RTT, the minimum RTT is used.
    """
    ratio = (specification.scenario["transport"].get("pacing_percent") or TCP_PACING_PERCENT) / 100
    window_bits = socket["cwnd_packets"] * socket["mss_bytes"] * 8
    rtt_ms = max(socket.get("rtt_ms", socket["rtt_min_ms"]), 0.001)
    return 0 < (socket.get("pacing_mbps") or 0) < 0.9 * ratio * window_bits / 1000 / rtt_ms


def may_be_of_an_early_segment(socket) -> bool:
    """Return whether a paced connection's minimum RTT may be too short, because a segment left before the time in its timestamp.

    If a timer triggers a retransmission, the segment leaves immediately, but its timestamp is the time at which pacing would have sent it
    (`tcp_wstamp_ns` in `net/ipv4/tcp_output.c`). The acknowledgement echoes this timestamp, so the RTT is too short by the difference
    between the two times. For a flow that BBR slowed down to 0.1 Mbit/s, this difference exceeded 120 ms. RTTs computed from timestamps
    are in whole milliseconds.
    """
    return bool(socket["retransmits"]) and not socket["rtt_min_ms"] % 1
