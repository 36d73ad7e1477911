"""Checks of the traffic: each flow's CCA, duration, amount of data and socket readings."""

import math
from collections.abc import Iterator

from testbed.checks.check import INSTRUMENT, SENDER, Check, in_turn, words
from testbed.checks.lost_packets import packets_lost
from testbed.readings.deliveries import (
    COOKIE_ACKED_BYTES,
    COOKIE_BYTES,
    datagram_windows,
    lifetime_windows,
    repeated_openings,
    windows,
)
from testbed.traffic.client_plan import flows_sending, look_times_s, plan_clients, start_within_s

#: Minimum number of message exchanges from which a round-trip time is computed.
MIN_EXCHANGES = 100
#: Maximum share of a connection's busy time during which a buffer may limit the connection, unless the study limits the buffer. The share
#: isn't 0, because the kernel counts in ticks.
MOST_LIMITED = 0.01
#: A receive window below the maximum receive buffer divided by this number is still opening.
OPENED = 4
#: CCA that needs ECN -> CCA that Linux uses instead on a connection without ECN.
WITHOUT_ECN = {"dctcp": "dctcp-reno"}
#: Minimum number of readings for a subflow or for a file's connection, as a share of the number for a connection that lasts as long as its
#: flow.
MOST_OF = 0.9


def check_cca(specification, document) -> Check:
    """Every data connection used the configured CCA, according to iperf3 and, at every reading, according to the kernel.

    If ECN was requested but not negotiated, a connection may use the CCA with which Linux replaces the configured one
    (`mark_checks.check_ecn`). If the study's CCA comes from a C file and was set on the socket, the sender is the cause of a failure,
    because the code in the file has changed the CCA.
    """
    observed = [
        (specification.flow_kernel_cca(flow), process["client"]["end"].get("sender_tcp_congestion"))
        for process in document["traffic"]
        if "client" in process
        for flow in process["flows"]
    ]
    seen = [(specification.flow_kernel_cca(s["flow"]), s["cca"]) for s in readings(document)]
    fallen_back = any(
        s.get("ecn") == "off" != specification.pair_ecn(specification.flow_pair(s["flow"])) for s in readings(document)
    )
    instead = WITHOUT_ECN if fallen_back else {}
    ok = bool(seen) and all(cca in (wanted, instead.get(wanted, wanted)) for wanted, cca in (*observed, *seen))
    given = specification.sources and specification.transport.cca_set_by == "socket"
    asked = (
        list(dict.fromkeys(flow.cca for flow in specification.long_flows))
        if specification.groups
        else specification.ccas
    )
    by_iperf3 = "" if specification.per_side else f"iperf3: {words(cca for _, cca in observed)}, "
    return Check(
        "cca",
        ok,
        " and ".join(map(specification.kernel_cca, asked))
        + (", as configured for each flow" if len(asked) > 1 else " on every connection"),
        f"{by_iperf3}kernel: {words(cca for _, cca in seen)} ({len(seen)} readings)",
        SENDER if given and seen else INSTRUMENT,
    )


def check_segment_size(specification, document) -> Check:
    """Every data connection used the study's segment size at every reading."""
    wanted = specification.snd_mss_bytes
    seen = [s["mss_bytes"] for s in readings(document)]
    return Check(
        "segment_size",
        bool(seen) and set(seen) == {wanted},
        f"{wanted} bytes of payload",
        f"{words(seen)} bytes" if seen else "no reading",
    )


def check_exit_status(specification, document) -> Check:
    """No iperf3 client or server reported an error."""
    errors = [side["error"] for p in document["traffic"] for side in (p["client"], p["server"]) if "error" in side]
    return Check("exit_status", not errors, "no error", "; ".join(errors) or "no error")


def check_duration(specification, document) -> Check:
    """Every client sent for the duration that is configured for the run or for the client's group."""
    wanted = [specification.long_flows[p["flows"][0]].length_s for p in document["traffic"]]
    lengths = [p["client"]["end"]["sum_sent"]["seconds"] for p in document["traffic"]]
    ok = all(abs(length - asked) <= 0.01 * asked + 0.05 for length, asked in zip(lengths, wanted, strict=True))
    return Check("duration", ok, f"{words(wanted)} s", f"{min(lengths):.3f} to {max(lengths):.3f} s")


def check_streams(specification, document) -> Check:
    """There are as many streams as flows, and each stream sent data.

    A stream that delivers nothing because other streams starve it is a result and not a failure. The same applies to a stream that never
    sent data because packets were lost: it may have waited for an acknowledgement until the end.
    """
    if specification.udp:
        # For UDP, iperf3 reports packets and bytes only in its sums.
        ends = [(p["client"]["end"]["sum"], p["server"]["end"]["sum_received"]) for p in document["traffic"]]
        streams = [(sent["packets"], received["bytes"]) for sent, received in ends]
    else:
        # iperf3 counts only whole blocks, and a slow flow may not complete any, so the kernel's counters are more accurate.
        known = {s["flow"] for s in readings(document) if s.get("bytes_sent", 0) > COOKIE_BYTES}
        begun = {
            flow["flow"]
            for flow in document.get("delivered", {"flows": []})["flows"]
            if max(filter(None, flow["bytes"]), default=0) > COOKIE_ACKED_BYTES
        }
        streams = [
            (flow in known or flow in begun, stream["receiver"]["bytes"] or flow in begun)
            for process in document["traffic"]
            for flow, stream in zip(process["flows"], process["client"]["end"]["streams"], strict=False)
        ]
    silent, idle = (sum(1 for stream in streams if not stream[side]) for side in (0, 1))
    return Check(
        "streams",
        len(streams) == specification.flows and (silent == 0 or packets_lost(document) > 0),
        f"{specification.flows}, all sending unless packets were lost",
        f"{len(streams)}, of which {silent} never sent and {idle} delivered nothing",
        SENDER if len(streams) == specification.flows else INSTRUMENT,
    )


def check_intervals(specification, document) -> Check:
    """iperf3 reported every interval of every stream."""
    interval_s = specification.traffic.interval_s
    wanted, counts = [], []
    for process in document["traffic"]:
        # A final interval of a few milliseconds belongs to the end of the test, and doesn't count.
        full = [i for i in process["client"]["intervals"] if i["sum"]["seconds"] > 0.5 * interval_s]
        counts.append(sum(1 for i in full if len(i["streams"]) == len(process["flows"])))
        wanted.append(round(specification.long_flows[process["flows"][0]].length_s / interval_s))
    return Check("intervals", counts == wanted, f"{words(wanted)}", f"{words(counts)}")


def check_overlap(specification, document) -> Check:
    """At every planned reading, all flows that were due to send were sending; no flow ever sent outside its scheduled time.

    The readings are planned between one quarter and three quarters of the duration. If packets were lost, a flow may start late, because
    the lost packets may have been the first packets of its client's connections. If an established connection doesn't send, the sender is
    the cause of the failure.
    """
    clients = plan_clients(specification)
    planned = set(look_times_s(clients, specification))
    wrong, idle, counts, due_counts, begun, late = [], [], [], [], set(), {}
    for look in document["sockets"]:
        # The first bytes of a data connection are iperf3's cookie, not data.
        sending = {s["flow"] for s in look["sockets"] if s.get("bytes_sent", 0) > COOKIE_BYTES}
        due, possible = flows_sending(clients, specification, look["time_s"])
        if look["time_s"] in planned:
            counts.append(len(sending))
            due_counts.append(len(due))
            there = {socket["flow"]: socket for socket in look["sockets"]}
            held_up = {flow for client in clients if is_held_up(client, there) for flow in client.flows}
            late |= dict.fromkeys((due - sending - begun) & held_up, look["time_s"])
            silent = due - sending - (held_up - begun)
            idle += silent & {socket["flow"] for socket in look["sockets"]}
            wrong += silent
        wrong += sending - possible
        begun |= sending
    if late and not packets_lost(document):
        wrong += late
    times = ", ".join(f"{at_s:g}" for at_s in sorted(planned))
    of_late = (f"flow {flow} not yet sending at {at_s:g} s (packets were lost)" for flow, at_s in sorted(late.items()))
    return Check(
        "overlap",
        bool(counts) and not wrong,
        f"flows sending at {times} s: {words(due_counts) if due_counts else specification.flows}",
        "; ".join([f"flows sending: {words(counts)}" if counts else "no reading", *([] if wrong else of_late)]),
        SENDER if wrong and len(idle) == len(wrong) else INSTRUMENT,
    )


def is_held_up(client, there) -> bool:
    """Return whether any of a client's connections was held up at the time of a reading.

    A connection is held up if it isn't established, is waiting for its first acknowledgement, or has retransmitted packets. ``there`` maps
    each flow to the reading of its socket.
    """
    return any(
        flow not in there or there[flow]["bytes_acked"] <= COOKIE_ACKED_BYTES or there[flow]["retransmits"]
        for flow in client.flows
    )


def check_messages(specification, document) -> Check:
    """Every client sent at least the configured number of messages.

    iperf3 may send a few more messages before it stops.
    """
    wanted = specification.traffic.messages * specification.traffic.block_bytes
    sent = [p["client"]["end"]["sum_sent" if not specification.udp else "sum"]["bytes"] for p in document["traffic"]]
    return Check("messages", min(sent) >= wanted, f"at least {wanted} bytes from each client", f"{words(sent)} bytes")


def check_exchanges(specification, document) -> Check:
    """At least `MIN_EXCHANGES` message exchanges took place, and the messages were of the study's size."""
    wrong, observed = [], []
    for process in document["traffic"]:
        result = process["round_trip"]
        if result["exchanges"] < MIN_EXCHANGES:
            wrong.append(process)
        observed.append(f"{result['exchanges']} exchanges of {result['message_bytes']}-byte messages")
    wanted = f"at least {MIN_EXCHANGES} exchanges of {specification.traffic.block_bytes}-byte messages"
    same = all(p["round_trip"]["message_bytes"] == specification.traffic.block_bytes for p in document["traffic"])
    return Check("exchanges", same and not wrong, wanted, in_turn(observed), SENDER if same else INSTRUMENT)


def check_transfer(specification, document) -> Check:
    """The entire file arrived."""
    wanted = specification.traffic.file_bytes
    got = [p["transfer"]["bytes"] for p in document["traffic"]]
    return Check("transfer", set(got) == {wanted}, f"{wanted} bytes", f"{words(got)} bytes")


def check_series(specification, document) -> Check:
    """The time series of every flow contains enough readings for the flow's duration and the study's sampling interval."""
    interval_ms = specification.traffic.sample_interval_ms
    if interval_ms is None:
        return Check("series", True, "no time series requested", "none")
    wanted = [
        math.floor((flow.length_s - start_within_s(specification)) * 1e3 / interval_ms)
        for flow in specification.long_flows
    ]
    series = document.get("series", {}).get("sockets", ())
    connections = specification.sampled_connections
    if connections > specification.flows or specification.traffic.application == "ftp":
        # A subflow joins after the first one has started, and a file's connection starts after the commands that request the file.
        wanted = [math.floor(MOST_OF * count) for count in wanted]
    counts = [len(flow["time_s"]) for flow in series]
    enough = all(len(flow["time_s"]) >= wanted[flow["flow"]] for flow in series)
    return Check(
        "series",
        len(counts) == connections and enough,
        f"at least {words(wanted)} readings per connection (connections: {connections})",
        f"{min(counts, default=0)} to {max(counts, default=0)} readings (connections: {len(counts)})",
    )


def check_buffers(specification, document) -> Check:
    """Neither the receive window nor the send buffer limited a connection, unless the study limits the buffer.

    A failure is attributed to the sender, because it results from the amount of data that the sender has in flight.

    The kernel counts the time during which a connection was limited (tcpi_rwnd_limited, tcpi_sndbuf_limited). The check compares the
    increase between the first and the last reading with the increase in busy time. Two kinds of limits are the kernel's normal behaviour,
    and are therefore allowed:

    - The receive window is still opening after losses. Once per round trip, Linux enlarges the receive buffer according to the amount of
      data read in order, and the window opens with the buffer.
    - The send buffer is below its maximum. Linux sizes it according to the congestion window (tcp_sndbuf_expand), so it may limit the
      connection after the congestion window has been reduced.

    The send buffer isn't checked with MPTCP, because a subflow has no separate send buffer.
    """
    checked = {"receiver's window": "rwnd_limited_ms", "send buffer": "sndbuf_limited_ms"}
    asked = {"receiver's window": specification.limits_receive_window, "send buffer": specification.limits_send_buffer}
    unasked = {what for what in checked if not asked[what]}
    if specification.multipath.by == "mptcp":
        unasked -= {"send buffer"}
    limited = {what: list(limited_shares(document, column)) for what, column in checked.items()}
    lossy = packets_lost(document) > 0
    wrong = [
        what
        for what in unasked
        for share, last in limited[what]
        if share > MOST_LIMITED
        and not (is_sized(specification, last) if what == "send buffer" else lossy and is_opening(specification, last))
    ]
    wanted = (
        f"limited by the {' or '.join(what for what in checked if what in unasked)} "
        f"for at most {100 * MOST_LIMITED:g} % of the busy time, unless the buffer was still growing"
    )
    return Check(
        "buffers",
        not wrong,
        wanted if unasked else "not checked, because the study limits the buffers",
        ", ".join(
            f"{what} {100 * max((share for share, _ in shares), default=0):.1f} %" for what, shares in limited.items()
        ),
        SENDER,
    )


def is_opening(specification, socket) -> bool:
    """Return whether a connection's receive window is still opening, that is, far below the maximum receive buffer.

    Data received out of order count as part of the window, because they occupy the buffer.
    """
    window = socket.get("peer_window_bytes")
    filled = socket.get("sacked_packets", 0) * socket["mss_bytes"]
    return window is not None and window + filled < specification.receive_buffer_bytes / OPENED


def is_sized(specification, socket) -> bool:
    """Return whether a connection's send buffer is below its maximum."""
    return socket.get("send_buffer_bytes", specification.send_buffer_bytes) < specification.send_buffer_bytes


def limited_shares(document, column) -> Iterator[tuple[float, dict]]:
    """Yield, for each connection, the share of its busy time during which it was limited, and the last reading of its socket.

    The share is measured from the first to the last reading. ``column`` is the name of the counter of the limited time.
    """
    nothing = {column: 0, "busy_ms": 0}
    connections = {}
    for socket in readings(document):
        connections.setdefault((socket["host"], socket["local_port"], socket["remote_port"]), []).append(
            nothing | socket
        )
    for first, *_, last in (looks if len(looks) > 1 else [nothing, *looks] for looks in connections.values()):
        if last["busy_ms"] > first["busy_ms"]:
            yield (last[column] - first[column]) / (last["busy_ms"] - first["busy_ms"]), last


def check_goodput_ceiling(specification, document) -> Check:
    """In each direction in which data flow, no more data were delivered than the path can carry in the same time."""
    numbers = {}
    for flow in range(specification.flows):
        numbers.setdefault(specification.flow_pair(flow).direction, set()).add(flow)
    checks = {way: judge_goodput(specification, document, flows, direction=way) for way, flows in numbers.items()}
    if len(checks) < 2:
        return next(iter(checks.values()), None) or judge_goodput(specification, document, ())
    expected, observed = (
        "; ".join(f"{way} {getattr(check, name)}" for way, check in checks.items()) for name in ("expected", "observed")
    )
    return Check("goodput_ceiling", all(check.ok for check in checks.values()), expected, observed)


def judge_goodput(specification, document, flows, waiting_bytes=0, direction="forward") -> Check:
    """Return the `Check` that compares the total goodput of the given flows with the capacity that they share.

    ``flows`` are the flow numbers in the document; in the specification of a single bottleneck on a chain, the same flows have other
    numbers. ``waiting_bytes`` is the amount of data that may have passed the bottleneck before the measured period, but may have been
    delivered during the period.
    """
    got = [delivered for flow, delivered in spans_at_most(specification, document) if flow in flows]
    begin_ns, end_ns = min((begin for begin, _, _ in got), default=0), max((end for _, end, _ in got), default=0)
    if begin_ns == end_ns:
        return Check("goodput_ceiling", True, "nothing to compare", "the amount of delivered data is not known")
    to_mbps = 8e3 / (end_ns - begin_ns)
    goodput = sum(count for _, _, count in got) * to_mbps
    most_bytes = specification.capacity_in(direction).most_bytes(begin_ns, end_ns)
    if most_bytes is None:
        return Check("goodput_ceiling", True, "no limit configured", f"{goodput:.3f} Mbit/s")
    most = (most_bytes + waiting_bytes) * to_mbps
    return Check("goodput_ceiling", goodput <= most, f"at most {most:.3f} Mbit/s", f"{goodput:.3f} Mbit/s")


def spans_at_most(specification, document) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield the items of `delivered_spans`; with UDP, each period ends at the latest possible time.

    With UDP the end is uncertain, because iperf3 doesn't report by how much a flow was delayed if its opening packets were lost.
    """
    if not specification.udp:
        yield from delivered_spans(document)
        return
    later_ns = repeated_openings(document) * 10**9
    for flow, window in datagram_windows(document).items():
        yield flow, (window.begin_ns, window.end_ns + later_ns, window.delivered_bytes[flow])


def delivered_spans(document) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield each flow's number and its delivered data, as (begin in ns, end in ns, bytes delivered).

    The period is the same for all flows. If the flows have no common period, a flow's period is its lifetime.
    """
    for flow, window in (windows(document) or lifetime_windows(document)).items():
        yield flow, (window.begin_ns, window.end_ns, window.delivered_bytes[flow])
    for process in document["traffic"]:
        if transfer := process.get("transfer"):
            begin_ns = round(1e6 * process["start_offset_ms"])
            yield process["flows"][0], (begin_ns, begin_ns + round(1e9 * transfer["seconds"]), transfer["bytes"])


def readings(document) -> list[dict]:
    """Return the readings of all flows' sockets in one list."""
    return [socket for look in document["sockets"] for socket in look["sockets"]]
