"""A run's specification: what is to be emulated, and what follows from it."""
import hashlib
import math
from dataclasses import dataclass, field

MTU_BYTES = 1500
ETHERNET_HEADER_BYTES = 14
#: A full packet as Linux's queueing disciplines count it (``qdisc_pkt_len``).
PACKET_BYTES = MTU_BYTES + ETHERNET_HEADER_BYTES
TCP_TIMESTAMP_OPTION_BYTES = 12
HEADER_BYTES = {"ipv4": 20 + 20, "ipv6": 40 + 20}


@dataclass(frozen=True)
class Direction:
    """What one direction of the path does to packets, the bottleneck aside."""

    delay_ms: float
    jitter_ms: float
    loss_percent: float


@dataclass(frozen=True)
class Pair:
    """A sender and a receiver: their names, the index from 0, and the RTT of their empty path."""

    index: int
    sender: str
    receiver: str
    access_delay_ms: float
    rtt_ms: float


@dataclass(frozen=True)
class RunSpecification:
    """One execution: a cell, its replication and its seed.

    ``document`` is the JSON object of the workflow as it came
    (``workflow/schemas/run.schema.yaml``, ``specification``); everything else
    is read from it.
    """

    document: dict = field(repr=False)

    @property
    def name(self):
        """The run's place in the study: ``scenario/cca/ip_version/replication``."""
        d = self.document
        return f"{d['scenario']['id']}/{d['cca']}/{d['ip_version']}/{d['replication']}"

    @property
    def cca(self):
        """The run's CCA, or the mix of its flows joined by ``+``."""
        return self.document["cca"]

    @property
    def ccas(self):
        """The CCAs of the run, in the order in which flows get them."""
        return self.cca.split("+")

    def flow_cca(self, flow):
        """Return the CCA of a flow (numbered from 0): those of a mix go to the flows in turn."""
        return self.ccas[flow % len(self.ccas)]

    @property
    def ip_version(self):
        return self.document["ip_version"]

    @property
    def scenario(self):
        return self.document["scenario"]

    @property
    def link(self):
        return self.scenario["link"]

    @property
    def traffic(self):
        return self.scenario["traffic"]

    @property
    def transport(self):
        return self.scenario["transport"]

    @property
    def flows(self):
        return self.scenario["flows"]

    @property
    def platform(self):
        """What carries the packets: ``uml``, or ``ns3:`` and a version."""
        return self.scenario["platform"]

    @property
    def pairs(self):
        """The pairs of hosts: h1 sends to h2, h3 to h4, and so on."""
        return [
            Pair(i, f"h{2 * i + 1}", f"h{2 * i + 2}", access_ms, self._link_rtt_ms + 4 * access_ms)
            for i, access_ms in enumerate(self.scenario["hosts"]["access_delay_ms"])
        ]

    def flow_pair(self, flow):
        """Return the `Pair` of a flow (numbered from 0): flows go to the pairs in turn."""
        pairs = self.pairs
        return pairs[flow % len(pairs)]

    @property
    def rate_mbps(self):
        """Rate of the bottleneck in Mbit/s, or None where nothing limits it."""
        return self.link["rate_mbps"]

    def direction(self, name):
        """Return the `Direction` called ``forward`` (data) or ``reverse`` (ACKs)."""
        return Direction(
            delay_ms=self.link["delay_ms"][name],
            jitter_ms=self.link["jitter_ms"][name],
            loss_percent=self.link["loss_percent"][name],
        )

    @property
    def _link_rtt_ms(self):
        return self.link["delay_ms"]["forward"] + self.link["delay_ms"]["reverse"]

    @property
    def rtt_path_ms(self):
        """Round-trip time of the empty path in ms, jitter and serialisation aside; the mean over the pairs of hosts."""
        access_ms = self.scenario["hosts"]["access_delay_ms"]
        return self._link_rtt_ms + 4 * sum(access_ms) / len(access_ms)

    @property
    def rtt_longest_ms(self):
        """Round-trip time of the longest empty path in ms."""
        return self._link_rtt_ms + 4 * max(self.scenario["hosts"]["access_delay_ms"])

    @property
    def bdp_bytes(self):
        """Bandwidth-delay product in bytes, or None without a rate."""
        if self.rate_mbps is None:
            return None
        return self.rate_mbps * 1e6 / 8 * self.rtt_path_ms / 1e3

    @property
    def queue_packets(self):
        """The bottleneck queue's limit in full packets, or None if it is in bytes.

        A queue in BDPs is rounded up to whole packets of `PACKET_BYTES`.
        """
        queue = self.scenario["queue"]
        if "packets" in queue:
            return queue["packets"]
        if "bdp" in queue:
            return max(1, math.ceil(queue["bdp"] * self.bdp_bytes / PACKET_BYTES))
        return None

    @property
    def queue_bytes(self):
        """The bottleneck queue's limit in bytes, or None if it is in packets."""
        return self.scenario["queue"].get("bytes")

    @property
    def segment_bytes(self):
        """TCP payload of a full packet (MSS less the timestamp option) in bytes."""
        largest = MTU_BYTES - HEADER_BYTES[self.ip_version] - TCP_TIMESTAMP_OPTION_BYTES
        return self.transport["segment_bytes"] or largest

    @property
    def packet_bytes(self):
        """A full packet of this run as queueing disciplines count it, in bytes."""
        headers = HEADER_BYTES[self.ip_version] + TCP_TIMESTAMP_OPTION_BYTES + ETHERNET_HEADER_BYTES
        return self.segment_bytes + headers

    @property
    def goodput_limit_mbps(self):
        """What TCP can deliver at most over the bottleneck in Mbit/s, or None.

        rate x payload / packet as the shaper counts it.
        """
        if self.rate_mbps is None:
            return None
        return self.rate_mbps * self.segment_bytes / self.packet_bytes

    @property
    def buffer_bytes(self):
        """Largest socket buffer in bytes: far above 2 x (BDP + queue).

        The kernel charges a buffer with whole sk_buffs, about twice the payload
        of a packet that was not segmented, and autotuning doubles once more.
        """
        queue = (self.queue_packets or 0) * PACKET_BYTES + (self.queue_bytes or 0)
        longest = (self.rate_mbps or 0) * 1e6 / 8 * self.rtt_longest_ms / 1e3
        needed = 8 * (longest + queue)
        return int(min(max(needed, 64 * 2**20), 2**31 - 2**20))

    def substream(self, name):
        """Return the 63-bit seed of one source of randomness of this run.

        Sources (``netem-forward``, ``flow-starts``, ...) are independent of
        each other and depend on the run's seed and their own name alone.
        """
        text = f"sawtooth substream {self.document['seed']} {name}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
