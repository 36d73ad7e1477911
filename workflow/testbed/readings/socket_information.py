"""The kernel's data on TCP connections: `ss -ti` without ss.

Kernel formats (include/uapi/linux): struct inet_diag_req_v2, inet_diag_msg,
tcpvegas_info, tcp_dctcp_info and tcp_bbr_info of inet_diag.h, SOCK_DIAG_BY_FAMILY
of sock_diag.h, struct tcp_info of tcp.h, a subflow's attributes of mptcp.h. `tcp_info`
has only ever been extended at its end.
"""

import errno
import functools
import socket
import struct
from functools import partial

from testbed.network.netlink import NETLINK_SOCK_DIAG, Channel, NetlinkError, attributes, text
from testbed.readings.cca_information import (
    BBR3_INFO,
    BBR_INFO,
    DCTCP_INFO,
    INET_DIAG_BBRINFO,
    INET_DIAG_DCTCPINFO,
    INFINITE,
    MBPS,
    MS,
    NONE_32,
    NONE_64,
    VEGAS_INFO,
    bbr,
    bbr3,
    dctcp,
    vegas,
)

SOCK_DIAG_BY_FAMILY = 20
FAMILIES = {"ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
#: From include/net/tcp_states.h.
TCP_ESTABLISHED = 1
INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG, INET_DIAG_SKMEMINFO = 2, 3, 4, 7
#: Indices in INET_DIAG_SKMEMINFO (SK_MEMINFO_* of sock_diag.h): the size of the send buffer, and the part in use.
SOCKET_MEMORY = struct.Struct("=12xI4xI")
#: Attribute of a request for a protocol whose number is too large for struct inet_diag_req_v2.
INET_DIAG_REQ_PROTOCOL, IPPROTO_MPTCP = 3, 262
PROTOCOL_ATTRIBUTE = struct.Struct("=HHI")
#: Offset of mptcpi_bytes_acked in struct mptcp_info (mptcp.h), since Linux 6.5.
MPTCP_ACKED_AT, COUNTER = 72, struct.Struct("=Q")
#: Attribute that the kernel sends without being asked: a connection's upper-layer protocol (ULP). It contains MPTCP's attribute, which
#: contains the token at this host.
INET_DIAG_ULP_INFO, INET_ULP_INFO_MPTCP, MPTCP_SUBFLOW_ATTR_TOKEN_LOC = 19, 3, 2
EXTENSIONS = sum(1 << (extension - 1) for extension in (INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG))
#: struct inet_diag_req_v2: family, protocol, extensions, pad, states (bits), then a sockid.
REQUEST = struct.Struct("=BBBxI48s")
ALL_SOCKETS = bytes(48)
#: struct inet_diag_msg: offsets of its state and its sockid, and its size.
STATE_AT, SOCKID_AT, MESSAGE_BYTES = 1, 4, 72
#: The beginning of struct inet_diag_sockid, in network order; then the local address.
PORTS = struct.Struct("!HH")
#: INET_DIAG_NOCOOKIE, twice: the request identifies a connection only by addresses and ports.
NO_COOKIE = b"\xff" * 8
ADDRESS_BYTES = {socket.AF_INET: 4, socket.AF_INET6: 16}
TOKEN = struct.Struct("=I")
#: Maximum number of connections for which individual requests are cheaper than searching the kernel's table.
FEW = 8
#: enum tcp_ca_state of tcp.h.
CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
#: Fields of struct tcp_info in the kernel's order: (format, column, divisor, values that mean unknown).
#: A field without a column is skipped.
TCP_INFO = (
    ("x", None, None, ()),  # tcpi_state: ESTABLISHED
    ("B", "state", None, ()),  # tcpi_ca_state
    ("3x", None, None, ()),  # retransmits, probes, backoff
    ("B", "ecn_options", None, ()),  # tcpi_options
    ("1x", None, None, ()),  # window scales
    ("B", "app_limited", None, ()),  # the lowest bit: tcpi_delivery_rate_app_limited
    ("I", "rto_ms", MS, ()),
    ("4x", None, None, ()),  # ato
    ("I", "mss_bytes", None, ()),  # tcpi_snd_mss
    ("4x", None, None, ()),  # rcv_mss
    ("I", "unacked_packets", None, ()),
    ("I", "sacked_packets", None, ()),
    ("I", "lost_packets", None, ()),
    ("I", "retransmits_unacked", None, ()),  # tcpi_retrans
    ("28x", None, None, ()),  # fackets, the four tcpi_last_* times, pmtu, rcv_ssthresh
    ("I", "rtt_ms", MS, (0,)),
    ("I", "rttvar_ms", MS, ()),
    ("I", "ssthresh_packets", None, (INFINITE,)),
    ("I", "cwnd_packets", None, ()),
    ("16x", None, None, ()),  # advmss, reordering, rcv_rtt, rcv_space
    ("I", "retransmits", None, ()),  # tcpi_total_retrans
    ("Q", "pacing_mbps", MBPS, (0, NONE_64)),
    ("Q", "max_pacing_mbps", MBPS, (NONE_64,)),
    ("Q", "bytes_acked", None, ()),
    ("20x", None, None, ()),  # bytes_received, segs_out, segs_in, notsent_bytes
    ("I", "rtt_min_ms", MS, (0, NONE_32)),
    ("8x", None, None, ()),  # data_segs_in, data_segs_out
    ("Q", "delivery_mbps", MBPS, (0,)),
    ("Q", "busy_ms", MS, ()),  # tcpi_busy_time: with data to send or unacknowledged
    ("Q", "rwnd_limited_ms", MS, ()),  # of busy_ms: limited by the receive window
    ("Q", "sndbuf_limited_ms", MS, ()),  # of busy_ms: limited by the send buffer
    ("4x", None, None, ()),  # delivered
    ("I", "delivered_ce_packets", None, ()),  # tcpi_delivered_ce: delivered while the receiver reported CE marks
    ("Q", "bytes_sent", None, ()),
    ("Q", "bytes_retransmitted", None, ()),  # tcpi_bytes_retrans
    ("12x", None, None, ()),  # dsack_dups, reord_seen, rcv_ooopack
    ("I", "peer_window_bytes", None, (0,)),  # tcpi_snd_wnd: the peer's advertised receive window
    ("16x", None, None, ()),  # rcv_wnd, rehash, three fields about RTOs
    ("I", "received_ce_packets", None, ()),  # tcpi_received_ce
    ("24x", None, None, ()),  # AccECN's byte counters
    ("B", "ecn_mode", None, ()),  # the lowest two bits: tcpi_ecn_mode, since Linux 7.0
)
#: Fields of struct tcp_info: tcpi_snd_mss, tcpi_sacked, tcpi_rtt and tcpi_bytes_acked (since Linux 4.1).
DELIVERY = struct.Struct("=16xI8xI36xI48xQ")
DELIVERY_COLUMNS = ("mss_bytes", "sacked_packets", "rtt_us", "bytes_acked")
#: Columns that are relevant only if packets may be marked.
OF_ECN = frozenset(("ecn_options", "delivered_ce_packets", "received_ce_packets", "ecn_mode"))
#: Bit of tcpi_options for negotiated ECN, and value of tcpi_ecn_mode for AccECN.
TCPI_OPT_ECN, ACCURATE = 8, 2


class SocketReader(Channel):
    """A netlink channel that reads the established TCP connections of a node.

    Open the channel before the traffic, use it for all readings, and close it afterwards. Raises `netlink.NetlinkError`.

    Parameters
    ----------
    ip_version : str
        ``ipv4`` or ``ipv6``. Connections of the other version are not read.
    mptcp : bool
        Whether to read MPTCP connections instead of their subflows (`mptcp_connection`). If True, the parameters below are ignored.
    ecn : bool
        Whether to also read the ECN fields.
    memory : bool
        Whether to also read the size of the send buffer and the part in use.
    brief : bool
        Whether to read only the fields of `delivery`, which takes a fifth of the time.
    uncounted_ports : set of int
        Connections from or to these ports don't count towards the number in `connections`.
    """

    def __init__(
        self, node, ip_version, mptcp=False, ecn=False, memory=False, brief=False, uncounted_ports=frozenset()
    ):
        super().__init__(node, NETLINK_SOCK_DIAG)
        self.uncounted_ports = uncounted_ports
        self.extensions = EXTENSIONS | (1 << (INET_DIAG_SKMEMINFO - 1) if memory else 0)
        self.read = delivery if brief else partial(connection, ecn=ecn)
        if brief:
            self.extensions = 1 << (INET_DIAG_INFO - 1)
        self.family, self.mptcp, self.ecn = FAMILIES[ip_version], mptcp, ecn
        self.sockids = []

    def connections(self, expected=None) -> list[dict]:
        """Return the kernel's data on each connection, in the kernel's order.

        ``expected`` is the number of connections when all flows have begun. If the last reading found this number of connections, and
        this number is at most `FEW`, these connections are requested individually. The kernel then needn't search its table, which all nodes
        share and which grows with the guest's memory. A closed connection is omitted, and the next reading searches the table again. Raises
        `netlink.NetlinkError`.
        """
        if len(self.sockids) == expected and expected <= FEW:
            named = [(sockid, self.named(sockid)) for sockid in self.sockids]
            self.sockids = [sockid for sockid, read in named if read]
            return [read for _, read in named if read]
        self.sockids = []
        return self.ask(SOCK_DIAG_BY_FAMILY, self.request(ALL_SOCKETS), "TCP connections", self.parse)

    def named_connections(self, sockids) -> list[dict]:
        """Return the kernel's data on those of the given connections that are established; each connection is requested individually.

        ``sockids`` are identifiers from `sockid_of`.
        """
        return [read for sockid in sockids if (read := self.named(sockid))]

    def named(self, sockid) -> dict | None:
        """Return the kernel's data on one connection, or None if the connection is no longer established."""
        try:
            (read,) = self.ask(
                SOCK_DIAG_BY_FAMILY,
                self.request(sockid),
                "TCP connection",
                partial(established, read=self.read),
                dump=False,
            )
        except NetlinkError as error:
            if error.number not in (errno.ENOENT, errno.ESTALE):
                raise
            return None
        return read

    def request(self, sockid) -> bytes:
        asked = REQUEST.pack(self.family, socket.IPPROTO_TCP, self.extensions, 1 << TCP_ESTABLISHED, sockid)
        if self.mptcp:
            asked += PROTOCOL_ATTRIBUTE.pack(PROTOCOL_ATTRIBUTE.size, INET_DIAG_REQ_PROTOCOL, IPPROTO_MPTCP)
        return asked

    def parse(self, buffer, start, end) -> dict:
        """Parse a connection and store its identifier: addresses, ports and the kernel's cookie."""
        if self.mptcp:
            return mptcp_connection(buffer, start, end)
        if self.uncounted_ports.isdisjoint(PORTS.unpack_from(buffer, start + SOCKID_AT)):
            self.sockids.append(bytes(buffer[start + SOCKID_AT : start + SOCKID_AT + len(ALL_SOCKETS)]))
        return self.read(buffer, start, end)


def sockid_of(local, remote) -> bytes:
    """Return the identifier of a connection for `SocketReader.named`: a struct inet_diag_sockid without a cookie.

    ``local`` and ``remote`` are pairs of address and port.
    """
    family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
    addresses = (socket.inet_pton(family, address).ljust(16, b"\0") for address, _ in (local, remote))
    return PORTS.pack(local[1], remote[1]) + b"".join(addresses) + bytes(4) + NO_COOKIE


def established(buffer, start, end, read) -> dict | None:
    """Return the result of ``read`` for a message, or None if the connection isn't established."""
    return read(buffer, start, end) if buffer[start + STATE_AT] == TCP_ESTABLISHED else None


def delivery(buffer, start, end) -> dict[str, int]:
    """Return the fields of a struct inet_diag_msg from which delivered bytes are computed.

    These are ``local_port``, ``remote_port``, ``mss_bytes``, ``sacked_packets``, ``rtt_us`` (0 without a sample) and ``bytes_acked``. Old
    kernels provide only the ports.
    """
    local, remote = PORTS.unpack_from(buffer, start + SOCKID_AT)
    read = {"local_port": local, "remote_port": remote}
    at, until = attributes(buffer, start + MESSAGE_BYTES, end).get(INET_DIAG_INFO, (0, 0))
    if until - at >= DELIVERY.size:
        read |= dict(zip(DELIVERY_COLUMNS, DELIVERY.unpack_from(buffer, at), strict=True))
    return read


def connection(buffer, start, end, ecn=False) -> dict:
    """Parse a struct inet_diag_msg and its attributes.

    Parameters
    ----------
    buffer : memoryview or bytes
    start, end : int
        Position of the message's body in the buffer.
    ecn : bool
        Whether to read the ECN fields: ``ecn``, in a study's terms, and the counts of CE-marked packets.

    Returns
    -------
    dict
        ``local_port``, ``remote_port``, ``cca``; the columns of `TCP_INFO` that the kernel's struct contains; the results of `vegas`,
        `dctcp` and `bbr` if the CCA provides them; and the result of `subflow` for MPTCP. Unknown values, for which ss prints nothing, are
        None: an RTT without a sample, an infinite ssthresh, and rates that are 0 or unlimited.

    Raises
    ------
    ValueError
        If the message or one of its attributes is truncated.
    """
    if end - start < MESSAGE_BYTES:
        raise ValueError(f"struct inet_diag_msg of {end - start} bytes, expected {MESSAGE_BYTES}")
    local, remote = PORTS.unpack_from(buffer, start + SOCKID_AT)
    values = attributes(buffer, start + MESSAGE_BYTES, end)
    read = {"local_port": local, "remote_port": remote, "cca": None}
    if INET_DIAG_CONG in values:
        read["cca"] = text(buffer, *values[INET_DIAG_CONG])
    if INET_DIAG_INFO in values:
        at, until = values[INET_DIAG_INFO]
        read |= tcp_info(buffer, at, until - at, ecn)
    if INET_DIAG_SKMEMINFO in values:
        names = ("send_buffer_bytes", "send_buffer_taken_bytes")
        read |= dict(zip(names, SOCKET_MEMORY.unpack_from(buffer, values[INET_DIAG_SKMEMINFO][0]), strict=True))
    if INET_DIAG_ULP_INFO in values:
        read |= subflow(buffer, start, *values[INET_DIAG_ULP_INFO])
    for kind, (size, parse) in OF_A_CCA.items():
        if kind in values:
            at, until = values[kind]
            if until - at < size:
                raise ValueError(f"attribute {kind} of a connection has {until - at} bytes, expected {size}")
            read |= parse(buffer, at)
            if kind == INET_DIAG_BBRINFO and until - at >= size + BBR3_INFO.size:
                read |= bbr3(buffer, at)
    return read


def mptcp_connection(buffer, start, end) -> dict[str, int | None]:
    """Return ``local_port`` and ``remote_port`` of an MPTCP connection's first subflow, and ``bytes_acked`` of the connection.

    ``bytes_acked`` is None before Linux 6.5.
    """
    local, remote = PORTS.unpack_from(buffer, start + SOCKID_AT)
    at, until = attributes(buffer, start + MESSAGE_BYTES, end).get(INET_DIAG_INFO, (0, 0))
    known = until - at >= MPTCP_ACKED_AT + COUNTER.size
    acked = COUNTER.unpack_from(buffer, at + MPTCP_ACKED_AT)[0] if known else None
    return {"local_port": local, "remote_port": remote, "bytes_acked": acked}


def subflow(buffer, message, at, until) -> dict:
    """Return the values that identify an MPTCP subflow; empty for other connections.

    The values are ``token``, a number that all subflows of a connection share at one host, and ``local_address`` as text. ``message`` is
    the position of the connection's message.
    """
    kinds = attributes(buffer, at, until)
    if INET_ULP_INFO_MPTCP not in kinds:
        return {}
    (token,) = TOKEN.unpack_from(
        buffer, attributes(buffer, *kinds[INET_ULP_INFO_MPTCP])[MPTCP_SUBFLOW_ATTR_TOKEN_LOC][0]
    )
    family, begin = buffer[message], message + SOCKID_AT + PORTS.size
    address = socket.inet_ntop(family, bytes(buffer[begin : begin + ADDRESS_BYTES[family]]))
    return {"token": token, "local_address": address}


@functools.cache
def layout(length, ecn=False) -> tuple[struct.Struct, tuple]:
    """Return the struct and the columns for a struct tcp_info of ``length`` bytes.

    Columns in `OF_ECN` are included only with ``ecn``.
    """
    fields, formats = [], "="
    for field in TCP_INFO:
        if struct.calcsize(formats + field[0]) > length:
            break
        left_out = field[1] in OF_ECN and not ecn
        formats += f"{struct.calcsize(field[0])}x" if left_out else field[0]
        fields += [field[1:]] if field[1] and not left_out else []
    return struct.Struct(formats), tuple(fields)


def tcp_info(buffer, at, length, ecn=False) -> dict:
    """Return the columns of `TCP_INFO` from a struct tcp_info of ``length`` bytes.

    Columns in `OF_ECN` are included only with ``ecn``.
    """
    fields, columns = layout(length, ecn)
    read = {
        column: None if value in unknown else value / divisor if divisor else value
        for value, (column, divisor, unknown) in zip(fields.unpack_from(buffer, at), columns, strict=True)
    }
    if "state" in read:
        if read["state"] >= len(CA_STATES):
            raise ValueError(f"tcpi_ca_state {read['state']}, expected 0 to {len(CA_STATES) - 1}")
        read["state"] = CA_STATES[read["state"]]
    if "app_limited" in read:
        read["app_limited"] = bool(read["app_limited"] & 1)
    if ecn:
        # Kernels before 7.0 have a different field in place of the mode.
        negotiated, mode = read.pop("ecn_options") & TCPI_OPT_ECN, read.pop("ecn_mode", 0)
        read["ecn"] = ("accurate" if mode & 3 == ACCURATE else "classic") if negotiated else "off"
    if read.get("rtt_ms") is None and "rttvar_ms" in read:
        read["rttvar_ms"] = None  # derived from the initial RTO, not measured
    if read.get("max_pacing_mbps", 0) is None:
        del read["max_pacing_mbps"]  # no limit
    return read


#: Attribute -> (minimum size in bytes, parser).
OF_A_CCA = {
    INET_DIAG_VEGASINFO: (VEGAS_INFO.size, vegas),
    INET_DIAG_DCTCPINFO: (DCTCP_INFO.size, dctcp),
    INET_DIAG_BBRINFO: (BBR_INFO.size, bbr),
}
