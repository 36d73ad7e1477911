"""Netlink requests from this process to the kernel, in a node's network namespace.

A socket always belongs to the network namespace in which it was created. A `Channel` therefore enters the node's namespace only once;
afterwards its socket can be used from outside. No process is started in the node. Message formats: netlink(7) and the kernel's
include/uapi/linux/netlink.h.
"""

import contextlib
import errno
import itertools
import os
import socket
import struct
from collections.abc import Iterator

NETLINK_ROUTE, NETLINK_SOCK_DIAG = 0, 4
NLMSG_ERROR, NLMSG_DONE = 2, 3
#: Without NLM_F_ECHO, net/sched/sch_api.c sends the response about a single qdisc only to listeners.
NLM_F_REQUEST, NLM_F_ACK, NLM_F_ECHO, NLM_F_DUMP = 0x1, 0x4, 0x8, 0x300
#: Flags of requests to set an object: replace an existing object; fail if the object exists; create the object if it doesn't exist.
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
#: struct nlmsghdr: length, type, flags, sequence number, port.
HEADER = struct.Struct("=IHHII")
#: struct nlattr: length, type (its two highest bits are flags).
ATTRIBUTE = struct.Struct("=HH")
TYPE_MASK = 0x3FFF
ERROR_NUMBER = struct.Struct("=i")
#: Maximum amount of data that the kernel sends at a time (net/netlink/af_netlink.c).
BUFFER_BYTES = 32_768
#: Counter of this process's channels, number of ports available to the process, and number of bits of a port number that hold the PID.
CHANNELS, PORTS, PROCESS_BITS = itertools.count(), 1024, 22


class NetlinkError(RuntimeError):
    """The kernel rejected a request, or its response can't be parsed; ``number`` is the errno, or None."""

    def __init__(self, text, number=None):
        super().__init__(text)
        self.number = number


class Channel:
    """A netlink socket in a node's network namespace.

    Raises `NetlinkError` if the namespace can't be entered or the socket can't be created.

    Parameters
    ----------
    node : bare_host.BareHost
        A host, or any object with a ``name`` and a ``namespace``, the descriptor of a network namespace.
    protocol : int
        Netlink protocol: NETLINK_ROUTE or NETLINK_SOCK_DIAG.
    """

    def __init__(self, node, protocol):
        self.node, self.sequence = node, 0
        self.buffer = memoryview(bytearray(BUFFER_BYTES))
        with network_namespace(node):
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        self._bind()
        # A response is available as soon as its request has been sent; waiting for a missing response would never end.
        self.socket.setblocking(False)

    def _bind(self):
        """Bind the socket to the next free port.

        Otherwise the kernel would choose a random port for a process's second channel.
        """
        for _ in range(PORTS):
            try:
                return self.socket.bind((os.getpid() + (next(CHANNELS) % PORTS << PROCESS_BITS), 0))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        raise NetlinkError(f"{self.node.name}: all {PORTS} netlink ports of this process are in use")

    def close(self) -> None:
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, kind, body, what, parse, dump=True) -> list:
        """Send one request and return the result of ``parse`` for each message of the response.

        Raises `NetlinkError` with the node, ``what`` and the reason.

        Parameters
        ----------
        kind : int
            Type of the request.
        body : bytes
            Content after the header.
        what : str
            Name of the requested object for error messages.
        parse : callable
            Function that parses a message's body; its arguments are a memoryview, and the body's start and end.
        dump : bool
            Whether to request all objects instead of the object that ``body`` names.
        """
        answers = []
        for start, end in self._sent(kind, body, NLM_F_DUMP if dump else NLM_F_ECHO, what):
            try:
                answers.append(parse(self.buffer, start, end))
            except (ValueError, struct.error) as error:
                raise NetlinkError(f"{self.node.name}: {what}: {error}") from error
            if not dump:
                break
        return answers

    def change(self, kind, body, what, flags=0) -> None:
        """Request a change and wait until the kernel has made the change.

        Raises `NetlinkError` with the node, ``what`` and the kernel's reason.

        Parameters
        ----------
        kind, body, what
            As for `ask`.
        flags : int
            Additional flags of the request; ``NLM_F_CREATE | NLM_F_EXCL`` for an object that must be new.
        """
        for _ in self._sent(kind, body, NLM_F_ACK | flags, what):
            pass

    def _sent(self, kind, body, flags, what) -> Iterator[tuple[int, int]]:
        """Send a request, and yield the position (start, end) in the buffer of each message of the response."""
        self.sequence += 1
        try:
            self.socket.send(HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST | flags, self.sequence, 0) + body)
            while True:
                length = self.socket.recv_into(self.buffer)
                for answer, start, end in messages(self.buffer, length, self.sequence):
                    if answer == NLMSG_ERROR and (number := -ERROR_NUMBER.unpack_from(self.buffer, start)[0]):
                        raise OSError(number, os.strerror(number))
                    if answer in (NLMSG_ERROR, NLMSG_DONE):
                        return
                    yield start, end
        except BlockingIOError:
            raise NetlinkError(f"{self.node.name}: {what}: the kernel's answer is incomplete") from None
        except (OSError, ValueError, struct.error) as error:
            raise NetlinkError(f"{self.node.name}: {what}: {error}", getattr(error, "errno", None)) from error


def messages(buffer, length, sequence) -> Iterator[tuple[int, int, int]]:
    """Yield (type, start, end) of the messages in the first ``length`` bytes of a buffer.

    Messages with a sequence number other than ``sequence`` are skipped.

    Raises `ValueError` if a message is truncated.
    """
    at = 0
    while at < length:
        if length - at < HEADER.size:
            raise ValueError(f"netlink header of {length - at} bytes, expected {HEADER.size}")
        size, kind, _, number, _ = HEADER.unpack_from(buffer, at)
        if not HEADER.size <= size <= length - at:
            raise ValueError(f"netlink message of {size} bytes, with {length - at} bytes left")
        if number == sequence:
            yield kind, at + HEADER.size, at + size
        at += size + 3 & ~3


def attributes(buffer, start, end) -> dict[int, tuple[int, int]]:
    """Return (start, end) of each attribute between two positions in a buffer, by type; if a type is repeated, the last attribute counts.

    Raises `ValueError` if an attribute is truncated.
    """
    values = {}
    while start + ATTRIBUTE.size <= end:
        size, kind = ATTRIBUTE.unpack_from(buffer, start)
        if not ATTRIBUTE.size <= size <= end - start:
            raise ValueError(f"netlink attribute of {size} bytes, with {end - start} bytes left")
        values[kind & TYPE_MASK] = start + ATTRIBUTE.size, start + size
        start += size + 3 & ~3
    return values


def attribute(kind, data) -> bytes:
    """Return an attribute encoded for a message; ``data`` may itself consist of attributes."""
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(data), kind) + data + bytes(-len(data) % 4)


def text(buffer, start, end) -> str:
    """Return the text of a string attribute, without the terminating zero."""
    return bytes(buffer[start:end]).rstrip(b"\0").decode()


@contextlib.contextmanager
def network_namespace(node) -> Iterator[None]:
    """Enter a node's network namespace for the duration of the context, in this thread only.

    Raises `NetlinkError` if the namespace can't be entered.
    """
    ours = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            os.setns(node.namespace, os.CLONE_NEWNET)
        except OSError as error:
            raise NetlinkError(f"{node.name}: network namespace: {error}", error.errno) from error
        try:
            yield
        finally:
            os.setns(ours, os.CLONE_NEWNET)
    finally:
        os.close(ours)
