"""One run's document, drawn at random: everything that tidying reads, with plausible numbers."""

import json

import numpy as np

from experiment.specification import RunSpecification
from run_tables.cpu_times import PARTS
from run_tables.reordering_counts import COUNTERS
from simulator.network import as_set
from testbed.readings.deliveries import COOKIE_BYTES
from testbed.traffic.client_plan import plan_clients

ENVIRONMENT = {
    "kernel": "7.2.13", "kernel_config_sha256": "3" * 64, "tick_hz": 1000, "clock": "virtual", "image_digest": "sha256:" + "2" * 64,
    "testbed_digest": "sha256:" + "1" * 64, "tools": {"iperf3": "3.18", "mininet": "2.3.0", "iproute2": "6.15.0", "python3": "3.13.5"},
}  # fmt: skip
CHECKS = ("qdiscs", "host_settings", "cca", "idle_rtt", "loss_realised", "goodput_possible")
#: Readings of deliveries, sockets and cores.
READINGS = 12
SERVICES = ("dns", "dhcp", "directory")


class Run:
    """A run whose document is drawn."""

    def __init__(self, specification, cell, rng):
        self.asked, self.cell, self.rng = RunSpecification(specification), cell, rng
        self.simulated = self.asked.platform.startswith("ns3")
        self.factor = max(0.1, 1 + cell.spread * rng.standard_normal())
        self.silent, self.blind = rng.random() < cell.silent, rng.random() < cell.blind
        self.seconds = min(self.asked.expected_s, 3600.0)
        limits = [self.asked.goodput_limit_mbps]
        bitrate = self.asked.traffic.bitrate_mbps
        limits.append(bitrate and bitrate * self.asked.flows)
        most = min([limit for limit in limits if limit], default=5000.0)
        self.goodput_mbps = 0.0 if self.silent else most * cell.used * min(1.0, self.factor)
        weights = (
            rng.dirichlet(np.full(self.asked.flows, 5.0))
            if cell.spread
            else np.full(self.asked.flows, 1 / self.asked.flows)
        )
        if self.asked.flows > 1 and cell.starved:
            weights[-1] = 0.0
        self.bytes = [int(weight * self.goodput_mbps * 1e6 / 8 * self.seconds) for weight in weights]
        self.packets = sum(self.bytes) // self.asked.payload_bytes + 1
        self.drops = int(self.packets * cell.lost)
        loss = self.asked.link.loss_percent["forward"] / 100
        self.lost = int(self.packets * loss * self.factor)
        held = self.asked.queue_bytes or (self.asked.queue_packets or 0) * self.asked.packet_bytes
        queued_ms = held * 8e-3 / self.asked.rate_mbps * cell.filled if self.asked.rate_mbps else 0.0
        self.rtt_ms = self.asked.rtt_path_ms + queued_ms * self.factor + 0.05

    def document(self):
        """Return the run document."""
        # If nothing arrives, the CCA of its connections is unknown.
        failed = (
            "cca"
            if self.silent
            else CHECKS[self.rng.integers(len(CHECKS))]
            if self.rng.random() < self.cell.invalid
            else None
        )
        checks = [
            {"name": name, "ok": name != failed, "expected": "as set", "observed": "something else" if name == failed else "as set"}
            for name in CHECKS
        ]  # fmt: skip
        asked = self.asked
        traffic = [self._process(client) for client in plan_clients(asked)]
        placed, links = (self._simulated_links if self.simulated else self._links)()
        document = {
            "schema_version": 3, "specification": asked.document, "environment": self._environment(),
            "network": {"set": placed}, "traffic": traffic, "sockets": self._looks(), "links": links,
            "stack": None if self.simulated else {"tcp": self._counters()},
            "verdict": {"valid": failed is None, "checks": checks},
        }  # fmt: skip
        if asked.traffic.application == "iperf3" and not asked.udp:
            document["delivered"] = self._delivered()
        if asked.traffic.sample_interval_ms is not None:
            document["series"] = self._series()
        if asked.platform == "host":
            document["cpu"] = self._cpu()
        if asked.scenario["background"] == "server":
            names = ("requests", "request_bytes", "answers", "answer_bytes", "answer_segments")
            document["background"] = {
                service: dict(zip(names, (9, 900, 9, 9000, 12), strict=True)) for service in SERVICES
            }
        return document

    def _environment(self):
        environment = ENVIRONMENT | {"platform": self.asked.platform}
        if self.simulated:
            environment = {key: environment[key] for key in ("platform", "image_digest", "testbed_digest", "tools")}
            return environment | {"simulator": {"version": self.asked.platform[4:]}, "clock": "simulated"}
        return environment

    def _process(self, client):
        """Return the final output of a client's process."""
        asked, pair = self.asked, self.asked.flow_pair(client.flows[0])
        entry = {
            "flows": list(client.flows),
            "sender": pair.sender,
            "receiver": pair.receiver,
            "start_offset_ms": 1e3 * client.start_offset_s,
        }
        application = asked.traffic.application
        if application == "round-trip":
            return entry | {"round_trip": {"seconds": float(self.seconds), "rtt_us": 1e3 * self.rtt_ms}}
        if application == "ftp":
            size = asked.traffic.file_bytes
            return entry | {"transfer": {"bytes": size, "seconds": size * 8e-6 / max(self.goodput_mbps, 1e-3)}}
        if self.simulated:
            return entry | {"simulated": {"flows": [self._simulated_flow(flow) for flow in client.flows]}}
        return entry | (self._datagrams(client) if asked.udp else self._streams(client))

    def _intervals(self):
        """Return start and end times of a few reporting intervals."""
        step = self.asked.traffic.interval_s
        count = max(1, min(READINGS, round(self.seconds / step)))
        return [(number * step, (number + 1) * step) for number in range(count)]

    def _streams(self, client):
        spans = self._intervals()
        streams = [
            {
                "sender": {"mean_rtt": 1e3 * self.rtt_ms, "max_rtt": 2e3 * self.rtt_ms, "retransmits": self._retransmits(flow),
                           "bytes": self.bytes[flow], "max_snd_cwnd": 30000},
                "receiver": {"bits_per_second": self.bytes[flow] * 8 / self.seconds, "bytes": self.bytes[flow]},
            }
            for flow in client.flows
        ]  # fmt: skip
        intervals = [
            {"streams": [
                {"start": begin, "end": end, "bits_per_second": 1e6, "retransmits": 0, "snd_cwnd": 14480, "rtt": 1e3 * self.rtt_ms,
                 "rttvar": 100}
                for _ in client.flows
            ]}
            for begin, end in spans
        ]  # fmt: skip
        end = {
            "streams": streams,
            "sum_sent": {"seconds": self.seconds},
            "sender_tcp_congestion": self.asked.flow_cca(client.flows[0]),
        }
        return {"client": {"end": end, "intervals": intervals}}

    def _datagrams(self, client):
        (flow,), spans = client.flows, self._intervals()
        part = self.bytes[flow] // len(spans)
        received = [{"sum": {"start": begin, "end": end, "bytes": part}} for begin, end in spans]
        sums = {
            "bytes": self.bytes[flow],
            "seconds": self.seconds,
            "bits_per_second": self.bytes[flow] * 8 / self.seconds,
        }
        return {
            "client": {"end": {"sum": sums}, "intervals": []},
            "server": {"intervals": received, "end": {"sum_received": sums}},
        }

    def _simulated_flow(self, flow):
        counted = {
            "flow": flow,
            "seconds": float(self.seconds),
            "bytes_sent": self.bytes[flow],
            "bytes_received": self.bytes[flow],
        }
        intervals = [
            {
                "start_s": begin,
                "end_s": end,
                "bytes_sent": 1000,
                "retransmits": 0,
                "cwnd_bytes": 14480,
                "rtt_ms": self.rtt_ms,
            }
            for begin, end in self._intervals()
        ]
        times = {f"rtt_{name}_ms": self.rtt_ms for name in ("mean", "min", "max")} if not self.silent else {}
        return (
            counted | {"retransmits": self._retransmits(flow), "cwnd_max_bytes": 30000, "intervals": intervals} | times
        )

    def _retransmits(self, flow):
        return (self.drops + self.lost) // self.asked.flows

    def _sockets(self, flow):
        """Yield the readings of a flow's connection, or of each subflow of MPTCP."""
        mptcp = self.asked.multipath.by == "mptcp"
        for path in range(self.asked.paths if mptcp else 1):
            known = {
                "flow": flow, "cca": self.asked.flow_cca(flow), "mss_bytes": self.asked.snd_mss_bytes, "rtt_ms": self.rtt_ms,
                "rtt_min_ms": self.asked.rtt_path_ms + 0.01, "cwnd_packets": 12, "retransmits": self._retransmits(flow),
                "bytes_acked": self.bytes[flow] // 2,
            }  # fmt: skip
            yield known | ({"subflow": path} if mptcp else {})

    def _looks(self):
        if self.asked.udp or self.asked.traffic.application == "round-trip":
            return []
        looks = [list(self._sockets(flow)) for flow in range(self.asked.flows)]
        sockets = [] if self.silent else [socket for of_flow in looks for socket in of_flow]
        return [{"time_s": self.seconds * part, "sockets": sockets} for part in (0.25, 0.5, 0.75)]

    def _delivered(self):
        times_s = np.linspace(0.1, 1, 1 if self.blind else READINGS) * self.seconds
        return {
            "time_ns": [round(time * 1e9) for time in times_s],
            "flows": [
                {"flow": flow, "bytes": [int(COOKIE_BYTES + size * time / self.seconds) if size else 0 for time in times_s]}
                for flow, size in enumerate(self.bytes)
            ],
        }  # fmt: skip

    def _series(self):
        """Return time series of a window that grows and is reduced, with further variables for CCAs that have them."""
        times = [round(time, 6) for time in np.linspace(0, self.seconds, 5 * READINGS)]
        phases = np.arange(len(times)) % READINGS
        sockets = []
        for flow, size in enumerate(self.bytes):
            shared = {
                "flow": flow, "time_s": times, "state": ["recovery" if phase == 0 else "open" for phase in phases],
                "cwnd_packets": [10.0 + phase for phase in phases], "rtt_ms": [self.rtt_ms] * len(times),
                "rtt_min_ms": [self.asked.rtt_path_ms + 0.01] * len(times), "retransmits": [int(place) // READINGS for place in range(len(times))],
                "bytes_acked": [int(size * time / self.seconds) for time in times],
                "bytes_sent": [int(size * time / self.seconds) for time in times],
                "ssthresh_packets": [None if time < self.seconds / 10 else 10.0 for time in times],
            }  # fmt: skip
            cca = self.asked.flow_cca(flow)
            if cca == "bbr":
                known = {"pacing_mbps": 1.0, "bbr_bw_mbps": 1.0, "bbr_pacing_gain": 1.0, "bbr_cwnd_gain": 2.0}
                shared |= {
                    name: [value] * len(times)
                    for name, value in known.items()
                    if not self.simulated or name == "pacing_mbps"
                }
            if cca in ("vegas", "yeah") and not self.simulated:
                shared |= {name: [self.rtt_ms] * len(times) for name in ("vegas_rtt_ms", "vegas_rtt_min_ms")}
            subflows = range(self.asked.paths) if self.asked.multipath.by == "mptcp" else (None,)
            sockets += [shared | ({} if subflow is None else {"subflow": subflow}) for subflow in subflows]
        queue = {
            "time_s": times,
            "packets": [3] * len(times),
            "bytes": [3 * self.asked.packet_bytes] * len(times),
            "drops": [0] * len(times),
        }
        return {"sockets": sockets, "queue": queue}

    def _counters(self):
        names = {name for _, counters in COUNTERS.values() for name in counters} | {"TcpRetransSegs"}
        hosts = [name for pair in self.asked.pairs for name in (pair.sender, pair.receiver)]
        return {host: dict.fromkeys(names, self.drops + self.lost) for host in hosts}

    def _cpu(self):
        cores = {
            str(core): {"roles": [role]}
            | {name: [2] * READINGS for names in PARTS.values() for name in names}
            | {"idle": [40] * READINGS}
            for core, role in enumerate(("senders", "receivers"))
        }
        return {"tick_ms": 10, "time_s": [0.5 * number for number in range(READINGS + 1)], "cores": cores}

    def _simulated_links(self):
        placed = as_set(self.asked)
        before = {
            name: {"tx_packets": 0, "qdiscs": {kind: {"drops": 0} for kind in kinds}}
            for name, kinds in placed["qdiscs"].items()
        }
        after = json.loads(json.dumps(before))
        forward = placed["bottleneck"]["forward"][0]
        after[forward]["tx_packets"] = self.packets
        after[forward]["qdiscs"]["DropTailQueue"]["drops"] = self.drops
        if (lossy := after[placed["loss"]["forward"]]["qdiscs"].get("RateErrorModel")) is not None:
            lossy["drops"] = self.lost
        return placed, {"before": before, "after": after}

    def _links(self):
        """Return the settings and counters of each interface in the data's direction."""
        asked, link = self.asked, self.asked.link
        queue = (
            {"pfifo": {"limit": asked.queue_packets}}
            if asked.queue_packets is not None
            else {"bfifo": {"limit": asked.queue_bytes}}
        )
        shaped = asked.rate_mbps is not None and asked.shaped
        effective = (
            any(effect["forward"] for effect in (link.delay_ms, link.jitter_ms, link.loss_percent)) or asked.serialised
        )
        if asked.is_cable:
            bottleneck = [f"h1-eth{path}" for path in range(asked.paths)] if shaped else []
            netem = (
                [f"h2-in{path}" for path in range(asked.paths)]
                if effective or any(asked.multipath.path_delay_ms)
                else []
            )
        elif link.netem == "both-ends":
            bottleneck, netem = ["r1-eth1"] if shaped else [], ["r1-eth1"]
        else:
            bottleneck, netem = ["r1-eth1"] if shaped else [], ["r2-eth0"]
        limit = asked.queue_packets if link.netem == "both-ends" else 1_000_000
        kinds = {name: {"htb": {}, **queue} for name in bottleneck}
        for name in netem:
            shaper = {"htb": {}} if name in bottleneck else {}
            kinds[name] = shaper | {"netem": {"limit": limit}}
        devices = dict.fromkeys([*kinds, *(f"h1-eth{path}" for path in range(asked.paths if asked.is_cable else 0))])
        before = {
            name: {
                "tx_packets": 0,
                "qdiscs": {kind: {"drops": 0, "bytes": 0} for kind in kinds.get(name, {"noqueue": {}})},
            }
            for name in devices
        }
        after = json.loads(json.dumps(before))
        for counted in after.values():
            counted["tx_packets"] = self.packets // asked.paths
            for kind, values in counted["qdiscs"].items():
                values["bytes"] = self.packets // asked.paths * asked.packet_bytes
                values["drops"] = self.lost if kind == "netem" else self.drops
        none = {"forward": bottleneck, "reverse": []}
        placed = {"qdiscs": kinds, "bottleneck": none, "netem": {"forward": netem, "reverse": []}}
        return placed, {"before": before, "after": after}
