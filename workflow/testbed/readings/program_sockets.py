"""The kernel's sockets of declared programs that send over TCP: the CCA of each flow, and its readings over time.

The senders' sockets are read like those of iperf3 (`socket_information`), but also after one side has closed the connection: a server that
writes a whole file and closes its socket leaves the sending to the kernel. A program may open several connections per flow, such as one
for control messages. The connection that delivered the most data counts.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from testbed.network.transport import available_ccas
from testbed.readings.packet_capture import LAST
from testbed.readings.sampling import add_reading, as_lists, received_marks
from testbed.readings.socket_information import FAMILIES, REQUEST, TCP_ESTABLISHED, SocketReader

#: Interval in ms at which sockets are read in runs without time series, and columns of these readings that the run document contains.
UNSAMPLED_MS = 100
UNSAMPLED_COLUMNS = ("cwnd_packets", "rtt_ms", "rttvar_ms", "rtt_min_ms", "retransmits")
#: Values of a connection's last reading that the run document contains; those about ECN only if packets may be marked.
LAST_VALUES = ("busy_ms", "rwnd_limited_ms", "sndbuf_limited_ms", "ecn", "delivered_ce_packets", "received_ce_packets")
#: States in which a socket may send data (include/net/tcp_states.h). FIN_WAIT2 is not among them: all data have arrived by then.
TCP_FIN_WAIT1, TCP_CLOSE_WAIT, TCP_LAST_ACK, TCP_CLOSING = 4, 8, 9, 11
SENDING = sum(1 << state for state in (TCP_ESTABLISHED, TCP_FIN_WAIT1, TCP_CLOSE_WAIT, TCP_LAST_ACK, TCP_CLOSING))


class SendingSocketReader(SocketReader):
    """A `SocketReader` that also reads connections that one side has closed but that may still send."""

    def request(self, sockid) -> bytes:
        """Return a request for sockets in the states `SENDING`."""
        return REQUEST.pack(self.family, socket.IPPROTO_TCP, self.extensions, SENDING, sockid)


class ProgramSockets:
    """Reader of the sending sockets of all program flows over TCP during the traffic (used like `flow_packets.PacketMeter`)."""

    #: Name of the section in the run document.
    name = "program_sockets"

    def __init__(self, path, specification):
        self._specification, self._stack = specification, ExitStack()
        self._interval_ms = specification.traffic.sample_interval_ms or UNSAMPLED_MS
        self._flows = specification.tcp_program_flows
        #: Sending host, side that sends, and the server's port -> number of the flow.
        self._names = {(flow.pair.sender, flow.program.data_from, flow.port): flow.number for flow in self._flows}
        self._connections, self._ccas, self._last, self._read = {flow.number: {} for flow in self._flows}, {}, {}, 0
        # A server that listens for both IP versions uses IPv6 sockets for both.
        ecn, senders = specification.may_mark, dict.fromkeys(flow.pair.sender for flow in self._flows)
        self._readers = [
            (host, self._stack.enter_context(SendingSocketReader(path.net[host], family, ecn=ecn)))
            for host in senders
            for family in FAMILIES
        ]
        receivers = {flow.pair.sender: flow.pair.receiver for flow in self._flows} if ecn else {}
        self._at_receivers = {
            sender: [
                self._stack.enter_context(SendingSocketReader(path.net[host], family, ecn=True)) for family in FAMILIES
            ]
            for sender, host in receivers.items()
        }

    def begin(self) -> None:
        """Do nothing."""

    def events(self, origin_ns) -> Iterator[tuple[float, int, Callable]]:
        """Yield the first event for `traffic.start_and_sample`."""
        yield 0.0, LAST, self._look

    def _look(self, at_s):
        received = received_marks(self._at_receivers)
        for host, reader in self._readers:
            # Identified by the kernel's identifier (sockid), because a client may use a port again.
            for read, name in zip(reader.connections(), reader.sockids, strict=True):
                local, remote = read["local_port"], read["remote_port"]
                flow = self._names.get((host, "server", local), self._names.get((host, "client", remote)))
                if flow is not None:
                    self._ccas[name] = read["cca"]
                    # A receiver that has closed its side no longer reports a count, so the last one is kept.
                    if (arrived := received.get((host, local, remote))) is not None:
                        read["received_ce_packets"] = arrived
                    self._last[name] = {
                        **self._last.get(name, {}),
                        **{key: read[key] for key in LAST_VALUES if key in read},
                    }
                    add_reading(self._connections[flow], name, at_s, read)
        self._read += 1
        # Computed as in `traffic.start_and_sample`, so that the times are those of other time series.
        return [(self._read * self._interval_ms / 1e3, LAST, self._look)]

    def read(self) -> None:
        """Do nothing, because sockets are read at fixed times only."""

    def end(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close all readers."""
        self._stack.close()

    def section(self) -> list[dict]:
        """Return the document's section ``program_sockets``.

        Returns
        -------
        list of dict
            For each program flow over TCP, ``flow``, the number of ``connections`` that were seen, the ``named_cca`` (the CCA in the
            program's name if it is one of the kernel's, otherwise None) and the ``cca`` at the last reading (None without a connection).
            With a connection, also ``last`` (`LAST_VALUES`) and ``series``: ``time_s`` and the columns of `sampling.Sampler.series`, or
            only `UNSAMPLED_COLUMNS` in runs without time series.
        """
        return [self._of_flow(flow) for flow in self._flows]

    def _of_flow(self, flow):
        connections, named = self._connections[flow.number], self._specification.kernel_cca(flow.program.cca)
        main = max(connections, key=lambda name: connections[name]["bytes_acked"][-1], default=None)
        series = as_lists(connections[main]) if main else {}
        if not self._specification.traffic.sample_interval_ms:
            series = {name: series[name] for name in ("time_s", *UNSAMPLED_COLUMNS) if name in series}
        return {
            "flow": flow.number, "connections": len(connections), "named_cca": named if named in available_ccas() else None,
            "cca": main and self._ccas[main], **({"last": self._last[main], "series": series} if main else {}),
        }  # fmt: skip
