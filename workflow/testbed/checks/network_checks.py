"""Checks of the network's idle RTT, of the kernel's memory, and of drops outside the bottleneck."""

from experiment.link_options import PATH, options_at
from experiment.timeline import DIRECTIONS
from testbed.checks.check import SENDER, Check, in_turn

#: Maximum amount in ms by which an RTT from ping may be too small, because ping reads times in whole microseconds and rounds its output.
PING_STEP_MS = 0.0011
#: Maximum excess in ms of the idle RTT over the configured delays under a virtual clock, where netem's delays are exact.
IDLE_RTT_SLACK_MS = 0.2
#: Maximum excess in ms of the idle RTT over the configured delays under a real clock: the stack's processing time for the fastest of ten
#: replies, plus timer slack.
REAL_IDLE_RTT_SLACK_MS = 1.0
#: Probability that the packets of all answered pings were late, above which the idle RTT may include this delay.
ALL_LATE = 1e-9
#: Kernel counters that show that memory, and not congestion control, limited a flow.
MEMORY_COUNTERS = (
    "TcpExtTCPMemoryPressures",
    "TcpExtPruneCalled",
    "TcpExtRcvPruned",
    "TcpExtOfoPruned",
    "TcpExtTCPRcvCollapsed",
    "TcpExtTCPRcvQDrop",
    "TcpExtTCPBacklogDrop",
    "TcpExtTCPOFODrop",
    "TcpExtTCPZeroWindowDrop",
    "TcpExtTCPAbortOnMemory",
    "UdpRcvbufErrors",
    "UdpSndbufErrors",
    "Udp6RcvbufErrors",
    "Udp6SndbufErrors",
)


def check_idle_rtt(specification, document) -> Check:
    """On each idle path, the minimum RTT equals the configured delays or exceeds them only slightly."""
    jitter_ms = sum(specification.direction(d).jitter_reach_ms for d in ("forward", "reverse"))
    wrong, expected, observed = [], [], []
    slack_ms = IDLE_RTT_SLACK_MS if specification.virtual_clock else REAL_IDLE_RTT_SLACK_MS
    for options in (options_at(specification.scenario["link"], PATH, direction) for direction in DIRECTIONS):
        slack_ms += sum(option.idle_ms(value) for option, value in options.items())
    hops = [pair.hops for pair in specification.pairs] * (specification.paths if specification.is_cable else 1)
    for rtt_ms, passed, idle in zip(specification.idle_rtts_ms, hops, document["idle_rtt"], strict=True):
        low, high = max(0.0, rtt_ms - passed * jitter_ms), rtt_ms + passed * jitter_ms + slack_ms
        high += sum(_late_ms(specification, direction, idle["received"]) for direction in DIRECTIONS)
        shortest = idle["min_ms"]
        if shortest is None or not low - PING_STEP_MS <= shortest <= high:
            wrong.append(idle["sender"])
        expected.append(f"{low:g} to {high:g} ms")
        observed.append("no answer" if shortest is None else f"{shortest:g} ms")
    return Check("idle_rtt", not wrong, in_turn(expected), in_turn(observed))


def _late_ms(specification, direction, replies) -> float:
    """Return the delay of a direction's late packets in ms if it is likely enough that all packets were late, otherwise 0."""
    late = specification.late_percent(direction) / 100
    return specification.option("reordering", direction)["late_ms"] if late and late**replies > ALL_LATE else 0


def check_memory(specification, document) -> Check:
    """The kernel never reached its memory limits, because their effect would look like congestion control.

    A failure means that more data were in flight than the memory is sized for, whatever the CCA.
    """
    nonzero = [
        f"{host} {name} {counters[name]}"
        for host, counters in document["stack"]["tcp"].items()
        for name in MEMORY_COUNTERS
        if counters[name]
    ]
    return Check("memory", not nonzero, "all counters 0", ", ".join(nonzero) or "all counters 0", SENDER)


def check_drops_elsewhere(specification, document) -> Check:
    """Packets were dropped only by the bottleneck's queue, by netem or by a policer, as set up by the testbed."""
    after = document["links"]["after"]
    drops = [f"{i['device_drops']} at {name}" for name, i in after.items() if i["device_drops"]]
    if document["stack"]["backlog_drops"]:
        drops.append(f"{document['stack']['backlog_drops']} in the cores' backlogs")
    for name, interface in after.items():
        # Tunnels and their bond aren't listed among the settings, so they have no queue either.
        if set(document["network"]["set"]["qdiscs"].get(name, {"noqueue"})) == {"noqueue"}:
            drops += [f"{q['drops']} at {name} ({k})" for k, q in interface["qdiscs"].items() if q["drops"]]
    return Check("drops_elsewhere", not drops, "none", ", ".join(drops) or "none")


def grown(document, name, counter) -> int:
    """Return by how much a device's counter increased during the traffic."""
    return document["links"]["after"][name][counter] - document["links"]["before"][name][counter]
