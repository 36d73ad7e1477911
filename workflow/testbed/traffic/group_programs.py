"""The programs of all groups except groups of long flows: web servers and clients, real-time senders and receivers, and declared programs.

All programs are started and ready before the traffic. All programs except the servers then receive the traffic's origin, and exit by
themselves. Their results are the sections ``web``, ``real_time`` and ``programs`` of the run document.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from experiment.flow_groups import REAL_TIME, REAL_TIME_PORT, STREAMS_OF_A_GROUP, WEB
from experiment.web_objects import PATIENCE_S, drawn_objects
from testbed.errors import NotEndedError, TrafficError
from testbed.machine.messages import last_line
from testbed.network.addresses import destination
from testbed.network.netlink import network_namespace
from testbed.readings.socket_information import SocketReader
from testbed.traffic import real_time, web
from testbed.traffic.clocked import address_family
from testbed.traffic.traffic import listening_on

#: Time limits in s of the run's clock: for a server to listen, and for a program to end after the traffic.
READY_S, ENDING_S = 120.0, 10.0


@dataclass
class Program:
    """A process of a group, and the paths of the process's error output and result."""

    who: str
    process: subprocess.Popen
    errors: Path
    result: Path | None = None


class GroupPrograms:
    """The programs of a run's groups: a context manager that must be entered before the links' counters are read."""

    def __init__(self, path, specification, job):
        self._path, self._specification, self._job, self._declared = path, specification, job, None
        self._servers, self._clients, self._drawn, self._ccas = [], {}, {}, {}

    def __enter__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="sawtooth-groups-", dir="/tmp"))
        try:
            for group in self._specification.groups_of(WEB):
                self._serve(group)
            for group in self._specification.groups_of(REAL_TIME):
                self._stream(group)
            if self._specification.program_flows:
                self._declare()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind, *_):
        self._end()

    def _declare(self):
        """Start the servers and launchers of the programs that the study declares."""
        # Imported here because other runs don't need it.
        from testbed.traffic.declared_programs import DeclaredPrograms

        self._declared = DeclaredPrograms(self._path, self._specification, self._folder, self._job)
        self._declared.start()

    def _end(self):
        if self._declared:
            self._declared.end()
        for program in (*self._servers, *(one for several in self._clients.values() for one in several)):
            if program.process.poll() is None:
                program.process.terminate() if program in self._servers else program.process.kill()
                program.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def begin(self, origin_ns) -> list[subprocess.Popen]:
        """Send the traffic's origin to all programs except servers, and return the processes to wait for."""
        programs = [program for several in self._clients.values() for program in several]
        for program in programs:
            program.process.stdin.write(b"%d\n" % origin_ns)
            program.process.stdin.flush()
        declared = self._declared.begin(origin_ns) if self._declared else []
        return [*(program.process for program in programs), *declared]

    def sections(self) -> dict:
        """Return the run document's sections ``web``, ``real_time`` and ``programs``; sections without a group are omitted.

        Call this method only after the processes that `begin` returned have ended.
        """
        results = {name: [result_of(program) for program in several] for name, several in self._clients.items()}
        specification = self._specification
        objects = [
            {
                **self._place(group),
                "cca": self._ccas[group.name],
                "bytes": self._drawn[group.name][1],
                **results[group.name][0],
            }
            for group in specification.groups_of(WEB)
        ]
        streams = [
            {**self._place(group), "packet_bytes": group.packet_bytes} | results[group.name][0] | results[group.name][1]
            for group in specification.groups_of(REAL_TIME)
        ]
        declared = self._declared.section() if self._declared else []
        sections = {"web": objects, "real_time": streams, "programs": declared}
        return {name: section for name, section in sections.items() if section}

    def keep_logs(self) -> None:
        """Copy the declared programs' logs to the run's folder if this was requested (`DeclaredPrograms.keep_logs`)."""
        if self._declared:
            self._declared.keep_logs()

    def _place(self, group):
        pair = self._specification.group_pair(group)
        return {"group": group.name, "sender": pair.sender, "receiver": pair.receiver}

    def _serve(self, group):
        """Start the server and the client of a group of web objects, and read back the CCA of a connection to the server."""
        specification, pair = self._specification, self._specification.group_pair(group)
        port, address = specification.web_port(group), destination(specification, pair, pair.sender)
        times_ns, sizes = self._drawn[group.name] = drawn_objects(specification, group)
        folder = self._folder / f"server-{port}"
        web.write_objects(folder, sizes)
        server = self._start(
            f"web server of group {group.name}", pair.sender,
            ["testbed.traffic.web", "serve", address, str(port), specification.server_kernel_cca(group), str(folder)],
        )  # fmt: skip
        self._servers.append(server)
        self._wait_for_server(server, pair, port)
        self._ccas[group.name] = self._accepted_cca(pair, address, port)
        plan = {
            "address": address, "port": port, "time_ns": times_ns, "bytes": sizes,
            "deadline_ns": round((specification.traffic.duration_s + PATIENCE_S) * 1e9),
        }  # fmt: skip
        who = f"web client of group {group.name}"
        self._clients[group.name] = [self._start(who, pair.receiver, ["testbed.traffic.web", "ask"], plan)]

    def _stream(self, group):
        """Start both sides of a group of real-time streams."""
        specification, pair = self._specification, self._specification.group_pair(group)
        first = REAL_TIME_PORT + STREAMS_OF_A_GROUP * specification.groups.index(group)
        times_ns = real_time.send_times_ns(group)
        last_s = group.stop_s + specification.rtt_longest_ms / 1e3 + real_time.PATIENCE_S
        plan = {
            "address": destination(specification, pair, pair.receiver),
            "port": first,
            "packet_bytes": group.packet_bytes,
            "time_ns": [[at + real_time.stream_offset_ns(group, n) for at in times_ns] for n in range(group.count)],
            "deadline_ns": round(last_s * 1e9),
        }
        self._clients[group.name] = [
            self._start(f"{what} of group {group.name}", host, ["testbed.traffic.real_time", verb], plan)
            for what, verb, host in (("receiver", "receive", pair.receiver), ("sender", "send", pair.sender))
        ]

    def _start(self, who, host, arguments, plan=None) -> Program:
        """Start a program on a host; with a plan, also wait until the program is ready."""
        name = who.replace(" ", "-")
        errors, result, words = self._folder / f"{name}.errors", None, [sys.executable, "-B", "-m", *arguments]
        if plan is not None:
            result, planned = self._folder / f"{name}.json", self._folder / f"{name}.plan"
            planned.write_text(json.dumps(plan))
            words += [str(planned), str(result)]
        with errors.open("wb") as stream:
            process = self._path.net[host].popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, env=os.environ
            )
        program = Program(who, process, errors, result)
        if plan is not None and process.stdout.readline() != b"ready\n":
            process.wait()
            raise TrafficError(f"{who}: exit status {process.returncode}: {last_line(errors)}")
        return program

    def _wait_for_server(self, server, pair, port):
        """Wait until nginx listens.

        A guest's clock stands still while nginx is starting.
        """
        deadline = time.monotonic() + READY_S
        while port not in listening_on(self._path.net[pair.sender]) or not is_nginx(server.process.pid):
            if server.process.poll() is not None:
                raise TrafficError(f"{server.who}: exit status {server.process.returncode}: {last_line(server.errors)}")
            if time.monotonic() > deadline:
                raise TrafficError(f"{server.who} is not listening on port {port} after {READY_S:g} s")
            time.sleep(0.01)

    def _accepted_cca(self, pair, address, port) -> str:
        """Open a connection to the server, return the connection's CCA as read from the kernel, and close the connection."""
        round_trip_s, end = self._specification.rtt_longest_ms / 1e3 + 0.01, time.monotonic() + READY_S
        with network_namespace(self._path.net[pair.receiver]):
            probe = socket_to(address, port)
        with probe, SocketReader(self._path.net[pair.sender], self._specification.ip_version) as reader:
            # The last ACK of the handshake is still in transit, or may have been lost.
            while not (ccas := [read["cca"] for read in reader.connections() if read["local_port"] == port]):
                if time.monotonic() > end:
                    raise TrafficError(f"web server on {pair.sender}: accepted no connection within {READY_S:g} s")
                time.sleep(round_trip_s)
        # Wait until the connection's last packets have arrived, because they must not be part of the traffic.
        time.sleep(4 * round_trip_s)
        return ccas[0]


def socket_to(address, port) -> socket.socket:
    """Return a socket that is connected to a server."""
    one = socket.socket(address_family(address), socket.SOCK_STREAM)
    one.settimeout(READY_S)
    one.connect((address, port))
    return one


def is_nginx(pid) -> bool:
    """Return whether a process has become nginx."""
    return Path(f"/proc/{pid}/comm").read_text().strip() == "nginx"


def result_of(program) -> dict:
    """Wait until a group's program has ended, and return its result."""
    try:
        status = program.process.wait(timeout=ENDING_S)
    except subprocess.TimeoutExpired:
        raise NotEndedError(f"{program.who} did not end within {ENDING_S:g} s after the traffic") from None
    if status or not program.result.exists():
        raise TrafficError(f"{program.who}: exit status {status}: {last_line(program.errors)}")
    return json.loads(program.result.read_text())
