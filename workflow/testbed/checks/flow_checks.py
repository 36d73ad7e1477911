"""Checks of the traffic: did every flow run, with its CCA, for its time, and get no more than there was?"""

import math
from collections.abc import Iterator

from experiment.timeline import LOST_ALL, most_rate_mbps
from testbed.checks.check import Check, in_turn, words
from testbed.checks.datagram_checks import repeated_openings
from testbed.checks.lost_packets import packets_lost
from testbed.network.emulation import REAL_TIMER_S, SUPER_PACKET_BYTES
from testbed.readings.deliveries import COOKIE_ACKED_BYTES, COOKIE_BYTES, datagram_windows, lifetime_windows, windows
from testbed.traffic.traffic import flows_sending, look_times_s, plan_clients, start_within_s

#: Fewer exchanges of messages make no round-trip time.
MIN_EXCHANGES = 100
#: Share of a connection's busy time that a buffer may hold it back unasked: the kernel counts in ticks.
MOST_LIMITED = 0.01
#: A window of this part of the largest receive buffer may be as open as it gets.
OPENED = 4
#: The share of a flow's readings that a subflow, or a file's connection, has at least.
MOST_OF = 0.9


def check_cca(specification, document) -> Check:
    """Every data connection ran its CCA: by iperf3's JSON and by the kernel, at every look."""
    observed = [
        (specification.flow_kernel_cca(flow), process["client"]["end"].get("sender_tcp_congestion"))
        for process in document["traffic"]
        if "client" in process
        for flow in process["flows"]
    ]
    seen = [(specification.flow_kernel_cca(s["flow"]), s["cca"]) for s in readings(document)]
    ok = bool(seen) and all(wanted == cca for wanted, cca in (*observed, *seen))
    asked = (
        list(dict.fromkeys(flow.cca for flow in specification.long_flows))
        if specification.groups
        else specification.ccas
    )
    return Check(
        "cca",
        ok,
        f"{' and '.join(map(specification.kernel_cca, asked))} on every connection"
        + (" in turn" if len(asked) > 1 else ""),
        f"iperf3: {words(cca for _, cca in observed)}; kernel: {words(cca for _, cca in seen)} ({len(seen)} readings)",
    )


def check_segment_size(specification, document) -> Check:
    """Every data connection sent full packets of the size that the study says, at every look."""
    wanted = specification.snd_mss_bytes
    seen = [s["mss_bytes"] for s in readings(document)]
    return Check(
        "segment_size", bool(seen) and set(seen) == {wanted}, f"{wanted} bytes of payload", f"{words(seen)} bytes"
    )


def check_exit_status(specification, document) -> Check:
    """iperf3 reported no error on either side (its processes ended with 0)."""
    errors = [side["error"] for p in document["traffic"] for side in (p["client"], p["server"]) if "error" in side]
    return Check("exit_status", not errors, "no error", "; ".join(errors) or "no error")


def check_duration(specification, document) -> Check:
    """Every client sent for the duration, or as long as its group."""
    wanted = [specification.long_flows[p["flows"][0]].length_s for p in document["traffic"]]
    lengths = [p["client"]["end"]["sum_sent"]["seconds"] for p in document["traffic"]]
    ok = all(abs(length - asked) <= 0.01 * asked + 0.05 for length, asked in zip(lengths, wanted, strict=True))
    return Check("duration", ok, f"{words(wanted)} s", f"{min(lengths):.3f} to {max(lengths):.3f} s")


def check_streams(specification, document) -> Check:
    """There are as many streams as flows, and each sent; one that others starve may deliver nothing: that is a result.

    So is one that never sent where the network lost packets: it may have waited for an acknowledgement to its end.
    """
    if specification.udp:
        # iperf3 has packets and bytes of UDP in its sums alone.
        ends = [(p["client"]["end"]["sum"], p["server"]["end"]["sum_received"]) for p in document["traffic"]]
        streams = [(sent["packets"], received["bytes"]) for sent, received in ends]
    else:
        # iperf3 counts whole blocks, of which a slow flow may not get one done; the kernel knows better.
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
        f"{specification.flows}, all sending",
        f"{len(streams)}, {silent} that never sent, {idle} without a byte delivered",
    )


def check_intervals(specification, document) -> Check:
    """Every stream has all its reporting intervals."""
    interval_s = specification.traffic.interval_s
    wanted, counts = [], []
    for process in document["traffic"]:
        # A last interval of some milliseconds is the end of the test, not a missing one.
        full = [i for i in process["client"]["intervals"] if i["sum"]["seconds"] > 0.5 * interval_s]
        counts.append(sum(1 for i in full if len(i["streams"]) == len(process["flows"])))
        wanted.append(round(specification.long_flows[process["flows"][0]].length_s / interval_s))
    return Check("intervals", counts == wanted, f"{words(wanted)}", f"{words(counts)}")


def check_overlap(specification, document) -> Check:
    """All flows were sending at every look at the sockets, from a quarter of the duration to three; of groups, those whose time it was.

    A flow may begin late where the network lost packets: those with which connections of its client begin may be among them.
    """
    clients, planned = plan_clients(specification), set(look_times_s(plan_clients(specification), specification))
    wrong, counts, due_counts, begun, late = [], [], [], set(), {}
    for look in document["sockets"]:
        # The first bytes of a data connection are iperf3's cookie, not data.
        sending = {s["flow"] for s in look["sockets"] if s.get("bytes_sent", 0) > COOKIE_BYTES}
        due, possible = flows_sending(clients, specification, look["time_s"])
        if look["time_s"] in planned:
            counts.append(len(sending))
            due_counts.append(len(due))
            held_up = {flow for client in clients if is_held_up(client, look) for flow in client.flows}
            late |= dict.fromkeys((due - sending - begun) & held_up, look["time_s"])
            wrong += due - sending - (held_up - begun)
        wrong += sending - possible
        begun |= sending
    if late and not packets_lost(document):
        wrong += late
    times = ", ".join(f"{at_s:g}" for at_s in sorted(planned))
    of_late = (f"flow {flow} not yet at {at_s:g} s, its first packets lost" for flow, at_s in sorted(late.items()))
    return Check(
        "overlap",
        bool(counts) and not wrong,
        f"{words(due_counts) if due_counts else specification.flows} flows sending at {times} s",
        "; ".join([f"{words(counts)} flows", *([] if wrong else of_late)]),
    )


def is_held_up(client, look) -> bool:
    """Return whether a connection of a client had not come up at a look, or waited for its first acknowledgement, or had lost packets."""
    there = {socket["flow"]: socket for socket in look["sockets"]}
    return any(
        flow not in there or there[flow]["bytes_acked"] <= COOKIE_ACKED_BYTES or there[flow]["retransmits"]
        for flow in client.flows
    )


def check_rtt_floor(specification, document) -> Check:
    """No connection measured an RTT below its path's, or the shortest that it had."""
    jitter_ms = sum(specification.direction(d).jitter_ms for d in ("forward", "reverse"))
    link_ms = sum(specification.link.delay_ms.values())
    shorter_ms = link_ms - specification.link_rtts_ms[0]
    wrong, expected, observed = [], [], []
    for pair in dict.fromkeys(specification.flow_pair(flow.number) for flow in specification.long_flows):
        floor = max(0.0, pair.rtt_ms - shorter_ms - pair.hops * jitter_ms)
        seen = [s["rtt_min_ms"] for s in readings(document) if s["host"] == pair.sender and "rtt_min_ms" in s]
        # The kernel's are whole microseconds; by TCP's timestamps, which it takes after a loss, the difference of two clocks
        # of whole milliseconds, and so up to one too short.
        # Before data are acknowledged, or where nothing is, there may be none.
        acknowledged = any(
            s.get("bytes_acked", 0) > COOKIE_ACKED_BYTES for s in readings(document) if s["host"] == pair.sender
        )
        if (acknowledged and not seen) or any(rtt < floor - (0.001 if rtt % 1 else 0.999) for rtt in seen):
            wrong.append(pair.sender)
        expected.append(f"at least {floor:g} ms")
        observed.append(f"{min(seen):g} ms" if seen else "no reading")
    return Check("rtt_floor", not wrong, in_turn(expected), in_turn(observed))


def check_messages(specification, document) -> Check:
    """Every client sent as many messages as it should have, or some more: iperf3 looks at the end of an interval; UDP's are packets."""
    wanted = specification.traffic.messages * specification.traffic.block_bytes
    sent = [p["client"]["end"]["sum_sent" if not specification.udp else "sum"]["bytes"] for p in document["traffic"]]
    return Check("messages", min(sent) >= wanted, f"at least {wanted} bytes from each client", f"{words(sent)} bytes")


def check_exchanges(specification, document) -> Check:
    """The ping-pong of messages took place, for its time or number."""
    wrong, observed = [], []
    for process in document["traffic"]:
        result = process["round_trip"]
        if result["exchanges"] < MIN_EXCHANGES:
            wrong.append(process)
        observed.append(f"{result['exchanges']} exchanges of {result['message_bytes']} bytes")
    wanted = f"at least {MIN_EXCHANGES} of {specification.traffic.block_bytes} bytes"
    same = all(p["round_trip"]["message_bytes"] == specification.traffic.block_bytes for p in document["traffic"])
    return Check("exchanges", same and not wrong, wanted, in_turn(observed))


def check_transfer(specification, document) -> Check:
    """The whole file arrived."""
    wanted = specification.traffic.file_bytes
    got = [p["transfer"]["bytes"] for p in document["traffic"]]
    return Check("transfer", set(got) == {wanted}, f"{wanted} bytes", f"{words(got)} bytes")


def check_series(specification, document) -> Check:
    """The time series have a reading of every flow at every sample of the time that all flows have in common."""
    interval_ms = specification.traffic.sample_interval_ms
    if interval_ms is None:
        return Check("series", True, "none asked for", "none")
    wanted = [
        math.floor((flow.length_s - start_within_s(specification)) * 1e3 / interval_ms)
        for flow in specification.long_flows
    ]
    series = document.get("series", {}).get("sockets", ())
    connections = specification.connections
    if connections > specification.flows or specification.traffic.application == "ftp":
        # A subflow joins after the first has begun, a file's connection begins after the commands that ask for it.
        wanted = [math.floor(MOST_OF * count) for count in wanted]
    counts = [len(flow["time_s"]) for flow in series]
    enough = all(len(flow["time_s"]) >= wanted[flow["flow"]] for flow in series)
    return Check(
        "series",
        len(counts) == connections and enough,
        f"{connections} flows, each {words(wanted)} readings at least",
        f"{len(counts)} flows, {min(counts, default=0)} to {max(counts, default=0)} readings",
    )


def check_buffers(specification, document) -> Check:
    """No receiver's window and no send buffer held a connection back, unless the study limits that buffer.

    By the kernel's own account of a connection's busy time (tcpi_rwnd_limited, tcpi_sndbuf_limited), from the first
    look to the last: at the start a window opens with its buffer, which Linux enlarges once in a round trip. Where packets are
    lost it may go on opening for long, for the buffer grows with what is read in order: that is the kernel's way, and a result.
    A subflow of MPTCP has no send buffer of its own.
    """
    checked = {"receiver's window": "rwnd_limited_ms", "send buffer": "sndbuf_limited_ms"}
    asked = {"receive_buffer_bytes": "receiver's window", "send_buffer_bytes": "send buffer"}
    unasked = set(checked) - {what for key, what in asked.items() if getattr(specification.transport, key)}
    if specification.multipath.by == "mptcp":
        unasked -= {"send buffer"}
    limited = {what: list(limited_shares(document, column)) for what, column in checked.items()}
    lossy = packets_lost(document) > 0
    wrong = [
        what
        for what in unasked
        for share, last in limited[what]
        if share > MOST_LIMITED and not (what == "receiver's window" and lossy and is_opening(specification, last))
    ]
    wanted = f"{' and '.join(what for what in checked if what in unasked)} within {100 * MOST_LIMITED:g} % of the time"
    return Check(
        "buffers",
        not wrong,
        wanted if unasked else "as asked",
        ", ".join(
            f"{what} {100 * max((share for share, _ in shares), default=0):.1f} %" for what, shares in limited.items()
        ),
    )


def is_opening(specification, socket) -> bool:
    """Return whether a connection's window has room left in its largest buffer, of which packets' own overhead may take half.

    What arrived out of order fills a part of the window.
    """
    window = socket.get("peer_window_bytes")
    filled = socket.get("sacked_packets", 0) * socket["mss_bytes"]
    return window is not None and window + filled < specification.receive_buffer_bytes / OPENED


def limited_shares(document, column) -> Iterator[tuple[float, dict]]:
    """Yield of each connection the share of its busy time, from the first look to the last, that a column of limits has, and the last look."""
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
    """No more was delivered than the bottlenecks can pass in the time."""
    limit, rtts_ms = specification.goodput_limit_mbps, [pair.rtt_ms for pair in specification.pairs]
    # A sender hears of a packet as long after the bottleneck as its path is; two senders at one moment of packets so far apart.
    apart_ms = max(rtts_ms) - min(rtts_ms) if not specification.is_cable else 0
    return judge_goodput(specification, document, limit, range(specification.flows), (limit or 0) * apart_ms * 1e3 / 8)


def judge_goodput(specification, document, limit, flows, waiting_bytes=0) -> Check:
    """Return the `Check` of what some flows got together against a limit in Mbit/s, or None, of the bottleneck that they share.

    ``waiting_bytes`` may have passed it before the time that counts, and been delivered in it.
    """
    together, alone = (
        {flow: window for flow, window in of(document).items() if flow in flows}
        for of in (datagram_windows if specification.udp else windows, lifetime_windows)
    )
    if of_flows := together or alone:
        if together:
            # Flows of UDP have windows that begin and end apart: what all got counts over the time from the first to the last.
            begin_ns, end_ns = earliest_and_latest(together.values())
            if specification.udp:
                # iperf3 does not say by how much later a flow began whose opening was lost.
                end_ns += repeated_openings(specification, document) * 10**9
            goodput = sum(w.delivered_bytes[flow] for flow, w in together.items()) * 8e3 / (end_ns - begin_ns)
        else:
            # Where flows are never all there at once, none has more than the path by itself.
            goodput = max(window.goodput_mbps(flow) for flow, window in alone.items())
        shortest_s = min(window.end_ns - window.begin_ns for window in of_flows.values()) / 1e9
        if limit is not None and specification.timeline:
            ends = [(window.begin_ns, window.end_ns) for window in of_flows.values()]
            limit *= max(most_rate_mbps(specification, *times) for times in ends) / specification.rate_mbps
    else:
        goodput = sum(
            p["transfer"]["bytes"] * 8 / p["transfer"]["seconds"] / 1e6 for p in document["traffic"] if "transfer" in p
        )
        shortest_s = specification.expected_s
    if limit is None:
        return Check("goodput_ceiling", True, "no limit configured", f"{goodput:.3f} Mbit/s")
    # The shaper counts whole nanoseconds for a packet (psched_l2t_ns), which above 1 Gbit/s is a little too fast.
    packet_ns = specification.packet_bytes * 8e3 / specification.timeline.most("forward", "rate_mbps")
    limit *= packet_ns / math.floor(packet_ns)
    # An acknowledgement says of two packets at a time that they have arrived, the next one too if it was lost. The shaper
    # lets one super-packet pass whatever was before it.
    losses = [loss for _, loss in specification.timeline.values("reverse", "loss_percent") if loss < LOST_ALL]
    burst_packets = specification.direction("reverse").loss_burst_packets
    unsaid = 2 * (1 + lost_in_a_row(1 - 1 / burst_packets if burst_packets else max(losses) / 100))
    unsaid *= max(specification.paths, len(flows))
    offload = specification.transport.segmentation_offload
    unsaid_bytes = (unsaid + 1) * SUPER_PACKET_BYTES if offload else unsaid * specification.packet_bytes
    most = limit + (unsaid_bytes + waiting_bytes) * 8 / shortest_s / 1e6
    if not specification.virtual_clock:
        most += limit * REAL_TIMER_S / shortest_s  # the shaper's burst
    return Check("goodput_ceiling", goodput <= most, f"at most {most:.3f} Mbit/s", f"{goodput:.3f} Mbit/s")


def earliest_and_latest(windows_of_flows) -> tuple[int, int]:
    """Return the first begin and the last end of windows, in ns."""
    ends = [(window.begin_ns, window.end_ns) for window in windows_of_flows]
    return min(begin for begin, _ in ends), max(end for _, end in ends)


def lost_in_a_row(loss) -> int:
    """Return how many packets may be lost one after another with a chance of 1e-9 or more; ``loss`` is a fraction."""
    return math.floor(math.log(1e-9) / math.log(loss)) if loss > 0 else 0


def readings(document) -> list[dict]:
    """Return all looks at the flows' sockets in one list."""
    return [socket for look in document["sockets"] for socket in look["sockets"]]
