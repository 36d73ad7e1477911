"""A run's flows, connections and pairs of hosts.

`RunFlows` is a base class of `specification.RunSpecification`.
"""

import random
from functools import cached_property

from experiment.chain import on_chain, pairs_of_chain
from experiment.flow_groups import LONG, OWN, PROGRAM, REVERSE, WEB, WEB_PORT, FlowGroup, LongFlow, long_flows
from experiment.host_pairs import Pair
from experiment.timeline import DIRECTIONS

#: Maximum number of flows with time series if one program sends all flows and another one receives them.
MOST_SAMPLED = 50
#: Local port of the first flow if one program sends all flows.
FIRST_LOCAL_PORT = 10_000


class RunFlows:
    """Properties of a run's flows, connections and pairs of hosts."""

    @property
    def flows(self) -> int:
        """Number of `long_flows`, including a chain's cross flows."""
        return self.end_to_end_flows + (len(self.chain.bottlenecks) * self.chain.cross_flows if self.is_chain else 0)

    @property
    def end_to_end_flows(self) -> int:
        """Number of flows that cross all bottlenecks (they have the lowest flow numbers); without a chain, the total number of flows."""
        return self.scenario["flows"]

    @cached_property
    def groups(self) -> list[FlowGroup]:
        """The groups of flows; empty if all flows are alike."""
        return [FlowGroup(**group) for group in self.scenario.get("groups", ())]

    def groups_of(self, application) -> list[FlowGroup]:
        """Return the groups whose application is ``application``."""
        return [group for group in self.groups if group.application == application]

    @cached_property
    def long_flows(self) -> list[LongFlow]:
        """The long flows, in the order of their numbers: iperf3's flows, or the single flow of another application."""
        limit_mbps = self.traffic.bitrate_mbps
        # If only the scenario is known, there is no CCA yet, but each flow is already assigned to a pair.
        ccas = self.ccas if "cca" in self.document else [OWN]
        pairs = len(self.pairs) if self.is_chain else self.hosts.pairs
        flows = long_flows(self.groups, self.flows, ccas, pairs, self.expected_s, limit_mbps)
        return [on_chain(self, flow) for flow in flows] if self.is_chain else flows

    @cached_property
    def program_flows(self) -> list:
        """The flows of the study's declared programs (`programs.ProgramFlow`), numbered after the long flows."""
        if not self.groups_of(PROGRAM):
            return []
        # Imported here because other runs don't need the module.
        from experiment.programs import program_flows

        return program_flows(self)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs of hosts: h1 sends to h2, h3 sends to h4, and so on.

        On a chain, the first pair's flows cross all bottlenecks, and each other pair's flows cross one bottleneck.
        """
        if self.is_chain:
            return self._chain_pairs
        path_ms, access = 2 * min(self.multipath.path_delay_ms), self.hosts.access_delay_ms
        ways = DIRECTIONS if any(group.direction == REVERSE for group in self.groups) else DIRECTIONS[:1]
        return [
            Pair(i, f"h{2 * i + 1}", f"h{2 * i + 2}", one_ms, self._link_rtt_ms + path_ms + 4 * one_ms, direction=way)
            for i, (way, one_ms) in enumerate((way, one_ms) for way in ways for one_ms in access)
        ]

    @cached_property
    def _chain_pairs(self):
        return pairs_of_chain(self)

    def flow_pair(self, flow) -> Pair:
        """Return the `Pair` of a flow (numbered from 0).

        The flow's group or bottleneck determines the pair. If neither does, pairs are assigned to the flows in turn.
        """
        return self.pairs[self.long_flows[flow].pair]

    def group_pair(self, group) -> Pair:
        """Return the `Pair` of a web or real-time group."""
        return self.pairs[(group.pair or 1) - 1 + self.hosts.pairs * (group.direction == REVERSE)]

    def member_pair(self, group, member) -> Pair:
        """Return the `Pair` of a flow in a program group; ``member`` is the flow's number in the group, from 0.

        If the group sets no pair, pairs are assigned to the group's flows in turn.
        """
        pairs = self.hosts.pairs
        index = member % pairs if group.pair is None else group.pair - 1
        return self.pairs[index + pairs * (group.direction == REVERSE)]

    def _pairs_of(self, group):
        """Return the indices of a group's pairs."""
        if group.application == PROGRAM:
            return {self.member_pair(group, member).index for member in range(group.count)}
        if group.application != LONG:
            return {self.group_pair(group).index}
        return {flow.pair for flow in self.long_flows if flow.group == group.name}

    def flows_through(self, number) -> list[int]:
        """Return the numbers of the flows that cross a bottleneck of a chain; ``number`` is the bottleneck's number, from 1."""
        passing = ((flow, self.flow_pair(flow)) for flow in range(self.flows))
        return [flow for flow, pair in passing if pair.first_hop <= number < pair.first_hop + pair.hops]

    @property
    def connections(self) -> int:
        """Number of connections that carry data: one per flow, or with MPTCP one subflow per flow and path."""
        return sum(self.subflows(self.flow_pair(flow).index) for flow in range(self.flows))

    def subflows(self, pair) -> int:
        """Return the number of connections per flow between a pair of hosts: with MPTCP one subflow per path.

        ``pair`` is the pair's index, from 0. On a dumbbell, only the first pair uses several subflows per flow, which share the bottleneck;
        each flow of another pair uses one connection.
        """
        return self.paths if self.multipath.by == "mptcp" and (self.is_cable or pair == 0) else 1

    @property
    def udp(self) -> bool:
        return self.traffic.protocol == "udp"

    @property
    def per_side(self) -> bool:
        """Whether one program sends all flows and another one receives them, instead of one iperf3 client and server per flow."""
        return self.traffic.processes == "per-side" and self.flows > 0

    def local_port(self, flow) -> int:
        """Return the source port that identifies a flow if one program sends all flows."""
        return FIRST_LOCAL_PORT + flow

    @cached_property
    def sampled_flows(self) -> list[int]:
        """Numbers of the flows with time series: all flows or, if two programs carry more than `MOST_SAMPLED` flows, a random sample.

        Reading thousands of sockets takes longer than the sampling interval.
        """
        if not self.per_side or self.flows <= MOST_SAMPLED:
            return list(range(self.flows))
        return sorted(random.Random(self.substream("sampled-flows")).sample(range(self.flows), MOST_SAMPLED))

    @property
    def sampled_connections(self) -> int:
        """Number of connections with time series."""
        return min(self.connections, MOST_SAMPLED) if self.per_side else self.connections

    @property
    def control_network(self) -> bool:
        """Whether iperf3's control connections use a separate network without rate limit, delay and loss.

        By default they do wherever such a network can be built, so that a bad path can't abort a run.
        """
        if self.traffic.control_connection != "automatic":
            return self.traffic.control_connection == "own-network"
        can_be_built = self.multipath.by == "none" and not self.platform.startswith("ns3") and not self.per_side
        return can_be_built and self.traffic.application == "iperf3" and self.flows > 0

    @property
    def control_pairs(self) -> list[Pair]:
        """The pairs of hosts that have a link for control connections, because they carry iperf3 flows."""
        used = {flow.pair for flow in self.long_flows} if self.control_network else ()
        return [pair for pair in self.pairs if pair.index in used]

    def web_port(self, group) -> int:
        """Return the port of a group's web server."""
        return WEB_PORT + self.groups.index(group)

    @cached_property
    def server_ports(self) -> frozenset[int]:
        """The TCP ports on which web servers listen."""
        return frozenset(self.web_port(group) for group in self.groups_of(WEB))

    @property
    def tcp_program_flows(self) -> list:
        """The `program_flows` that send over TCP."""
        return [flow for flow in self.program_flows if flow.program.protocol == "tcp"]

    @property
    def ports_of_programs(self) -> frozenset[int]:
        """The TCP ports of all servers except those of long flows: web servers and declared programs."""
        return self.server_ports | {flow.port for flow in self.tcp_program_flows}

    @property
    def answers(self) -> bool:
        """Whether packets also flow against the direction of the data, which is true unless all flows are real-time streams."""
        return bool(self.flows or self.server_ports or self.groups_of(PROGRAM))
