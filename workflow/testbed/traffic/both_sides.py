"""The two programs (`streams`) that carry all flows of a run with ``processes: per-side``, and the programs' results."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from testbed.errors import NotEndedError, TrafficError
from testbed.network.addresses import destination
from testbed.readings.deliveries import Deliveries
from testbed.readings.sampling import Sampler, connections_of_senders
from testbed.readings.socket_information import sockid_of, tcp_info
from testbed.traffic import iperf3
from testbed.traffic.client_plan import plan_clients
from testbed.traffic.traffic import start_and_sample

#: Port at which each receiving host accepts flows.
PORT = iperf3.FIRST_PORT
#: Time limit, in s of the run's clock, for a program to end after the traffic.
ENDING_S = 120.0
#: Names of the sender's results for each flow: from the program, and from the kernel's counters.
COLUMNS, COUNTERS = (
    ("connected_ns", "ended_ns", "written_bytes"),
    ("bytes_acked", "bytes_sent", "bytes_retransmitted", "retransmits"),
)


def connections_of_flows(specification, flows) -> dict[str, list[bytes]]:
    """Return the kernel's identifiers (`socket_information.sockid_of`) of the given flows' connections, by sending host."""
    named = {}
    for flow in flows:
        pair = specification.flow_pair(flow)
        ends = [
            (destination(specification, pair, host), port)
            for host, port in ((pair.sender, specification.local_port(flow)), (pair.receiver, PORT))
        ]
        named.setdefault(pair.sender, []).append(sockid_of(*ends))
    return named


class BothSides:
    """The sending and the receiving program of a run, as a context manager around the traffic."""

    def __init__(self, path, specification, clients):
        self._path, self._specification, self._clients, self._processes = path, specification, clients, {}

    def __enter__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="sawtooth-streams-", dir="/tmp"))
        try:
            for side, plan in (("receive", self._receivers()), ("send", self._senders())):
                self._start(side, plan)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        self._end()

    def _end(self):
        for process in self._processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _place(self, pair, host) -> dict:
        """Return the network namespace of one host of a pair, and the address and port at which the pair's receiver accepts connections."""
        return {
            "namespace": self._path.net[host].namespace,
            "address": destination(self._specification, pair, pair.receiver),
            "port": PORT,
        }

    def _receivers(self):
        return {"hosts": [self._place(pair, pair.receiver) for pair in self._specification.pairs]}

    def _senders(self):
        run = self._specification
        by_socket = run.transport.cca_set_by == "socket"
        segment = run.transport.segment_bytes
        starts_ns = [round(client.start_offset_s * 1e9) for client in self._clients]
        lengths_ns = [round(flow.length_s * 1e9) for flow in run.long_flows]
        return {
            "hosts": [self._place(pair, pair.sender) for pair in run.pairs],
            "host": [flow.pair for flow in run.long_flows],
            "local_port": [run.local_port(flow.number) for flow in run.long_flows],
            "cca": [run.flow_kernel_cca(flow.number) if by_socket else None for flow in run.long_flows],
            "start_ns": starts_ns,
            "stop_ns": [start + length for start, length in zip(starts_ns, lengths_ns, strict=True)],
            "block_bytes": run.traffic.block_bytes,
            # TCP's maximum segment size includes the options.
            "segment_bytes": None if segment is None else segment + run.timestamp_bytes,
            "no_delay": run.traffic.no_delay,
            "max_pacing_bytes_per_s": round(1e6 / 8 * run.max_pacing_rate_mbps) if run.max_pacing_rate_mbps else None,
        }

    def _start(self, side, plan):
        """Start the program of one side, and wait until the program is ready."""
        planned, errors = self._folder / f"{side}.plan", self._folder / f"{side}.errors"
        planned.write_text(json.dumps(plan))
        words = [sys.executable, "-B", "-m", "testbed.traffic.streams", side, str(planned), str(self._result(side))]
        namespaces = [host["namespace"] for host in plan["hosts"]]
        with errors.open("wb") as stream:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, env=os.environ, pass_fds=namespaces
            )
        self._processes[side] = process
        if process.stdout.readline() != b"ready\n":
            raise TrafficError(f"{self._who(side)}: exit status {process.wait()}: {self._last_words(side)}")

    def _result(self, side):
        return self._folder / f"{side}.json"

    @staticmethod
    def _who(side):
        return f"the program that {side}s all flows"

    def _last_words(self, side):
        lines = (self._folder / f"{side}.errors").read_text(errors="replace").strip().splitlines()
        return (lines or ["no message"])[-1]

    def begin(self, origin_ns) -> list[subprocess.Popen]:
        """Send the traffic's origin to both programs, and return the processes to wait for: only the sending program."""
        for process in self._processes.values():
            process.stdin.write(b"%d\n" % origin_ns)
            process.stdin.flush()
        return [self._processes["send"]]

    def entries(self) -> list[dict]:
        """Return the section ``traffic`` of the run document, with one entry per flow.

        Call this method only after the sending program has ended.
        """
        sent, received = self._collect("send"), self._collect("receive")
        return [
            self._entry(client, sent, received[flow.pair])
            for client, flow in zip(self._clients, self._specification.long_flows, strict=True)
        ]

    def _collect(self, side):
        """Close the input of one side's program, wait until the program has ended, and return its result."""
        process = self._processes[side]
        process.stdin.close()
        try:
            status = process.wait(timeout=ENDING_S)
        except subprocess.TimeoutExpired:
            raise NotEndedError(f"{self._who(side)} did not end within {ENDING_S:g} s after the traffic") from None
        if status or not self._result(side).exists():
            raise TrafficError(f"{self._who(side)}: exit status {status}: {self._last_words(side)}")
        return json.loads(self._result(side).read_text())

    def _entry(self, client, sent, received):
        run, (flow,) = self._specification, client.flows
        pair, local = run.flow_pair(flow), run.local_port(flow)
        info = bytes.fromhex(sent["info"][flow] or "")
        counted = tcp_info(info, 0, len(info))
        stream = {"local_port": local} | {name: sent[name][flow] for name in COLUMNS}
        stream |= {name: counted.get(name) for name in COUNTERS}
        stream["received_bytes"] = received.get(str(local))
        if failure := sent["failures"].get(str(flow)):
            stream["failure"] = failure
        return {
            "flows": [flow],
            "sender": pair.sender,
            "receiver": pair.receiver,
            "cca": run.flow_cca(flow),
            "port": PORT,
            "start_offset_ms": client.start_offset_s * 1e3,
            "stream": stream,
        }


def carry_per_side(
    path, specification, origin, programs=None, changes=(), recordings=(), folder=Path("/tmp")
) -> tuple[list[dict], list[dict], dict | None, dict | None]:
    """Run all flows with the two programs; parameters and return values are the same as for `traffic.carry`."""
    clients = plan_clients(specification)
    expected = connections_of_senders(specification)
    sampled = connections_of_flows(specification, specification.sampled_flows)
    with (
        BothSides(path, specification, clients) as sides,
        Sampler(path, specification, sampled) as sampler,
        Deliveries(path, specification, expected) as deliveries,
    ):
        origin_ns = origin()
        others = [*(programs.begin(origin_ns) if programs else ()), *sides.begin(origin_ns)]
        start_and_sample(
            path, specification, clients, sampler, deliveries, origin_ns, folder, others, changes, recordings
        )
        entries = sides.entries()
    flows = {(entry["sender"], entry["stream"]["local_port"], entry["port"]): entry["flows"][0] for entry in entries}
    return entries, sampler.looks(flows), sampler.series(flows), deliveries.result(flows)
