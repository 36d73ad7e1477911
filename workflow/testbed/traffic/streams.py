"""Flows with ``processes: per-side``: one program sends all flows of a run, and another program receives them.

Each program has one thread per flow. The kernel does the same work for a flow as with iperf3: the sender writes blocks and waits in the
kernel while the send buffer is full; the receiver also waits in the kernel, and discards the data there (MSG_WAITALL and MSG_TRUNC of
tcp(7)). A single thread that waited for any of thousands of sockets (epoll(7)) would be woken for every packet.

Usage: ``python3 -m testbed.traffic.streams send|receive PLAN RESULT`` (see `clocked`).
"""

import _thread
import errno
import os
import select
import socket
import sys
import threading

from testbed.traffic.clocked import address_family, allow_open_files, begin, read_plan, write_result

#: Amount of data in bytes after which a receiver is woken. It doesn't change how the kernel handles the data.
WAITS_FOR_BYTES = 1 << 20
#: Socket option that limits the pacing rate, in bytes/s (include/uapi/asm-generic/socket.h).
SO_MAX_PACING_RATE = 47
#: Stack size of a thread in bytes. It is small because these threads call only a few functions.
STACK_BYTES = 64 * 1024
#: Number of connections that may wait to be accepted, if net.core.somaxconn allows as many.
BACKLOG = 16_384
#: Buffer size in bytes that suffices for any kernel's struct tcp_info.
INFO_BYTES = 1024


class Sender:
    """Sender of all flows of a plan, each between its start and stop times.

    ``result`` contains columns with one entry per flow:

    - ``connected_ns`` and ``ended_ns``: times in ns, or None if the flow didn't connect or end;
    - ``written_bytes``: the number of bytes written;
    - ``info``: the kernel's struct tcp_info in hexadecimal digits, read after all data had been received.

    ``failures`` maps the number of a failed flow to the reason.

    Parameters
    ----------
    plan : dict
        ``hosts`` is a list with a dict for each sending host: ``namespace`` (a descriptor), and the receiver's ``address`` and ``port``.
        Columns with one entry per flow are ``host`` (index in ``hosts``), ``local_port``, ``cca``, ``start_ns`` and ``stop_ns``. Settings
        for all flows are ``block_bytes``, ``segment_bytes`` (or None), ``max_pacing_bytes_per_s`` (or None) and ``no_delay``.
    """

    def __init__(self, plan):
        self.plan, self.block = plan, bytes(plan["block_bytes"])
        count = len(plan["host"])
        self.stopped, self.left, self.all_ended = bytearray(count), count, threading.Lock()
        self.result = {
            **{name: [None] * count for name in ("connected_ns", "ended_ns", "info")},
            "written_bytes": [0] * count,
            "failures": {},
        }
        self.sockets = self._opened()
        self.all_ended.acquire()

    def _opened(self):
        """Return the flows' sockets, each created in the network namespace of the flow's host."""
        plan, sockets, of_host = self.plan, [None] * len(self.plan["host"]), {}
        for number, host in enumerate(plan["host"]):
            of_host.setdefault(host, []).append(number)
        for host, numbers in of_host.items():
            os.setns(plan["hosts"][host]["namespace"], os.CLONE_NEWNET)
            family = address_family(plan["hosts"][host]["address"])
            for number in numbers:
                one = sockets[number] = socket.socket(family, socket.SOCK_STREAM)
                one.bind(("", plan["local_port"][number]))
                if plan["cca"][number] is not None:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, plan["cca"][number].encode())
                if plan["segment_bytes"] is not None:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, plan["segment_bytes"])
                if plan["max_pacing_bytes_per_s"] is not None:
                    one.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, plan["max_pacing_bytes_per_s"])
                if plan["no_delay"]:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sockets

    def run(self, clock) -> None:
        """Start and stop all flows at their times, and wait until all flows have ended."""
        self.clock = clock
        events = [(at_ns, 0, number) for number, at_ns in enumerate(self.plan["start_ns"])]
        events += [(at_ns, 1, number) for number, at_ns in enumerate(self.plan["stop_ns"])]
        wait = select.poll()
        wait.register(clock, select.POLLIN)
        due_ns = None
        for at_ns, stops, number in sorted(events):
            if at_ns != due_ns:
                clock.ring_at(at_ns)
                wait.poll()
                clock.quiet()
                due_ns = at_ns
            if stops:
                self._stop(number)
            else:
                _thread.start_new_thread(self._carry, (number,))
        self.all_ended.acquire()

    def _stop(self, number):
        """Stop writing data to a flow; data that have already been written still arrive."""
        self.stopped[number] = 1
        try:
            self.sockets[number].shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno != errno.ENOTCONN:
                raise

    def _carry(self, number):
        try:
            self._send(number)
        except OSError as error:
            self.result["failures"][str(number)] = errno.errorcode.get(error.errno, str(error))
        self.left -= 1
        if not self.left:
            self.all_ended.release()

    def _send(self, number):
        """Connect a flow, send its data, and wait until all written data have arrived."""
        one, result = self.sockets[number], self.result
        there = self.plan["hosts"][self.plan["host"][number]]
        one.connect((there["address"], there["port"]))
        result["connected_ns"][number] = self.clock.now_ns()
        send, block, written = one.send, self.block, 0
        try:
            while not self.stopped[number]:
                written += send(block)
        except BrokenPipeError:
            pass
        result["written_bytes"][number] = written
        # The receiver closes the connection when it has received all data.
        one.recv(1)
        result["ended_ns"][number] = self.clock.now_ns()
        result["info"][number] = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES).hex()
        one.close()


class Receiver:
    """Receiver of all data sent to the hosts of a plan; it runs until standard input ends.

    ``result`` is a list with one dict per host, which maps the sender's port to the number of bytes received.

    Parameters
    ----------
    plan : dict
        ``hosts`` is a list with a dict for each receiving host: ``namespace`` (a descriptor), ``address`` and ``port``.
    """

    def __init__(self, plan):
        self.buffer, self.under_way, self.ended = memoryview(bytearray(WAITS_FOR_BYTES)), 0, threading.Condition()
        self.listening = {}
        self.result = [{} for _ in plan["hosts"]]
        for number, host in enumerate(plan["hosts"]):
            os.setns(host["namespace"], os.CLONE_NEWNET)
            one = socket.create_server(
                (host["address"], host["port"]), family=address_family(host["address"]), backlog=BACKLOG
            )
            self.listening[one.fileno()] = one, self.result[number]

    def run(self) -> None:
        """Accept connections and receive data until the input and all connections have ended."""
        wait = select.poll()
        for handle in (sys.stdin.fileno(), *self.listening):
            wait.register(handle, select.POLLIN)
        while True:
            ready = [handle for handle, _ in wait.poll()]
            for handle in ready:
                if handle in self.listening:
                    listening, received = self.listening[handle]
                    connection, (_, port, *_) = listening.accept()
                    self.under_way += 1
                    _thread.start_new_thread(self._receive, (connection, port, received))
            if ready == [sys.stdin.fileno()]:
                break
        with self.ended:
            self.ended.wait_for(lambda: not self.under_way)

    def _receive(self, connection, port, received):
        take, buffer, count, flags = connection.recv_into, self.buffer, 0, socket.MSG_WAITALL | socket.MSG_TRUNC
        try:
            while got := take(buffer, 0, flags):
                count += got
        except ConnectionResetError:
            pass
        received[port] = count
        connection.close()
        with self.ended:
            self.under_way -= 1
            self.ended.notify()


def main(what, plan, result) -> None:
    """Run one side of a plan; ``plan`` and ``result`` are file paths."""
    allow_open_files()
    threading.stack_size(STACK_BYTES)
    # Threads wait in the kernel and needn't yield to each other.
    sys.setswitchinterval(3600)
    if what == "send":
        side = Sender(read_plan(plan))
        side.run(begin())
    else:
        side = Receiver(read_plan(plan))
        begin()
        side.run()
    write_result(result, side.result)


if __name__ == "__main__":
    main(*sys.argv[1:])
