"""Readings of sockets and of the bottleneck's queue during the traffic.

One process makes all readings through netlink. No program is started for a reading, and the guest's clock stands still during a reading.
Whether or not readings are made, the flows' packets therefore leave and arrive at the same times, to the nanosecond.
"""

import math
from array import array
from collections import Counter
from contextlib import ExitStack

from testbed.network.multipath import path_of_address
from testbed.readings.deliveries import COOKIE_BYTES
from testbed.readings.queue_information import QueueReader
from testbed.readings.socket_information import CA_STATES, FAMILIES, SocketReader

#: Columns of a flow's time series that contain integers.
WHOLE = frozenset(
    "cwnd_packets ssthresh_packets unacked_packets sacked_packets lost_packets retransmits bytes_sent bytes_acked "
    "bytes_retransmitted delivered_ce_packets bbr_version bbr_phase bbr_inflight_hi_packets bbr_inflight_lo_packets".split()
)
#: All columns of a flow's time series (described in `socket_information`).
COLUMNS = (
    "cwnd_packets", "ssthresh_packets", "rtt_ms", "rttvar_ms", "rtt_min_ms", "rto_ms", "pacing_mbps", "delivery_mbps",
    "unacked_packets", "sacked_packets", "lost_packets", "retransmits", "bytes_sent", "bytes_acked", "bytes_retransmitted",
    "bbr_bw_mbps", "bbr_rtt_min_ms", "bbr_pacing_gain", "bbr_cwnd_gain", "vegas_rtt_ms", "vegas_rtt_min_ms",
    "delivered_ce_packets",
    "bbr_version", "bbr_phase", "bbr_bw_hi_mbps", "bbr_bw_lo_mbps", "bbr_inflight_hi_packets", "bbr_inflight_lo_packets",
)  # fmt: skip
#: Column with the state of congestion control and loss recovery (tcpi_ca_state), the only text column.
STATE = "state"
QUEUE_COLUMNS = ("packets", "bytes", "drops")
#: Cumulative values in a queue's readings.
QUEUE_COUNTS = ("drops", "marks")


class Sampler:
    """Reader of sockets and queues, for individual readings and for time series.

    ``samples`` is the number of samples so far.

    Parameters
    ----------
    path : topology.NetworkPath
    specification : RunSpecification
    sampled : dict of str to list of bytes, optional
        Sender -> identifiers of the connections with time series (`socket_information.sockid_of`). By default all connections have time
        series.
    """

    def __init__(self, path, specification, sampled=None):
        self._path, self._specification = path, specification
        self._interval_ms = specification.traffic.sample_interval_ms
        self._looks, self._connections, self._times = [], {}, array("d")
        self._sampled, self._other_ports = sampled, specification.ports_of_programs
        self._expected, mptcp = connections_of_senders(specification), specification.multipath.by == "mptcp"
        self._paths, self._tokens = path_of_address(specification) if mptcp else {}, {}
        self._readers, self._at_receivers, self._queues = {}, {}, []
        self.samples = 0

    def __enter__(self):
        with ExitStack() as stack:
            ip_version, ecn = self._specification.ip_version, self._specification.may_mark
            for node in self._path.senders:
                reader = SocketReader(node, ip_version, ecn=ecn, memory=True, uncounted_ports=self._other_ports)
                self._readers[node.name] = stack.enter_context(reader)
            if ecn:
                # A server that listens for both IP versions uses IPv6 sockets for both.
                for pair, node in zip(self._path.pairs, self._path.receivers, strict=True):
                    readers = [stack.enter_context(SocketReader(node, family, ecn=True)) for family in FAMILIES]
                    self._at_receivers[pair.sender] = readers
            if self._interval_ms:
                interfaces = [*self._path.bottleneck["forward"], *self._path.netem["forward"]]
                for interface in interfaces[
                    : len(self._specification.bottlenecks) if self._specification.is_chain else 1
                ]:
                    reader = stack.enter_context(QueueReader(interface.node, interface.name))
                    before = reader.read()
                    columns = (*QUEUE_COLUMNS, *before)
                    series = {name: array("d" if name.endswith("_ms") else "q") for name in columns}
                    self._queues.append((reader, before, series))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._open.close()

    def _read_sockets(self, named=None):
        """Yield (sender, kernel's data on a connection) for each connection of each sender.

        With ``named``, read only the connections listed for each sender.
        """
        for host, reader in self._readers.items():
            for socket in (
                reader.connections(self._expected.get(host))
                if named is None
                else reader.named_connections(named.get(host, ()))
            ):
                if not self._other_ports.isdisjoint((socket.get("local_port"), socket.get("remote_port"))):
                    continue
                if "token" in socket:
                    socket["subflow"] = self._paths[socket.pop("local_address")]
                    if socket["subflow"] == 0:
                        self._tokens[host, socket["local_port"], socket["remote_port"]] = socket["token"]
                yield host, socket

    def look(self, time_s) -> None:
        """Read all sockets once; ``time_s`` is the time since the traffic's origin.

        If packets may be marked, the number of packets received with a CE mark is read from the receiver's socket.
        """
        sockets = [{"host": host, **socket} for host, socket in self._read_sockets()]
        received = received_marks(self._at_receivers)
        for socket in sockets if self._at_receivers else ():
            socket["received_ce_packets"] = received.get(name_of(socket["host"], socket))
        self._looks.append({"time_s": time_s, "sockets": sockets})

    def look_for_more(self, time_s) -> None:
        """Read all sockets once, and keep the reading only if it shows a new connection or the first data of a connection."""
        self.look(time_s)
        *before, last = (
            {(name_of(s["host"], s), s.get("bytes_sent", 0) > COOKIE_BYTES) for s in look["sockets"]}
            for look in self._looks
        )
        if last <= set().union(*before):
            self._looks.pop()

    def sample(self, time_s) -> None:
        """Add a reading of the queue and of all sampled sockets to the time series."""
        self.samples += 1
        self._times.append(time_s)
        for reader, before, series in self._queues:
            queue = reader.read()
            for name, values in series.items():
                values.append(queue[name] - (before[name] if name in QUEUE_COUNTS else 0))
        for host, socket in self._read_sockets(self._sampled):
            add_reading(self._connections, name_of(host, socket), time_s, socket)

    def seen(self) -> set[tuple[str, int, int]]:
        """Return (sender, port of the sender, port of the receiver) for each connection in any reading or sample.

        For MPTCP, the ports are those of the first subflow.
        """
        if self._paths:
            return set(self._tokens)
        looks = (name_of(s["host"], s) for look in self._looks for s in look["sockets"])
        return {*self._connections, *looks}

    def looks(self, flows) -> list[dict]:
        """Return the readings of the data connections, which are the document's section ``sockets``.

        ``flows`` maps (sender, port of the sender, port of the receiver) to a flow.

        Returns
        -------
        list of dict
            For each reading, ``time_s`` and ``sockets``. For each socket, ``host``, ``flow``, the kernel's data on the socket and, for
            MPTCP, ``subflow`` (the index of the subflow's path).
        """
        flow_of = self._flows_by_name(flows)
        return [
            {
                "time_s": look["time_s"],
                "sockets": [
                    {
                        "flow": flow,
                        **{name: value for name, value in socket.items() if value is not None and name != "token"},
                    }
                    for socket in look["sockets"]
                    if (flow := flow_of(name_of(socket["host"], socket))) is not None
                ],
            }
            for look in self._looks
        ]

    def series(self, flows) -> dict | None:
        """Return the time series of the data connections and of the queue, or None if there was no sample.

        ``flows`` is the same as for `looks`.

        Returns
        -------
        dict or None
            ``interval_ms``, ``sockets`` and ``queue``.

            Each of the ``sockets`` is a dict with ``flow`` (with MPTCP also ``subflow``), ``time_s``, ``state``, and those `COLUMNS` for
            which at least one value is known. All columns of a socket have the same length.

            ``queue`` is a dict with ``time_s``, the queued ``packets`` and ``bytes``, and the ``drops`` so far. For a discipline other than
            drop-tail, it also contains the ``marks`` so far and the delays that the discipline reports. For a chain, the key is ``queues``
            instead; its value is a list of such dicts, each with the number of its ``bottleneck``, from 1.
        """
        if not self.samples:
            return None
        flow_of = self._flows_by_name(flows)
        connections = ((flow_of(name), name) for name in self._connections)
        sockets = [
            {"flow": flow, **({"subflow": name[2]} if self._paths else {}), **as_lists(self._connections[name])}
            for flow, name in sorted(item for item in connections if item[0] is not None)
        ]
        queues = [
            {"time_s": list(self._times)} | {name: list(values) for name, values in series.items()}
            for _, _, series in self._queues
        ]
        if len(queues) > 1:
            queue = {"queues": [{"bottleneck": number, **one} for number, one in enumerate(queues, 1)]}
        else:
            queue = {"queue": queues[0]}
        return {"interval_ms": self._interval_ms, "sockets": sockets, **queue}

    def _flows_by_name(self, flows):
        """Return a function that maps a connection's identifier (`name_of`) to its flow, or to None if it has no flow.

        ``flows`` is the same as for `looks`.
        """
        if not self._paths:
            return flows.get
        by_token = {name[:1] + (token,): flows.get(name) for name, token in self._tokens.items()}
        return lambda name: by_token.get(name[:2])


def connections_of_senders(specification) -> dict[str, int]:
    """Return the number of connections of each sender: data connections (with MPTCP all subflows) and control connections."""
    flows = Counter(specification.flow_pair(flow).sender for flow in range(specification.flows))
    single = specification.traffic.processes == "single"
    each = {pair.sender: specification.subflows(pair.index) for pair in specification.pairs}
    controls = dict.fromkeys(flows, 1) if single else {} if specification.per_side else flows
    expected = {host: each[host] * (count + controls.get(host, 0)) for host, count in flows.items()}
    if specification.background == "server":
        expected[specification.pairs[0].sender] += 1  # the directory's connection
    return expected


def received_marks(at_receivers) -> dict[tuple[str, int, int], int]:
    """Return the packets with a CE mark that receivers have received, by connection as in `name_of`; empty if the kernel doesn't count them.

    ``at_receivers`` contains the readers of the receivers' sockets by sending host.
    """
    return {
        (sender, there["remote_port"], there["local_port"]): there["received_ce_packets"]
        for sender, readers in at_receivers.items()
        for reader in readers
        for there in reader.connections()
        if "received_ce_packets" in there
    }


def name_of(host, socket) -> tuple[str, int, int]:
    """Return an identifier of a connection that is unique in a run.

    It consists of the host and both ports or, for MPTCP, of the host, the token and the path.
    """
    if "token" in socket:
        return host, socket["token"], socket["subflow"]
    return host, socket["local_port"], socket["remote_port"]


def add_reading(connections, name, time_s, socket) -> None:
    """Add a reading of a socket to the connection's arrays in ``connections`` (name -> column -> array), which are created if missing."""
    if name not in connections:
        connections[name] = {column: array("d") for column in ("time_s", *COLUMNS, STATE)}
    series = connections[name]
    series["time_s"].append(time_s)
    series[STATE].append(CA_STATES.index(socket[STATE]))
    for column in COLUMNS:
        value = socket.get(column)
        series[column].append(math.nan if value is None else value)


def as_lists(series) -> dict[str, list]:
    """Return a connection's arrays as lists for JSON, with None for missing values; the columns in `WHOLE` are converted to integers."""
    lists = {"time_s": list(series["time_s"]), STATE: [CA_STATES[int(value)] for value in series[STATE]]}
    for name in COLUMNS:
        values = [None if math.isnan(value) else int(value) if name in WHOLE else value for value in series[name]]
        if any(value is not None for value in values):
            lists[name] = values
    return lists
