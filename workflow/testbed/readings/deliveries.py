"""How much of each flow had been delivered by when: what goodput is computed from.

The sender's kernel counts what was acknowledged, cumulatively (tcpi_bytes_acked) and selectively
(tcpi_sacked): data that have arrived, each once. Two readings so say to the packet what was delivered
between two moments, also while the receiver waits for a lost segment, after which the data in order
would grow by a whole window at once. MPTCP's connections are counted as a whole, in order
(mptcpi_bytes_acked). All flows are read at one moment, of which a virtual clock knows the nanosecond.
"""

from contextlib import ExitStack
from dataclasses import dataclass

from experiment.run_document import specification_of
from testbed.readings.socket_information import SocketReader

#: What iperf3 sends first on a new connection, to say which test it belongs to.
COOKIE_BYTES = 37
#: Share of the window that is left out where start-up is not to count.
START_UP = 0.25
#: Readings half an RTT apart from when the last flow's data are due, and equal parts of the time until the first flow ends.
EARLY, PARTS = 8, 40


def reading_times_ns(starts_s, set_up_rtts, specification) -> list[int]:
    """Return when deliveries are read, in ns since the traffic's origin.

    From when the last flow's data are due to when the first flow may end: often at first, so that
    one reading is close to when all flows have begun, then at equal steps, whatever is lost on the way.
    Groups with times of their own are read so for each distinct pair of a last begin and a first end.

    Parameters
    ----------
    starts_s : list of float
        When the flows start, in s since the origin.
    set_up_rtts : int
        RTTs that pass until their data are sent, without loss.
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
    """What was delivered of each flow between two moments; ``delivered_bytes``: flow -> bytes."""

    begin_ns: int
    end_ns: int
    delivered_bytes: dict

    def goodput_mbps(self, flow) -> float:
        """Return the goodput of a flow in Mbit/s."""
        return self.delivered_bytes[flow] * 8e3 / (self.end_ns - self.begin_ns)


def windows(document, left_out=0.0) -> dict[int, Window]:
    """Return flow -> its `Window`: one that all flows of TCP have in common, of UDP each flow's own.

    It begins with the first reading at which all flows had data, and ends with the last one before any
    flow ended. Of UDP it is whole reporting intervals of iperf3's server while the client was sending.

    There is none if nothing says what was delivered (other applications), or flows had no time in common.

    Parameters
    ----------
    document : dict
        A run document.
    left_out : float
        Share of the window, from its begin, that is not to count, such as `START_UP`.
    """
    if "delivered" in document:
        window = common_window(document["delivered"], left_out)
        return dict.fromkeys(window.delivered_bytes, window) if window else {}
    run = specification_of(document)
    if run.udp and run.traffic.application == "iperf3":
        of_processes = (datagram_window(process, left_out) for process in document["traffic"])
        return {flow: window for window in of_processes if window for flow in window.delivered_bytes}
    return {}


def common_window(delivered, left_out=0.0) -> Window | None:
    """Return the `Window` that all flows have in common in a document's section ``delivered``, or None; see `windows`."""
    times_ns = delivered["time_ns"]
    flows = {flow["flow"]: [count or 0 for count in flow["bytes"]] for flow in delivered["flows"]}
    # One that others starve may never deliver anything.
    begun = [counts for counts in flows.values() if max(counts) > COOKIE_BYTES]
    under_way = [number for number in range(len(times_ns)) if begun and all(c[number] > COOKIE_BYTES for c in begun)]
    if len(under_way) < 2:
        return None
    from_ns = times_ns[under_way[0]] + left_out * (times_ns[under_way[-1]] - times_ns[under_way[0]])
    begin, end = next(number for number in under_way if times_ns[number] >= from_ns), under_way[-1]
    if begin == end:
        return None
    delivered_bytes = {flow: counts[end] - counts[begin] for flow, counts in flows.items()}
    return Window(times_ns[begin], times_ns[end], delivered_bytes)


def lifetime_windows(document) -> dict[int, Window]:
    """Return flow -> the `Window` of its own life in a run of TCP: from the first reading with data of it to the last before it ended."""
    delivered = document.get("delivered", {"time_ns": [], "flows": []})
    windows_of_flows = {}
    for flow in delivered["flows"]:
        alive = [number for number, count in enumerate(flow["bytes"]) if (count or 0) > COOKIE_BYTES]
        if len(alive) > 1:
            begin, end = alive[0], alive[-1]
            of_flow = {flow["flow"]: flow["bytes"][end] - flow["bytes"][begin]}
            windows_of_flows[flow["flow"]] = Window(delivered["time_ns"][begin], delivered["time_ns"][end], of_flow)
    return windows_of_flows


def datagram_window(process, left_out=0.0) -> Window | None:
    """Return the `Window` of a client's one flow of UDP, from its start; None if nothing arrived."""
    whole = [interval["sum"] for interval in process["server"]["intervals"]]
    # In the last ones the server waits for its client's last message, before them the queue's rest arrives.
    while whole and not whole[-1]["bytes"]:
        whole.pop()
    whole = whole[:-1] or whole
    counted = whole[int(left_out * len(whole)) :]
    if not counted or len(process["flows"]) != 1:
        return None
    start_ns = process["start_offset_ms"] * 1e6
    begin_ns, end_ns = (round(start_ns + at * 1e9) for at in (counted[0]["start"], counted[-1]["end"]))
    return Window(begin_ns, end_ns, {process["flows"][0]: sum(interval["bytes"] for interval in counted)})


class Deliveries:
    """Reads what was delivered of each flow; open before the traffic.

    ``expected``: sender -> number of its connections once all flows have begun.
    """

    def __init__(self, path, specification, expected):
        self._path, self._specification, self._expected = path, specification, expected
        self._mptcp = specification.multipath.by == "mptcp"
        self._readers, self._times_ns, self._readings = {}, [], []

    def __enter__(self):
        with ExitStack() as stack:
            for node in self._path.senders:
                self._readers[node.name] = stack.enter_context(
                    SocketReader(node, self._specification.ip_version, self._mptcp)
                )
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._open.close()

    def read(self, time_ns) -> None:
        """Read all senders' connections; ``time_ns`` is since the traffic's origin."""
        self._times_ns.append(time_ns)
        self._readings.append(
            {
                (host, socket["local_port"], socket["remote_port"]): delivered_bytes(socket)
                for host, reader in self._readers.items()
                for socket in reader.connections(None if self._mptcp else self._expected.get(host))
            }
        )

    def result(self, flows) -> dict | None:
        """Return the document's section, None if nothing was read.

        ``flows``: (sender, its port, the receiver's port) -> flow. Returns ``time_ns`` since the origin; ``flows``: of
        each ``flow`` the ``bytes`` delivered so far at each time, None while there is no connection.
        """
        if not self._times_ns:
            return None
        return {
            "time_ns": self._times_ns,
            "flows": [
                {"flow": flow, "bytes": [reading.get(name) for reading in self._readings]}
                for name, flow in sorted(flows.items(), key=lambda item: item[1])
            ],
        }


def delivered_bytes(socket) -> int | None:
    """Return what was delivered of a connection, as `SocketReader` gives it, in bytes; None if the kernel doesn't say."""
    acked = socket.get("bytes_acked")
    return acked if acked is None else acked + socket.get("sacked_packets", 0) * socket.get("mss_bytes", 0)
