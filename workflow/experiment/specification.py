"""A run's specification: the emulated conditions and the values derived from them."""

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from experiment.capacity import Capacity
from experiment.chain import scenarios_of_bottlenecks
from experiment.conditions import Chain, Multipath, Traffic
from experiment.definitions import Definition
from experiment.flow_groups import OWN, PROGRAM, WEB
from experiment.host_pairs import Pair
from experiment.packet_sizes import ECHO_BYTES, ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, PACKET_BYTES
from experiment.run_flows import RunFlows
from experiment.run_hosts import RunHosts
from experiment.run_links import RunLinks
from experiment.run_packets import RunPackets
from experiment.run_queues import RunQueues
from experiment.several_paths import scenarios_of_paths
from experiment.timeline import DIRECTIONS, Timeline, rate_of, traces_of

#: ``schema_version`` of a specification, and of a run document (`run.schema.json`).
SPECIFICATION_VERSION, DOCUMENT_VERSION = 3, 3


@dataclass(frozen=True)
class RunSpecification(RunFlows, RunLinks, RunQueues, RunPackets, RunHosts):
    """The specification of one run: cell, replication and seed.

    ``document`` is the workflow's original JSON object (``workflow/schemas/run.schema.json``, ``specification``); the run's properties are
    derived from it. ``kernels`` is the folder with custom kernels, and ``programs`` the folder with the archives of declared programs.
    ``testbed_digest`` is the digest of the program that executes the run (`identity`), if the caller knows it.
    """

    document: dict = field(repr=False)
    kernels: Path | None = field(default=None, repr=False)
    testbed_digest: str | None = field(default=None, repr=False)
    programs: Path | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The run's name, which is unique in the study: ``scenario/cca/ip_version/replication``."""
        d = self.document
        return f"{d['scenario']['id']}/{d['cca']}/{d['ip_version']}/{d['replication']}"

    @property
    def factors(self) -> dict[str, str | int]:
        """The run's four factors, which are the first columns of every table."""
        d = self.document
        return {"scenario": self.scenario["id"], **{name: d[name] for name in ("cca", "ip_version", "replication")}}

    @property
    def seed(self) -> int:
        return self.document["seed"]

    @property
    def cca(self) -> str:
        """The run's CCA, or the CCAs of a mix joined by ``+``."""
        return self.document["cca"]

    @property
    def ccas(self) -> list[str]:
        """The CCAs of the run, in the order in which they are assigned to flows."""
        return self.cca.split("+")

    def flow_cca(self, flow) -> str:
        """Return the CCA of a flow (numbered from 0): a mix's CCAs are assigned in turn, and a chain's cross flows may use another CCA."""
        return self.long_flows[flow].cca

    @cached_property
    def ccas_that_run(self) -> list[str]:
        """The distinct CCAs that TCP flows use: first the long flows' CCAs in the order of the flows, then the web servers' CCAs."""
        servers = (self.server_cca(group) for group in self.groups_of(WEB))
        return list(dict.fromkeys([*(flow.cca for flow in self.long_flows), *servers]))

    def server_cca(self, group) -> str:
        """Return the CCA that a group's web server uses."""
        return self.ccas[0] if group.cca == OWN else group.cca

    def server_kernel_cca(self, group) -> str:
        """Return the kernel's name for the CCA that a group's web server uses."""
        return self.kernel_cca(self.server_cca(group))

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The run's CCAs that the study defines, by their names in the study."""
        return {name: Definition(**one) for name, one in self.document.get("cca_definitions", {}).items()}

    @property
    def sources(self) -> list[Definition]:
        """The CCA definitions whose C file is built into the run's kernel."""
        return [one for one in self.definitions.values() if one.source]

    @property
    def kernel(self) -> dict | None:
        """The definition of the run's kernel, excluding the CCAs' C files; None for the image's kernel.

        All CCA definitions of a run use the same kernel.
        """
        return next((one.kernel for one in self.definitions.values() if one.kernel), None)

    @property
    def has_own_kernel(self) -> bool:
        """Whether the run's kernel differs from the image's."""
        return bool(self.sources or self.kernel)

    def kernel_cca(self, name) -> str:
        """Return a CCA's name in the kernel; ``name`` is the CCA's name in the study."""
        return self.definitions[name].kernel_cca if name in self.definitions else name

    def flow_kernel_cca(self, flow) -> str:
        """Return the kernel's name for the CCA of a flow (numbered from 0)."""
        return self.kernel_cca(self.flow_cca(flow))

    @property
    def ip_version(self) -> str:
        return self.document["ip_version"]

    @property
    def scenario(self) -> dict:
        return self.document["scenario"]

    @cached_property
    def timeline(self) -> Timeline:
        """The changes to the path during the traffic; the other properties describe the path before the first change."""
        # A link that follows a trace passes whole packets. Their size depends on the IP version, which isn't known yet while a study is
        # being checked.
        known = traces_of(self.scenario["link"]) and "ip_version" in self.document
        return Timeline(self.scenario["link"], self.traffic.duration_s, self.packet_bytes if known else PACKET_BYTES)

    @cached_property
    def capacity(self) -> Capacity:
        """The path's capacity and delay over time, for data in the direction ``forward``."""
        return Capacity(self)

    def capacity_in(self, direction) -> Capacity:
        """Return the path's capacity and delay over time, for data in the given direction."""
        return self.capacity if direction == self.capacity.direction else Capacity(self, direction)

    @cached_property
    def traffic(self) -> Traffic:
        return Traffic(**self.scenario["traffic"])

    @property
    def runs_foreign_code(self) -> bool:
        """Whether the guest executes code that may come from third parties: a kernel, or programs."""
        return self.has_own_kernel or bool(self.groups_of(PROGRAM))

    @property
    def platform(self) -> str:
        """The platform that executes the run: ``uml``, ``host``, or ``ns3:`` and a version."""
        return self.scenario["platform"]

    @property
    def virtual_clock(self) -> bool:
        """Whether the run uses the virtual clock, which advances only while the guest is idle."""
        return self.platform == "uml"

    @property
    def is_cable(self) -> bool:
        """Whether the two hosts are connected directly."""
        return self.scenario["topology"] == "cable"

    @property
    def is_chain(self) -> bool:
        """Whether there are several bottlenecks in series."""
        return self.scenario["topology"] == "chain"

    @cached_property
    def chain(self) -> Chain:
        return Chain(**self.scenario["chain"])

    @cached_property
    def bottlenecks(self) -> list["RunSpecification"]:
        """One run specification per bottleneck.

        On a chain, each bottleneck becomes a dumbbell with the flows that cross the bottleneck; the flows keep their RTTs. On a cable with
        several paths, each path becomes a cable. Otherwise the list contains only the run itself.
        """
        if not self.is_chain and (not self.is_cable or self.paths == 1):
            return [self]
        each = scenarios_of_bottlenecks(self) if self.is_chain else scenarios_of_paths(self.scenario)
        return [RunSpecification(self.document | {"scenario": one}) for one in each]

    def on_path(self, path) -> "RunSpecification":
        """Return the specification for a single path of a cable; ``path`` is the path's number, from 0.

        On a dumbbell the paths share the bottleneck, so the run itself is returned.
        """
        return self.bottlenecks[path] if self.is_cable else self

    @property
    def narrowest(self) -> "RunSpecification":
        """The first of the `bottlenecks` with the lowest rate."""
        return min(self.bottlenecks, key=lambda bottleneck: bottleneck.rate_mbps or math.inf)

    @cached_property
    def multipath(self) -> Multipath:
        return Multipath(**self.scenario["multipath"])

    @property
    def background(self) -> str:
        """The kind of background traffic: ``none`` or ``server``."""
        return self.scenario["background"]

    @property
    def shaper(self) -> str:
        """The qdisc that shapes the traffic to the link's rate: `htb`, `tbf` or `netem`."""
        return self.scenario["link"].get("shaper", "htb")

    @property
    def shaper_burst_bytes(self) -> int | None:
        """Size in bytes of the burst that the shaper may send at once after an idle period, or None if the study doesn't set it."""
        return self.scenario["link"].get("shaper_burst_bytes")

    @property
    def paths(self) -> int:
        """Number of parallel paths between the two hosts; on a dumbbell, they share the bottleneck."""
        return self.multipath.paths

    @property
    def serialised(self) -> bool:
        """Whether each packet's serialisation delay (length / rate) is emulated even on an idle link; this needs a virtual clock."""
        return self.link.serialisation == "virtual-clock" and self.virtual_clock

    @property
    def lone_packets_take_time(self) -> bool:
        """Whether a serialisation delay (length / rate) also applies to a single packet on an idle link.

        This is the case if the link is `serialised` or netem is the shaper.
        """
        return self.serialised or (self.shaper == "netem" and self.rate_mbps is not None)

    @cached_property
    def pair_of_host(self) -> dict[str, Pair]:
        """Each host's `Pair`, by the host's name."""
        return {host: pair for pair in self.pairs for host in (pair.sender, pair.receiver)}

    @property
    def shaped(self) -> bool:
        """Whether the link's rate is emulated.

        It isn't if individual messages go back and forth (``round-trip``) over a wire without serialisation delay. With a single packet in
        flight, a shaper would only round the stack's processing time up to the serialisation delay of a frame.
        """
        wire_takes_no_time = self.link.serialisation == "virtual-clock" and not self.virtual_clock
        return not (self.traffic.application == "round-trip" and wire_takes_no_time)

    @property
    def idle_rtts_ms(self) -> list[float]:
        """RTT in ms of an echo request without queueing, for each pair of hosts, or for each path of a cable."""
        frame = ECHO_BYTES + IP_HEADER_BYTES[self.ip_version] + ETHERNET_HEADER_BYTES + self.link.frame_overhead_bytes
        if self.is_chain:
            times = [2 * frame * 8 / one.rate_mbps / 1e3 if self.serialised else 0.0 for one in self.bottlenecks]
            return [p.rtt_ms + sum(times[p.first_hop - 1 : p.first_hop - 1 + p.hops]) for p in self.pairs]
        if not self.is_cable:
            rates = [self.rate_in(way) for way in DIRECTIONS] if self.lone_packets_take_time else ()
            return [pair.rtt_ms + sum(frame * 8 / rate_mbps / 1e3 for rate_mbps in rates) for pair in self.pairs]
        on_wire_ms = [2 * frame * 8 / one.rate_mbps / 1e3 if self.serialised else 0.0 for one in self.bottlenecks]
        delays_ms = zip(self.multipath.path_delay_ms, on_wire_ms, strict=True)
        return [self._link_rtt_ms + 2 * path_ms + wire_ms for path_ms, wire_ms in delays_ms]

    @property
    def rate_mbps(self) -> float | None:
        """Rate of the bottleneck in Mbit/s, or None if unlimited; with several bottlenecks or paths, the lowest of their rates."""
        return self.narrowest.rate_mbps if len(self.bottlenecks) > 1 else self.link.rate_mbps

    def rate_in(self, direction) -> float | None:
        """Return the rate of a direction in Mbit/s, or None if unlimited; `rate_mbps` is the forward rate."""
        return self.rate_mbps if self.is_chain or self.is_cable else rate_of(self.scenario["link"], direction)

    @property
    def total_rate_mbps(self) -> float | None:
        """Sum of the rates of all `bottlenecks` in Mbit/s, or None if unlimited."""
        return None if self.rate_mbps is None else math.fsum(one.rate_mbps for one in self.bottlenecks)

    @property
    def most_total_rate_mbps(self) -> float | None:
        """Maximum total rate, in Mbit/s, of the links that carry data during the run, or None if unlimited.

        Both directions count if data flow in both.
        """
        ways = {pair.direction for pair in self.pairs}
        if not self.timeline and len(ways) < len(DIRECTIONS):
            return self.total_rate_mbps
        rates_mbps = [self.timeline.most(way, "rate_mbps") for way in ways]
        return None if None in rates_mbps else sum(rates_mbps)

    @property
    def link_rtts_ms(self) -> tuple[float, float]:
        """Minimum and maximum of the link's own round-trip delay during the run, in ms."""
        ways = ("forward", "reverse")
        return tuple(sum(pick(way, "delay_ms") for way in ways) for pick in (self.timeline.least, self.timeline.most))

    @property
    def rtt_most_ms(self) -> float:
        """Longest base RTT at any time during the run, in ms; equals `rtt_longest_ms` unless the link's delay changes."""
        if not self.timeline:
            return self.rtt_longest_ms
        return self.link_rtts_ms[1] + 4 * max(self.hosts.access_delay_ms) + 2 * max(self.multipath.path_delay_ms)

    @property
    def _link_rtt_ms(self):
        return self.link.delay_ms["forward"] + self.link.delay_ms["reverse"]

    @property
    def rtt_path_ms(self) -> float:
        """Base RTT in ms, without queueing, jitter and serialisation delay.

        This is the mean over the pairs of hosts and the paths. On a chain, it is the mean over the pairs that cross the narrowest
        bottleneck.
        """
        if self.is_chain:
            return self.narrowest.rtt_path_ms
        access_ms, path_ms = self.hosts.access_delay_ms, self.multipath.path_delay_ms
        return self._link_rtt_ms + 4 * sum(access_ms) / len(access_ms) + 2 * sum(path_ms) / len(path_ms)

    @property
    def rtt_longest_ms(self) -> float:
        """Longest base RTT of all pairs and paths before the first change, in ms."""
        if self.is_chain:
            return max(pair.rtt_ms for pair in self.pairs)
        return self._link_rtt_ms + 4 * max(self.hosts.access_delay_ms) + 2 * max(self.multipath.path_delay_ms)

    @property
    def bdp_bytes(self) -> float | None:
        """Bandwidth-delay product in bytes, or None if the rate is unlimited."""
        if self.rate_mbps is None:
            return None
        return self.rate_mbps * 1e6 / 8 * self.rtt_path_ms / 1e3

    @property
    def goodput_limit_mbps(self) -> float | None:
        """Upper limit on the receivers' total goodput at any time, in Mbit/s; None on a chain, or if the rate is unlimited.

        The limit is capacity x payload / packet size, where the capacity is the sum over all paths, and the packet size is counted as the
        shaper counts it. On a chain, each of the `bottlenecks` has a separate limit.
        """
        if self.is_chain or self.capacity.is_unlimited():
            return None
        return self.capacity.most_mbps() * self.payload_bytes / self.packet_bytes

    @property
    def expected_s(self) -> float:
        """Expected duration of the traffic in s; if the run sends a given amount of data, this is a lower bound."""
        amount = None
        if self.traffic.application == "ftp":
            amount = self.traffic.file_bytes
        elif self.traffic.application == "iperf3" and self.traffic.messages is not None:
            amount = self.traffic.messages * self.traffic.block_bytes * self.flows
        if amount is None:
            return self.traffic.duration_s
        limits = [self.goodput_limit_mbps, self.traffic.bitrate_mbps and self.traffic.bitrate_mbps * self.flows]
        given = [limit for limit in limits if limit is not None]
        return amount * 8 / min(given) / 1e6 if given else self.traffic.duration_s

    def substream(self, name) -> int:
        """Return the 63-bit seed for one of this run's sources of randomness.

        The sources (``netem-forward``, ``flow-starts``, ...) are independent of each other. A source's seed depends only on the run's seed
        and on the source's name.
        """
        text = f"sawtooth substream {self.document['seed']} {name}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
