"""Background traffic of a client-server network: h2 sends DNS, DHCP and LDAP requests to h1.

This is a model: the sizes come from the protocols, and the rates are freely chosen. One client sends as many requests as the two or three
dozen machines of a small office. Messages don't depend on the IP version; only the packets' headers do.

=========  ========  ====================================================  ===================================
service    port      request                                               response
=========  ========  ====================================================  ===================================
dns        UDP 53    header of 12 bytes, a name, type and class            the request's sections, and records;
                     (RFC 1035, 4.1)                                       at most 512 bytes (RFC 1035, 2.3.4)
dhcp       UDP 67    300 bytes, the size of a BOOTP message (RFC 951;      its acknowledgement, with as many
                     RFC 2131, 2); unicast, as when a client renews a      options as a packet of 576 bytes can
                     lease (RFC 2131, 4.4.5)                               hold (RFC 2131, 2)
directory  TCP 389   a search with a filter and attributes, over a         an entry with some attributes, and
                     bound connection (RFC 4511, 4.5.1)                    the result (RFC 4511, 4.5.2)
=========  ========  ====================================================  ===================================

The requests to each service form a Poisson process: the times between them are exponentially distributed. Sizes are uniformly distributed
within a range. Each service receives its first request at the start, as from a client that is booting. A request contains the length of
the response, so only the client needs random numbers. Its random number generator is seeded from the run's seed.

``python3 -m testbed.traffic.background serve ADDRESS`` is the server and ``... ask ADDRESS SEED`` the client. At the end of its input,
each program prints its counts and exits.
"""

import json
import os
import random
import selectors
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from testbed.checks.check import Check
from testbed.errors import TrafficError
from testbed.network.addresses import destination


@dataclass(frozen=True)
class Service:
    """A service: port, request rate, and the ranges (from, to) of request and response sizes in bytes."""

    name: str
    protocol: str
    port: int
    requests_per_s: float
    request_bytes: tuple
    answer_bytes: tuple


SERVICES = (
    Service("dns", "udp", 53, 20.0, (28, 60), (44, 512)),
    Service("dhcp", "udp", 67, 2.0, (300, 300), (300, 548)),
    Service("directory", "tcp", 389, 10.0, (100, 300), (500, 4000)),
)
#: Header of a request: number, length of the request, length of the response. Responses begin with a header of the same form.
HEAD = struct.Struct("!IHH")
#: Maximum length of a message in bytes.
MOST_BYTES = 65_535
#: Time to wait for responses at the end, in s.
PATIENCE_S = 1.0
#: Minimum share of answered requests, for each service. It is below 1, because a full queue may drop requests or responses.
ANSWERED = 0.9


class Background:
    """The server on h1 and the client on h2, as a context manager; it does nothing in a run without background traffic.

    ``result`` maps a service to a dict with the client's counts (``requests``, ``answers``, ``request_bytes`` and ``answer_bytes``),
    ``answer_segments`` (the minimum number of packets that can carry the responses), and ``served`` (the number of responses that the
    server sent). Byte counts are payload.
    """

    def __init__(self, path, specification):
        self.result, self._wanted = None, specification.background == "server"
        if self._wanted:
            (pair,) = specification.pairs
            address = destination(specification, pair, pair.sender)
            seed = specification.substream("background")
            self._places = (
                (path.net[pair.sender], ["serve", address]),
                (path.net[pair.receiver], ["ask", address, str(seed)]),
            )

    def __enter__(self):
        if self._wanted:
            # The server listens before the client asks.
            self._processes = [start(node, arguments) for node, arguments in self._places]
        return self

    def __exit__(self, kind, *_):
        if not self._wanted:
            return
        # Stop the client first, so that the last requests are still answered.
        server, client = self._processes
        if kind is not None:
            client.kill(), server.kill()
            return
        asked, served = finish("client", client), finish("server", server)
        self.result = {name: counts | {"served": served[name]} for name, counts in asked.items()}


def start(node, arguments) -> subprocess.Popen:
    """Start the server or the client on a node, and wait until the program is ready."""
    process = node.popen(
        [sys.executable, "-B", "-m", "testbed.traffic.background", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ,
    )  # fmt: skip
    if process.stdout.readline() != b"ready\n":
        process.kill()
        raise TrafficError(
            f"background traffic on {node.name}: {process.communicate()[1].decode().strip() or 'no message'}"
        )
    return process


def finish(who, process) -> dict:
    """Close a program's input, wait until the program has ended, and return its counts."""
    output, errors = process.communicate()
    if process.returncode != 0:
        raise TrafficError(
            f"{who} of the background traffic: exit status {process.returncode}: {errors.decode().strip()}"
        )
    return json.loads(output)


def check_background(specification, document) -> Check:
    """Check that each service received requests, and answered at least the share `ANSWERED` of them."""
    wrong, observed = [], []
    for service in SERVICES:
        counts = document.get("background", {}).get(service.name, {"requests": 0, "answers": 0})
        if counts["requests"] == 0 or counts["answers"] < ANSWERED * counts["requests"]:
            wrong.append(service.name)
        observed.append(f"{service.name} {counts['answers']} of {counts['requests']} answered")
    return Check(
        "background",
        not wrong,
        f"at least {ANSWERED:.0%} of the requests to each service answered",
        ", ".join(observed),
    )


def messages(service, seed) -> Iterator[tuple[float, int, int]]:
    """Yield an endless sequence of requests: (time in s since the start, length of the request, length of the response).

    The first request is at time 0.
    """
    draw, at = random.Random(f"{seed} {service.name}"), 0.0
    while True:
        yield at, draw.randint(*service.request_bytes), draw.randint(*service.answer_bytes)
        at += draw.expovariate(service.requests_per_s)


def padded(number, length, answer_bytes) -> bytes:
    """Return a message of ``length`` bytes: a header, followed by zeros."""
    return HEAD.pack(number, length, answer_bytes).ljust(length, b"\0")


def socket_of(service, address) -> socket.socket:
    """Return an unconnected socket for a service, with the IP version of ``address``."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    kind = socket.SOCK_STREAM if service.protocol == "tcp" else socket.SOCK_DGRAM
    one = socket.socket(family, kind)
    if kind == socket.SOCK_STREAM:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


class Requests:
    """Assembles complete messages from the data that arrive on a connection."""

    def __init__(self):
        self._waiting = b""

    def whole(self, received) -> list[tuple[int, int, int]]:
        """Add received data, and return (number, length, length of the response) for each message that is now complete."""
        self._waiting += received
        messages = []
        while len(self._waiting) >= HEAD.size:
            number, length, answer_bytes = HEAD.unpack_from(self._waiting)
            if len(self._waiting) < length:
                break
            messages.append((number, length, answer_bytes))
            self._waiting = self._waiting[length:]
        return messages


def serve(address, requests_end) -> dict[str, int]:
    """Answer requests until the file ``requests_end`` ends, and return the number of responses by service."""
    served = {service.name: 0 for service in SERVICES}
    with selectors.DefaultSelector() as selector:
        selector.register(requests_end, selectors.EVENT_READ, None)
        for service in SERVICES:
            listening = socket_of(service, address)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address, service.port))
            if service.protocol == "tcp":
                listening.listen()
            selector.register(listening, selectors.EVENT_READ, (service, None))
        print("ready", flush=True)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    return served
                service, cut = key.data
                if service.protocol == "udp":
                    request, client = key.fileobj.recvfrom(MOST_BYTES)
                    number, _, answer_bytes = HEAD.unpack_from(request)
                    key.fileobj.sendto(padded(number, answer_bytes, 0), client)
                    served[service.name] += 1
                elif cut is None:
                    connection, _ = key.fileobj.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    selector.register(connection, selectors.EVENT_READ, (service, Requests()))
                elif received := key.fileobj.recv(MOST_BYTES):
                    for number, _, answer_bytes in cut.whole(received):
                        key.fileobj.sendall(padded(number, answer_bytes, 0))
                        served[service.name] += 1
                else:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()


class Timer:
    """A kernel timer (timerfd_create(2)); unlike reading the guest's clock, waiting for the timer doesn't advance the clock."""

    def __enter__(self):
        self._timer = os.timerfd_create(time.CLOCK_MONOTONIC, flags=os.TFD_NONBLOCK)
        return self

    def __exit__(self, *_):
        os.close(self._timer)

    def fileno(self) -> int:
        return self._timer

    def begin(self) -> None:
        """Use the current time as the origin of all times."""
        self._origin_ns = time.monotonic_ns()

    def set(self, at_s) -> None:
        """Set the timer to ``at_s`` seconds after the origin."""
        os.timerfd_settime_ns(self._timer, flags=os.TFD_TIMER_ABSTIME, initial=self._origin_ns + round(at_s * 1e9) + 1)

    def stop(self) -> None:
        """Clear the expiration of the timer, so that the timer is no longer readable."""
        os.read(self._timer, 8)


class Asking:
    """The client of one service: messages to send, and counts of sent and received messages."""

    def __init__(self, service, address, seed):
        self.socket = socket_of(service, address)
        self.socket.connect((address, service.port))
        self._messages, self._cut = messages(service, seed), Requests() if service.protocol == "tcp" else None
        self._next = next(self._messages)
        self._segment = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG) if self._cut else MOST_BYTES
        self.counts = dict.fromkeys(("requests", "answers", "request_bytes", "answer_bytes", "answer_segments"), 0)

    @property
    def due_s(self) -> float:
        return self._next[0]

    @property
    def unanswered(self) -> int:
        return self.counts["requests"] - self.counts["answers"]

    def ask(self) -> None:
        """Send the next request."""
        _, length, answer_bytes = self._next
        self.socket.sendall(padded(self.counts["requests"], length, answer_bytes))
        self.counts["requests"] += 1
        self.counts["request_bytes"] += length
        self._next = next(self._messages)

    def receive(self) -> None:
        """Receive the data that have arrived."""
        received = self.socket.recv(MOST_BYTES)
        if self._cut and not received:
            raise OSError("the directory's connection was closed")
        lengths = [length for _, length, _ in self._cut.whole(received)] if self._cut else [len(received)]
        for length in lengths:
            self.counts["answers"] += 1
            self.counts["answer_bytes"] += length
            self.counts["answer_segments"] += -(-length // self._segment)


def ask(address, seed, requests_end) -> dict[str, dict[str, int]]:
    """Send each request at its time until the file ``requests_end`` ends, wait for the responses, and return the counts by service.

    The connection for LDAP is established before the first request.
    """
    asking = {service.name: Asking(service, address, seed) for service in SERVICES}
    with selectors.DefaultSelector() as selector, Timer() as timer:
        selector.register(requests_end, selectors.EVENT_READ, "end")
        selector.register(timer, selectors.EVENT_READ, "time")
        for one in asking.values():
            selector.register(one.socket, selectors.EVENT_READ, one)
        print("ready", flush=True)
        ending = False
        timer.begin()
        while True:
            due = min(asking.values(), key=lambda one: one.due_s)
            if not ending:
                timer.set(due.due_s)
            # Handle the end of the input last, because this resets the timer, which may have fired at the same time.
            for key, _ in sorted(selector.select(), key=lambda event: event[0].data == "end"):
                if key.data == "end":
                    selector.unregister(requests_end)
                    timer.set(due.due_s + PATIENCE_S)
                    ending = True
                elif key.data == "time":
                    timer.stop()
                    if ending:
                        return {name: one.counts for name, one in asking.items()}
                    due.ask()
                else:
                    key.data.receive()
            if ending and not any(one.unanswered for one in asking.values()):
                return {name: one.counts for name, one in asking.items()}


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    counted = serve(*arguments, sys.stdin) if what == "serve" else ask(*arguments, sys.stdin)
    print(json.dumps(counted))
