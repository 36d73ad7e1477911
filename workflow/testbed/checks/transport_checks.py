"""Checks that TCP's settings had the expected effects: buffers, acknowledgements, timeouts and sending rates."""

from collections import Counter

from testbed.checks.check import INSTRUMENT, SENDER, Check, in_turn, words
from testbed.checks.flow_checks import limited_shares, readings
from testbed.checks.network_checks import grown

#: Maximum receive window without window scaling, which must fit into 16 bits.
LARGEST_UNSCALED_BYTES = 65_535
#: Maximum memory that Linux charges for a full packet (its truesize); the last packet may exceed a buffer by this amount.
PACKET_MEMORY_BYTES = 4_608
#: Share of a connection's busy time. If the receive window limits a connection for longer, the connection must fill the requested buffer.
HELD_BACK = 0.5
#: Minimum share of a receive buffer that is available as a window, after Linux deducts the packets' memory overhead.
LEAST_WINDOW = 0.2
#: Minimum number of acknowledgements per segment without delayed acknowledgements; it is below 1 because of control messages and a FIN.
ACKNOWLEDGED = 0.9
#: Maximum excess of a timeout over the RTT, in mean deviations of the RTT (rttvar); and the rounding error of the timeout, in ms.
DEVIATIONS, TICKS_MS = 16, 5
#: Maximum relative excess of a sender's rate over its limit; iperf3 starts by sending a whole block.
RATE_SLACK = 0.01
#: Maximum number of segments that iperf3's control connection sends per flow.
CONTROL_SEGMENTS = 50
#: Maximum error of a limit on the pacing rate, relative and in Mbit/s: iperf3 passes whole bit/s, the kernel stores whole bytes per second.
PACING_DIGITS, BYTE_A_SECOND_MBPS = 1e-4, 8e-6


def check_send_buffer(specification, document) -> Check:
    """Unacknowledged and unsent data never exceeded the send buffer, and buffers that flows filled were of the study's size."""
    asked, seen = specification.transport.send_buffer_bytes, readings(document)
    taken = max((s["send_buffer_taken_bytes"] for s in seen if "send_buffer_taken_bytes" in s), default=None)
    flying = most_unacknowledged_bytes(document)
    # Linux enlarges the buffer up to the limit once cwnd allows more data than are in flight.
    settled = [
        s["send_buffer_bytes"]
        for s in seen
        if s.get("cwnd_packets", 0) > 2 * s.get("unacked_packets", 0) > 0 and "send_buffer_bytes" in s
    ]
    small = [
        size
        for size in settled
        if size < asked and 2 * size > taken > size / 2 and specification.traffic.bitrate_mbps is None
    ]
    ok = taken is not None and taken <= asked + PACKET_MEMORY_BYTES and flying <= asked and not small
    observed = "no reading" if taken is None else f"up to {taken} bytes used, up to {flying} bytes unacknowledged"
    return Check(
        "send_buffer",
        ok,
        f"up to {asked} bytes used",
        observed + (f", buffer size {words(small)} bytes" if small else ""),
    )


def check_receive_buffer(specification, document) -> Check:
    """Unacknowledged data never exceeded the receive buffer.

    If the receive window limited a connection for more than `HELD_BACK` of its busy time, the data filled at least `LEAST_WINDOW` of the
    buffer.
    """
    asked, flying = specification.transport.receive_buffer_bytes, most_unacknowledged_bytes(document)
    held = max((share for share, _ in limited_shares(document, "rwnd_limited_ms")), default=0)
    # MPTCP subflows share one buffer.
    least = LEAST_WINDOW * asked if held > HELD_BACK and specification.multipath.by != "mptcp" else 0
    return Check(
        "receive_buffer",
        least <= flying <= asked,
        f"up to {asked} bytes unacknowledged" + (f", and at least {least:.0f}" if least else ""),
        f"{flying} bytes, limited by the receive window for {100 * held:.1f} % of the busy time",
    )


def check_receive_window(specification, document) -> Check:
    """Unacknowledged data never exceeded the maximum receive window without scaling (RFC 9293, section 3.1).

    The last packet counts as a full one even if it isn't, so the count may exceed the limit by less than one packet.
    """
    flying = most_unacknowledged_bytes(document)
    return Check(
        "receive_window",
        flying < LARGEST_UNSCALED_BYTES + specification.snd_mss_bytes,
        f"up to {LARGEST_UNSCALED_BYTES} bytes unacknowledged",
        f"{flying} bytes",
    )


def most_unacknowledged_bytes(document) -> float:
    """Return the maximum amount of unacknowledged payload, in bytes, that any flow had at any reading or sample.

    At each reading, the amounts of a flow's subflows are added up.
    """
    sizes, at_looks = {}, Counter()
    for number, look in enumerate(document["sockets"]):
        for socket in look["sockets"]:
            sizes[socket["flow"]] = socket["mss_bytes"]
            at_looks[number, socket["flow"]] += socket.get("unacked_packets", 0) * socket["mss_bytes"]
    in_series = (
        max(filter(None, series.get("unacked_packets", ())), default=0) * sizes.get(series["flow"], 0)
        for series in document.get("series", {}).get("sockets", ())
    )
    return max([0, *at_looks.values(), *in_series])


def check_acknowledgements(specification, document) -> Check:
    """Nearly every segment was acknowledged individually, according to the receivers' counters."""
    counted = [document["stack"]["tcp"][pair.receiver] for pair in specification.pairs]
    shares = [one["TcpOutSegs"] / max(1, one["TcpInSegs"]) for one in counted]
    ok = all(share >= ACKNOWLEDGED for share in shares)
    return Check(
        "acknowledgements",
        ok,
        f"at least {ACKNOWLEDGED:g} acknowledgements per segment",
        in_turn([f"{share:.3f}" for share in shares]),
    )


def check_least_timeout(specification, document) -> Check:
    """The minimum difference between the retransmission timeout and the RTT is the study's minimum RTO, or more if the RTT varies."""
    least = specification.transport.min_rto_ms
    above = [s["rto_ms"] - s["rtt_ms"] for s in readings(document) if s.get("rtt_ms") and s.get("rto_ms")]
    most = max((DEVIATIONS * s["rttvar_ms"] for s in readings(document) if s.get("rttvar_ms")), default=0)
    lowest, highest = min(above, default=0), max(least, most) + TICKS_MS
    return Check(
        "least_timeout",
        bool(above) and least - TICKS_MS <= lowest <= highest,
        f"{least} to {highest:.0f} ms above the RTT",
        f"{lowest:.1f} ms" if above else "no reading",
        INSTRUMENT if above else SENDER,
    )


def check_sending_rate(specification, document) -> Check:
    """No client sent faster than its rate limit; with UDP, no client sent more slowly than its limit either."""
    wrong, expected, observed = [], [], []
    for process in document["traffic"]:
        end, flows = process["client"]["end"], process["flows"]
        limit = specification.long_flows[flows[0]].rate_mbps
        sent = end["sum" if specification.udp else "sum_sent"]
        if limit is None:
            continue
        mbps, length_s = sent["bits_per_second"] / 1e6, max(sent["seconds"], 1e-3)
        limit *= len(flows)
        slack = RATE_SLACK * limit + 2 * len(flows) * specification.traffic.block_bytes * 8e-6 / length_s
        if mbps > limit + slack or (specification.udp and mbps < limit - slack):
            wrong.append(process)
        expected.append(f"{'' if specification.udp else 'up to '}{limit:g} Mbit/s")
        observed.append(f"{mbps:.4g} Mbit/s")
    return Check("sending_rate", not wrong, in_turn(expected or ["no limit"]), in_turn(observed or ["no limit"]))


def check_super_packets(specification, document) -> Check:
    """On average, super-packets consisted of no more segments than the study allows, according to the senders' counters."""
    most = specification.gso_max_segments
    sizes = []
    for pair in specification.pairs:
        # Packets of iperf3's control connections may use another interface.
        others = 0 if specification.per_side else CONTROL_SEGMENTS * specification.flows
        segments = document["stack"]["tcp"][pair.sender]["TcpOutSegs"] - others
        sizes.append(max(0, segments) / max(1, grown(document, f"{pair.sender}-eth0", "tx_packets")))
    return Check(
        "super_packets",
        all(size <= most * (1 + RATE_SLACK) for size in sizes),
        f"up to {most:.4g} segments on average",
        in_turn([f"{size:.4g}" for size in sizes]),
    )


def check_pacing_limit(specification, document) -> Check:
    """Every socket had the study's limit on the pacing rate, and no socket's pacing rate exceeded this limit."""
    asked, seen = specification.max_pacing_rate_mbps, readings(document)
    limits = {socket.get("max_pacing_mbps") for socket in seen}
    rates = [socket["pacing_mbps"] for socket in seen if socket.get("pacing_mbps")]
    slack = PACING_DIGITS * asked + BYTE_A_SECOND_MBPS
    right = bool(seen) and all(limit and abs(limit - asked) <= slack for limit in limits)
    most = max(rates, default=0)
    observed = f"limit {words(f'{limit:g} Mbit/s' if limit else 'none' for limit in limits)}, pacing rates up to {most:.6g} Mbit/s"
    return Check("pacing_limit", right and most <= asked + slack, f"{asked:g} Mbit/s", observed)


def checks_of(specification) -> tuple:
    """Return the checks of TCP's settings and of sending rates that apply to a run."""
    transport, traffic = specification.transport, specification.traffic
    if not specification.flows or traffic.application == "round-trip":
        return ()
    checks = ()
    if traffic.application == "iperf3" and any(flow.rate_mbps is not None for flow in specification.long_flows):
        checks += (check_sending_rate,)
    if specification.udp:
        return checks
    checks += (check_super_packets,) if specification.gso_max_segments and traffic.application == "iperf3" else ()
    checks += (check_pacing_limit,) if specification.max_pacing_rate_mbps else ()
    plain = specification.multipath.by != "mptcp"
    checks += (check_send_buffer,) if transport.send_buffer_bytes is not None and plain else ()
    checks += (check_receive_buffer,) if transport.receive_buffer_bytes is not None else ()
    checks += (check_receive_window,) if plain and not specification.scales_windows else ()
    single = (
        traffic.application == "iperf3" and plain and not transport.segmentation_offload and not specification.groups
    )
    checks += (check_acknowledgements,) if not transport.delayed_acks and single else ()
    return checks + ((check_least_timeout,) if transport.min_rto_ms is not None and plain else ())
