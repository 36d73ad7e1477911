"""Web objects: nginx on the sender, and a client on the receiver.

The client requests each object over a separate connection. It is a program of this module, with one process for all objects of a group; a
browser or curl would have to be started for each of thousands of objects. The client connects at the random time drawn for the object,
sends one request (HTTP/1.1, ``Connection: close``) and reads to the last byte. The completion time is measured from the call of connect(2)
to the last byte, so it includes the handshake and the request.

The server's CCA is set on the listening socket, and accepted sockets inherit it (tcp_create_openreq_child in net/ipv4/tcp_minisocks.c).
nginx inherits the listening socket from this program through the environment variable NGINX, as in an upgrade on the fly.
(Without a master process, nginx would crash because of this variable.) Objects are sparse files in memory, one per size.

``python3 -m testbed.traffic.web serve ADDRESS PORT CCA FOLDER`` becomes nginx, and ``... ask PLAN RESULT`` is the client.
"""

import errno
import os
import selectors
import socket
import sys
from pathlib import Path

from experiment.web_objects import NOT_COMPLETE
from testbed.traffic.clocked import address_family, allow_open_files, begin, read_plan, write_result

#: Listen backlog, and maximum number of simultaneous connections of nginx.
BACKLOG, CONNECTIONS = 4096, 16_384
CONFIGURATION = """
daemon off; worker_processes 1; user root; error_log stderr error; pid {folder}/nginx.pid;
events {{ worker_connections {connections}; }}
http {{
  access_log off; server_tokens off; etag off; default_type application/octet-stream;
  sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_timeout 0; lingering_close off; send_timeout 3600; open_file_cache max=1000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen {listen} backlog={backlog}; root {folder}/objects; }}
}}
"""
#: Maximum number of bytes read at once.
CHUNK_BYTES = 262_144
END_OF_HEADER = b"\r\n\r\n"


def authority(address, port) -> str:
    """Return an address and port in the form used in URLs."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def write_objects(folder, sizes) -> None:
    """Create a server's files: one file per size, with the size as its name."""
    objects = Path(folder, "objects")
    objects.mkdir(parents=True)
    for size in set(sizes):
        with (objects / str(size)).open("wb") as stream:
            stream.truncate(size)


def serve(address, port, cca, folder) -> None:
    """Open a listening socket with a CCA, and replace this process with nginx.

    This function doesn't return.
    """
    allow_open_files()
    listening = socket.socket(address_family(address), socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if listening.family == socket.AF_INET6:
        listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cca.encode())
    listening.bind((address, int(port)))
    listening.listen(BACKLOG)
    listening.set_inheritable(True)
    configuration = Path(folder, "nginx.conf")
    values = {"listen": authority(address, port), "backlog": BACKLOG, "connections": CONNECTIONS, "folder": folder}
    configuration.write_text(CONFIGURATION.format(**values))
    environment = os.environ | {"NGINX": f"{listening.fileno()};"}
    os.execvpe("nginx", ["nginx", "-e", "stderr", "-p", folder, "-c", str(configuration)], environment)


class Fetch:
    """The transfer of one object: number, size, and the data received so far."""

    def __init__(self, number, size, address, port, started_ns):
        self.number, self.size, self.started_ns = number, size, started_ns
        self.header_bytes, self.body_bytes, self._head = None, 0, b""
        self.socket = socket.socket(address_family(address), socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.requested = False
        self._request = (
            f"GET /{size} HTTP/1.1\r\nHost: {authority(address, port)}\r\nConnection: close\r\n\r\n".encode()
        )

    def request(self) -> str | None:
        """Send the request on the established connection; return the reason if the connection failed, else None."""
        if number := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            return errno.errorcode[number]
        # A request fits into the empty send buffer of a new connection.
        self.socket.send(self._request)
        self.requested = True
        return None

    def receive(self, buffer) -> tuple[bool, str | None]:
        """Receive the data that have arrived.

        Return whether the transfer has ended, and the reason for a failure or None.
        """
        try:
            count = self.socket.recv_into(buffer)
        except BlockingIOError:
            return False, None
        except OSError as error:
            return True, errno.errorcode[error.errno]
        if not count:
            return True, "closed early"
        if self.header_bytes is not None:
            self.body_bytes += count
            return self.body_bytes >= self.size, None
        self._head += bytes(buffer[:count])
        end = self._head.find(END_OF_HEADER)
        if end < 0:
            return False, None
        if (
            not self._head.startswith(b"HTTP/1.1 200 ")
            or b"Content-Length: %d\r\n" % self.size not in self._head[: end + 2]
        ):
            return True, self._head[: self._head.find(b"\r\n")].decode(errors="replace")
        self.header_bytes = end + len(END_OF_HEADER)
        self.body_bytes = len(self._head) - self.header_bytes
        return self.body_bytes >= self.size, None


def ask(plan, clock) -> dict:
    """Request each object of a plan at its time, and wait for the objects until the plan's deadline.

    Returns columns with one entry per object: ``start_ns``, ``completion_ns`` (None if incomplete), ``body_bytes`` and ``header_bytes``.
    ``failures`` maps the number of a failed object to the reason.

    Parameters
    ----------
    plan : dict
        ``address`` and ``port`` of the server, columns ``time_ns`` and ``bytes`` with one entry per object, and ``deadline_ns``. Times
        count from the origin.
    clock : clocked.Clock
    """
    times_ns, sizes = plan["time_ns"], plan["bytes"]
    columns = {name: [None] * len(sizes) for name in ("start_ns", "completion_ns")}
    columns |= {name: [0] * len(sizes) for name in ("body_bytes", "header_bytes")}
    failures, under_way, begun, buffer = {}, {}, 0, memoryview(bytearray(CHUNK_BYTES))

    def end(fetch, problem):
        selector.unregister(fetch.socket)
        del under_way[fetch.number]
        if problem is None:
            columns["completion_ns"][fetch.number] = clock.now_ns() - fetch.started_ns
        else:
            failures[str(fetch.number)] = problem
        fetch.socket.close()
        columns["body_bytes"][fetch.number] = fetch.body_bytes
        columns["header_bytes"][fetch.number] = fetch.header_bytes or 0

    with selectors.EpollSelector() as selector:
        selector.register(clock, selectors.EVENT_READ)
        clock.ring_at(times_ns[0] if times_ns else 0)
        while begun < len(sizes) or under_way:
            for key, _ in selector.select():
                fetch = key.data
                if fetch is None:
                    clock.quiet()
                    if begun == len(sizes):
                        # The deadline has passed.
                        for one in list(under_way.values()):
                            end(one, NOT_COMPLETE)
                        break
                    at_ns = times_ns[begun]
                    while begun < len(sizes) and times_ns[begun] == at_ns:
                        columns["start_ns"][begun] = started_ns = clock.now_ns()
                        fetch = Fetch(begun, sizes[begun], plan["address"], plan["port"], started_ns)
                        selector.register(fetch.socket, selectors.EVENT_WRITE, fetch)
                        under_way[begun] = fetch
                        begun += 1
                        fetch.socket.connect_ex((plan["address"], plan["port"]))
                    clock.ring_at(times_ns[begun] if begun < len(sizes) else plan["deadline_ns"])
                elif not fetch.requested:
                    if problem := fetch.request():
                        end(fetch, problem)
                    else:
                        selector.modify(fetch.socket, selectors.EVENT_READ, fetch)
                elif fetch.number in under_way:
                    ended, problem = fetch.receive(buffer)
                    if ended:
                        end(fetch, problem)
    return columns | {"failures": failures}


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "serve":
        serve(*arguments)
    else:
        allow_open_files()
        asked = read_plan(arguments[0])
        write_result(arguments[1], ask(asked, begin()))
