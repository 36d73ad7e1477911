"""The flows of a study's declared programs: one server and one client per flow, confined and watched until they end.

Servers are started and ready before the traffic. Clients wait for the traffic's origin, and then for their own start time. A run continues
even if a program fails. The section ``programs`` of the run document records failures, and `program_checks` judges them.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import TrafficError
from testbed.machine.confined import FOLDER, KEPT_LOGS, KEYS, LOGS
from testbed.machine.messages import last_line
from testbed.network.addresses import destination
from testbed.network.netlink import network_namespace
from testbed.traffic.program_process import READY_S

#: Time limit in s of the run's clock for a program to end after its planned end.
ENDING_S = 10.0
#: Interval at which a server's readiness is checked, in s.
ASKED_EVERY_S = 0.01
#: First user ID for programs; each server and each client runs as a separate user.
FIRST_USER = 60_001
#: Characters of a log's name that are replaced in the name of its copy, and maximum number of characters to keep.
UNCOMMON, MOST_IN_NAME = re.compile(r"[^A-Za-z0-9_.-]"), 100
#: Protocol -> (tables of the protocol's sockets in /proc/net, states of sockets that accept connections or packets).
TABLES = {"tcp": (("tcp", "tcp6"), {"0A"}), "udp": (("udp", "udp6"), {"07", "01"})}


@dataclass
class Side:
    """One side of a flow: the process that launches the program, and the paths of this process's files."""

    who: str
    process: subprocess.Popen
    errors: Path
    result: Path


class DeclaredPrograms:
    """All declared programs of a run.

    ``folder`` is a folder in memory, and ``job`` is the run's folder with the programs' files.
    """

    def __init__(self, path, specification, folder, job):
        self._path, self._specification, self._folder, self._job = path, specification, folder, job
        self._flows, self._started, self._origin_ns, self._logs = [], 0, 0, {}
        self._keys = job / KEYS if (job / KEYS).is_dir() else None

    def start(self) -> None:
        """Start the servers, wait until each is ready, and start the clients' launchers."""
        for flow in self._specification.program_flows:
            server = self._launch(flow, "server", flow.server_host, flow.program.server)
            is_ready = self._wait_until_ready(flow, server)
            client = self._launch(flow, "client", flow.client_host, flow.program.client)
            self._flows.append((flow, server, client, is_ready))
            if client.process.stdout.readline() != b"ready\n":
                raise TrafficError(f"{client.who}: the launcher failed: {last_line(client.errors)}")

    def begin(self, origin_ns) -> list[subprocess.Popen]:
        """Send the traffic's origin to all clients, and return the processes to wait for."""
        self._origin_ns = origin_ns
        for _, _, client, _ in self._flows:
            client.process.stdin.write(b"%d\n" % origin_ns)
            client.process.stdin.flush()
        return [client.process for _, _, client, _ in self._flows]

    def section(self) -> list[dict]:
        """Return the section ``programs`` of the run document, with one entry per flow; call this after the clients have ended."""
        return [self._entry(*flow) for flow in self._flows]

    def end(self) -> None:
        """Terminate all processes that are still running; this is also done after a failure."""
        for _, *sides, _ in self._flows:
            for side in sides:
                if side.process.poll() is None:
                    side.process.stdin.close()
                    with suppress(subprocess.TimeoutExpired):
                        side.process.wait(ENDING_S)
                    side.process.kill()

    def keep_logs(self) -> None:
        """Copy the programs' logs to the run's folder if it has a subfolder for them; call this at the end of the run.

        Copying takes time of the run's clock. In the names, ``_`` replaces characters that aren't common in file names. Files that
        `qlog.read_logs` doesn't read aren't copied.
        """
        # Imported here because other runs don't need it.
        from testbed.readings import qlog_files

        if not (self._job / KEPT_LOGS).is_dir():
            return
        for side, (connection, pattern) in self._logs.items():
            for folder in socket.recv_fds(connection, 1, 1)[1]:  # none if the program was not started
                for name in qlog_files.log_names(folder, pattern):
                    copy = self._job / KEPT_LOGS / f"{side}.{UNCOMMON.sub('_', name)[-MOST_IN_NAME:]}"
                    with suppress(qlog_files.QlogError, OSError):
                        copy.write_bytes(qlog_files.log_content(folder, name))

    def _entry(self, flow, server, client, is_ready):
        if flow.program.server_ends == "itself":
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(ENDING_S)
        return {
            "flow": flow.number, "group": flow.group, "program": flow.program.label, "port": flow.port,
            "sender": flow.pair.sender, "receiver": flow.pair.receiver, "start_ns": round(flow.start_s * 1e9), "ready": is_ready,
            "client": self._result(client), "server": self._result(server, flow.program.qlog),
        }  # fmt: skip

    def _result(self, side, wants_origin=None):
        """Close the input of one side's launcher, wait until the launcher has ended, and return its result.

        If ``wants_origin`` is true, the traffic's origin is first sent to the launcher, which needs it to read the program's logs.
        """
        if wants_origin:
            with suppress(BrokenPipeError):
                side.process.stdin.write(b"%d\n" % self._origin_ns)
                side.process.stdin.flush()
        with suppress(BrokenPipeError):
            side.process.stdin.close()
        side.process.wait()
        if side.process.returncode or not side.result.exists():
            raise TrafficError(f"{side.who}: the launcher failed: {last_line(side.errors)}")
        return json.loads(side.result.read_text())

    def _launch(self, flow, kind, host, command):
        """Start the launcher of one side on a host."""
        self._started += 1
        name = f"{kind}-{flow.port}"
        root, plan = self._folder / f"root-{name}", self._folder / f"{name}.plan"
        side = Side(f"{kind} of {flow.who}", None, self._folder / f"{name}.errors", self._folder / f"{name}.json")
        root.mkdir()
        files = flow.program.folder and str(self._job / "programs" / flow.program.folder)
        is_client = kind == "client"
        qlog = flow.program.qlog if self._step_ns and kind == flow.program.data_from else None
        here, there = socket.socketpair() if qlog else (None, None)
        plan.write_text(
            json.dumps(
                {
                    "command": flow.words(command, self._values(flow)), "files": files, "root": str(root),
                    "user": FIRST_USER + self._started, "memory_mib": flow.program.memory_mib, "ready_line": flow.program.ready_line,
                    "reports": flow.program.reports_bytes, "start_ns": round(flow.start_s * 1e9) if is_client else None,
                    "limit_ns": round(1e9 * self._limit_s(flow)) if is_client else None,
                    "qlog": qlog, "step_ns": self._step_ns,
                    "keys": self._keys and str(self._keys / f"{name}.txt"),
                    "logs_to": there and there.fileno(),
                }
            )
        )  # fmt: skip
        words = [sys.executable, "-B", "-m", "testbed.traffic.program_process", str(plan), str(side.result)]
        with side.errors.open("wb") as stream:
            side.process = self._path.net[host].popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                env=os.environ,
                pass_fds=[there.fileno()] if qlog else [],
            )
        if qlog:
            there.close()
            self._logs[name] = here, qlog
        return side

    @property
    def _step_ns(self):
        """Interval of the run's time series in ns; 0 for a run without time series."""
        return round(1e6 * (self._specification.traffic.sample_interval_ms or 0))

    def _values(self, flow):
        """Return the values of all placeholders for a flow."""
        server, client = (
            destination(self._specification, flow.pair, host) for host in (flow.server_host, flow.client_host)
        )
        seconds = "" if flow.seconds is None else f"{flow.seconds:g}"
        return {
            "folder": FOLDER, "logs": LOGS, "server_address": server, "client_address": client, "port": str(flow.port),
            "server": f"[{server}]:{flow.port}" if ":" in server else f"{server}:{flow.port}",
            "seconds": seconds, "bytes": "" if flow.bytes is None else str(flow.bytes), "cca": flow.program.cca or "",
            "seed": str(flow.seed),
        }  # fmt: skip

    def _limit_s(self, flow):
        """Return the time at which a client is terminated if it is still running, in s from the traffic's origin."""
        if flow.seconds is None:
            return self._specification.traffic.duration_s + ENDING_S
        end_s = flow.start_s + flow.seconds
        return end_s if flow.program.client_ends == "killed" else end_s + ENDING_S

    def _wait_until_ready(self, flow, server):
        """Wait until a server is ready, and return True; return False if the server ends or takes too long."""
        deadline = time.monotonic() + READY_S
        is_ready = {
            True: lambda: os.read(server.process.stdout.fileno(), 64) == b"ready\n",
            False: lambda: self._is_bound(flow),
        }[flow.program.ready_line is not None]
        if flow.program.ready_line is not None:
            os.set_blocking(server.process.stdout.fileno(), False)
        while server.process.poll() is None and time.monotonic() < deadline:
            with suppress(BlockingIOError):
                if is_ready():
                    return True
            time.sleep(ASKED_EVERY_S)
        return False

    def _is_bound(self, flow):
        """Return whether the server's port accepts connections or packets."""
        names, states = TABLES[flow.program.protocol]
        with network_namespace(self._path.net[flow.server_host]):
            tables = [Path("/proc/thread-self/net", name).read_text().splitlines() for name in names]
        sockets = (line.split() for _, *lines in tables for line in lines)
        return any(
            int(local.rpartition(":")[2], 16) == flow.port and state in states for _, local, _, state, *_ in sockets
        )
