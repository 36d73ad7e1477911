"""Delivered bytes of each flow over time, from which goodput is computed.

The sender's kernel counts the data that were acknowledged cumulatively (tcpi_bytes_acked) and selectively (tcpi_sacked). Together these
are all data that have arrived, and each byte counts once. The difference between two readings is therefore the amount delivered in
between, accurate to one packet. This holds even while the receiver waits for a lost segment, although the amount of in-order data
doesn't grow until this segment arrives. For an MPTCP connection, only in-order data at the connection level are counted
(mptcpi_bytes_acked). All flows are read at the same time; under a virtual clock, the times are equal to the nanosecond.
"""

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

from experiment.run_document import specification_of
from testbed.readings.socket_information import SocketReader

#: Size of iperf3's first message on a connection, which names the test; and this size plus 1, because the SYN counts as an acknowledged
#: byte.
COOKIE_BYTES, COOKIE_ACKED_BYTES = 37, 38
#: IP version -> the kernel's name for its UDP counters.
KERNEL_NAMES = {"ipv4": "Udp", "ipv6": "Udp6"}
#: Share of a `Window` to leave out at its start, so that the start-up of the flows is excluded.
START_UP = 0.25
#: Number of readings at intervals of half an RTT once the last flow's data are due, and number of equal steps until the first flow ends.
EARLY, PARTS = 8, 40


def reading_times_ns(starts_s, set_up_rtts, specification) -> list[int]:
    """Return the times at which deliveries are read, in ns since the traffic's origin.

    The readings begin when the first data of the last flow are due, and end when the first flow ends. The first readings are frequent, so
    that one of them is close to the time at which all flows have begun. The others are evenly spaced, regardless of losses on the path. If
    the times of the groups differ, such readings are planned for each set of flows with the same planned start and stop.

    Parameters
    ----------
    starts_s : list of float
        Start times of the flows in s since the origin.
    set_up_rtts : int
        Number of RTTs from a flow's start to its first data, without loss.
    """
    longest_s, shortest_s = (pick(specification.idle_rtts_ms) / 1e3 for pick in (max, min))
    lives_s, same_times = [], {}
    for start_s, flow in zip(starts_s, specification.long_flows, strict=False):
        lives_s.append((start_s, start_s + (set_up_rtts - 1) * shortest_s + flow.length_s))
        same_times.setdefault((flow.start_s, flow.stop_s), []).append(lives_s[-1])
    times_ns = set()
    for lives in [lives_s, *same_times.values()] if lives_s else []:
        begin_s = max(start_s for start_s, _ in lives) + set_up_rtts * longest_s
        end_s = min(end_s for _, end_s in lives)
        early = [begin_s + number * longest_s / 2 for number in range(EARLY)]
        regular = [begin_s + (end_s - begin_s) * number / PARTS for number in range(PARTS + 1)]
        times_ns |= {round(at_s * 1e9) for at_s in (*early, *regular) if at_s <= end_s and end_s > begin_s}
    return sorted(times_ns)


@dataclass(frozen=True, eq=False)
class Window:
    """A measurement window, and the bytes delivered in it: ``delivered_bytes`` maps each flow to a number of bytes."""

    begin_ns: int
    end_ns: int
    delivered_bytes: dict

    def goodput_mbps(self, flow) -> float:
        """Return the goodput of a flow in Mbit/s."""
        return self.delivered_bytes[flow] * 8e3 / (self.end_ns - self.begin_ns)


def windows(document, left_out=0.0) -> dict[int, Window]:
    """Return, by flow, the `Window` that all flows have in common.

    With TCP, the measurement window begins with the first reading at which all flows had delivered data, and ends with the last reading
    before any flow ended. If a flow should have begun with the others but began only after others had ended, it counts as having delivered
    nothing. If two programs carry all flows, the measurement window is the `planned_window`.

    With UDP, the measurement window begins and ends at interval boundaries in the reports of iperf3's servers, within the time in which all
    clients were sending. If opening datagrams were retransmitted, each flow has a separate measurement window.

    The result is empty if the application doesn't report delivered bytes, or if the flows had no time in common.

    Parameters
    ----------
    document : dict
        A run document.
    left_out : float
        Share of the measurement window to exclude at its start, such as `START_UP`.
    """
    run = specification_of(document)
    if run.per_side:
        window = planned_window(document, run, left_out)
        return dict.fromkeys(window.delivered_bytes, window) if window else {}
    if "delivered" in document:
        window = common_window(document["delivered"], left_out, same_times=not run.groups)
        return dict.fromkeys(window.delivered_bytes, window) if window else {}
    if not run.udp or run.traffic.application != "iperf3":
        return {}
    return separate_datagrams(document) if repeated_openings(document) else common_datagrams(document, left_out)


def common_window(delivered, left_out=0.0, same_times=False) -> Window | None:
    """Return the `Window` that all flows have in common, from a document's section ``delivered``, or None; see `windows`.

    ``same_times`` states whether all flows should have been sending at the same time.
    """
    times_ns = delivered["time_ns"]
    flows = {flow["flow"]: [count or 0 for count in flow["bytes"]] for flow in delivered["flows"]}
    # A flow that is starved by others may never deliver anything. A flow whose first packets were lost may begin after others have ended.
    alive = [[number for number, count in enumerate(counts) if count > COOKIE_ACKED_BYTES] for counts in flows.values()]
    begun = sorted(filter(None, alive))
    while begun and len(under_way := sorted(set.intersection(*map(set, begun)))) < 2:
        begun = begun[:-1] if same_times else []
    if not begun:
        return None
    from_ns = times_ns[under_way[0]] + left_out * (times_ns[under_way[-1]] - times_ns[under_way[0]])
    begin, end = next(number for number in under_way if times_ns[number] >= from_ns), under_way[-1]
    if begin == end:
        return None
    delivered_bytes = {flow: counts[end] - counts[begin] for flow, counts in flows.items()}
    return Window(times_ns[begin], times_ns[end], delivered_bytes)


def planned_window(document, run, left_out=0.0) -> Window | None:
    """Return the `Window` in which all flows should have been sending, or None if it contains fewer than two readings.

    It is used for runs in which two programs carry all flows. If hundreds of flows begin together, some flows lose several SYNs in a row.
    Waiting until the last flow has connected might leave no time at all, so a flow without a connection counts as having delivered
    nothing.
    """
    delivered = document.get("delivered", {"time_ns": [], "flows": []})
    starts_ms = [entry["start_offset_ms"] for entry in document["traffic"]]
    begin_ns = 1e6 * (max(starts_ms) + run.rtt_longest_ms)
    stops_ms = (start + 1e3 * flow.length_s for start, flow in zip(starts_ms, run.long_flows, strict=True))
    end_ns = 1e6 * min(stops_ms)
    inside = [number for number, at_ns in enumerate(delivered["time_ns"]) if begin_ns <= at_ns + 1 and at_ns < end_ns]
    if len(inside) < 2:
        return None
    times_ns = delivered["time_ns"]
    from_ns = times_ns[inside[0]] + left_out * (times_ns[inside[-1]] - times_ns[inside[0]])
    begin, end = next(number for number in inside if times_ns[number] >= from_ns), inside[-1]
    if begin == end:
        return None
    got = {one["flow"]: (one["bytes"][end] or 0) - (one["bytes"][begin] or 0) for one in delivered["flows"]}
    return Window(times_ns[begin], times_ns[end], got)


def lifetime_windows(document) -> dict[int, Window]:
    """Return the `Window` of each flow in a TCP run, from the first to the last reading with delivered data."""
    delivered = document.get("delivered", {"time_ns": [], "flows": []})
    windows_of_flows = {}
    for flow in delivered["flows"]:
        alive = [number for number, count in enumerate(flow["bytes"]) if (count or 0) > COOKIE_ACKED_BYTES]
        if len(alive) > 1:
            begin, end = alive[0], alive[-1]
            of_flow = {flow["flow"]: flow["bytes"][end] - flow["bytes"][begin]}
            windows_of_flows[flow["flow"]] = Window(delivered["time_ns"][begin], delivered["time_ns"][end], of_flow)
    return windows_of_flows


def datagram_intervals(process) -> list[tuple[int, int, int]]:
    """Return (begin, end, bytes) of the reporting intervals of a client's single UDP flow while the client was sending.

    Begin and end are in ns since the traffic's origin.
    """
    whole = [interval["sum"] for interval in process["server"]["intervals"]]
    # In the last intervals, the server waits for its client's last message. In the interval before, the rest of the queue arrives.
    while whole and not whole[-1]["bytes"]:
        whole.pop()
    whole = whole[:-1] or whole
    start_ns = process["start_offset_ms"] * 1e6
    return [(round(start_ns + 1e9 * one["start"]), round(start_ns + 1e9 * one["end"]), one["bytes"]) for one in whole]


def repeated_openings(document) -> int:
    """Return the number of opening datagrams that the clients of a UDP run retransmitted; a client retransmits one per second.

    If there are any, the start times of the flows are unknown, because iperf3's server reports intervals only from the first opening
    datagram that arrived.
    """
    run = specification_of(document)
    data = sum(process["client"]["end"]["sum"].get("packets", 0) for process in document["traffic"])
    return max(0, datagrams_sent(run, document) - data - packets_streamed(document) - run.flows)


def datagrams_sent(specification, document) -> int:
    """Return the number of datagrams that the senders' kernels sent."""
    counters, name = document["stack"]["tcp"], f"{KERNEL_NAMES[specification.ip_version]}OutDatagrams"
    return sum(counters[pair.sender].get(name, 0) for pair in specification.pairs)


def packets_streamed(document) -> int:
    """Return the number of packets that real-time streams sent; the kernels' UDP counters include these packets."""
    return sum(len(sent) for group in document.get("real_time", ()) for sent in group["sent_ns"])


def datagram_windows(document) -> dict[int, Window]:
    """Return a separate `Window` for each flow of a UDP run.

    A measurement window begins when its flow begins. Flows from which nothing arrived are omitted.
    """
    windows_of_flows = {}
    for process in document["traffic"]:
        if len(process["flows"]) == 1 and (counted := datagram_intervals(process)):
            (flow,) = process["flows"]
            windows_of_flows[flow] = Window(counted[0][0], counted[-1][1], {flow: sum(size for _, _, size in counted)})
    return windows_of_flows


def common_datagrams(document, left_out=0.0) -> dict[int, Window]:
    """Return, by flow, the `Window` that all flows of a UDP run have in common; see `windows`.

    The flows start at different times, and so do their reporting intervals. An interval that is only partly inside the measurement window
    counts in proportion.
    """
    own = datagram_windows(document)
    if not own:
        return {}
    intervals = {flow: datagram_intervals(process) for process in document["traffic"] for flow in process["flows"]}
    last, end_ns = max(own, key=lambda flow: own[flow].begin_ns), min(window.end_ns for window in own.values())
    shared = [begin for begin, _, _ in intervals[last] if begin < end_ns]
    begin_ns = shared[int(left_out * len(shared))] if shared else end_ns
    if begin_ns >= end_ns:
        return own
    inside = {
        flow: sum(
            size * max(0, min(end, end_ns) - max(begin, begin_ns)) / (end - begin) for begin, end, size in of_flow
        )
        for flow, of_flow in intervals.items()
    }
    window = Window(begin_ns, end_ns, {flow: round(size) for flow, size in inside.items()})
    return dict.fromkeys(inside, window)


def separate_datagrams(document) -> dict[int, Window]:
    """Return a separate `Window` for each flow of a UDP run whose flows started at unknown times.

    A measurement window begins with the first reporting interval throughout which the flow was sending. A flow from which nothing arrived
    is given the period of another flow and 0 bytes.
    """
    own, windows_of_flows = datagram_windows(document), {}
    for process in document["traffic"]:
        (flow,), intervals = process["flows"], datagram_intervals(process)
        while intervals and not intervals[0][2]:
            intervals.pop(0)
        counted = intervals[1:] or intervals
        if counted:
            windows_of_flows[flow] = Window(counted[0][0], counted[-1][1], {flow: sum(size for _, _, size in counted)})
        elif other := next(iter(own.values()), None):
            windows_of_flows[flow] = Window(other.begin_ns, other.end_ns, {flow: 0})
    return windows_of_flows


class Deliveries:
    """Reader of the delivered bytes of each flow; open it before the traffic starts.

    ``expected`` maps a sender to the number of its connections when all flows have begun.
    """

    def __init__(self, path, specification, expected):
        self._path, self._specification, self._expected = path, specification, expected
        self._mptcp = specification.multipath.by == "mptcp"
        self._readers, self._times_ns, self._readings, self._begun = {}, [], [], set()
        self._rtts_us = [] if specification.per_side else None

    def __enter__(self):
        with ExitStack() as stack:
            for node in self._path.senders:
                reader = SocketReader(
                    node, self._specification.ip_version, self._mptcp, brief=not self._mptcp,
                    uncounted_ports=self._specification.ports_of_programs,
                )  # fmt: skip
                self._readers[node.name] = stack.enter_context(reader)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._open.close()

    def read(self, time_ns) -> None:
        """Read the connections of all senders; ``time_ns`` is the time since the traffic's origin."""
        self._times_ns.append(time_ns)
        sockets = {
            (host, socket["local_port"], socket["remote_port"]): socket
            for host, reader in self._readers.items()
            for socket in reader.connections(None if self._mptcp else self._expected.get(host))
        }
        self._readings.append({name: delivered_bytes(socket) for name, socket in sockets.items()})
        if self._rtts_us is not None:
            self._rtts_us.append({name: socket.get("rtt_us") or None for name, socket in sockets.items()})
        self._begun |= {name for name, count in self._readings[-1].items() if (count or 0) > COOKIE_ACKED_BYTES}

    def missing(self, clients) -> int:
        """Return the number of ``clients`` with at least one connection that hasn't delivered data yet; control connections count too."""
        if self._specification.per_side:
            # These clients share a port, and have no control connection.
            due = {self._specification.local_port(flow) for client in clients for flow in client.flows}
            return len(due - {local for _, local, _ in self._begun})
        begun = Counter(port for _, _, port in self._begun)
        return sum(begun[client.port] <= len(client.flows) for client in clients)

    def result(self, flows) -> dict | None:
        """Return the document's section ``delivered``, or None if nothing was read.

        ``flows`` maps (sender, port of the sender, port of the receiver) to a flow.

        Returns
        -------
        dict or None
            ``time_ns``, the times of the readings since the origin, and ``flows``. Each entry of ``flows`` has ``flow`` and ``bytes``, the
            number of bytes delivered so far at each time (None while there is no connection). If two programs carry all flows, there are no
            reporting intervals, so each entry also has ``rtt_us``, the smoothed RTT at each time.
        """
        if not self._times_ns:
            return None
        columns = {"bytes": self._readings} | ({} if self._rtts_us is None else {"rtt_us": self._rtts_us})
        return {
            "time_ns": self._times_ns,
            "flows": [
                {"flow": flow}
                | {column: [reading.get(name) for reading in readings] for column, readings in columns.items()}
                for name, flow in sorted(flows.items(), key=lambda item: item[1])
            ],
        }


def delivered_bytes(socket) -> int | None:
    """Return the number of bytes delivered on a connection read by `SocketReader`, or None if the kernel doesn't report it."""
    acked = socket.get("bytes_acked")
    return acked if acked is None else acked + socket.get("sacked_packets", 0) * socket.get("mss_bytes", 0)
