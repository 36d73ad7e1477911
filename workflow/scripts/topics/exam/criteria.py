"""The criteria of RFC 9743, with their measures, or with the reason why a criterion can't be evaluated here.

The criteria are in the order of the scorecard. A scenario's name begins with a section number of the RFC and determines which criteria the
scenario evaluates.
"""

from dataclasses import dataclass

from topics.exam.published import BETWEEN_RTTS, HIGH_LOSS, RESPONSE, SHARES, Published

#: Groups of criteria, as shown on the report's first screen.
ALONE, OTHERS, GENERAL, SPECIAL = "Alone", "Against others", "General use", "Special cases"
GROUPS = (ALONE, OTHERS, GENERAL, SPECIAL)
#: Whether higher or lower values of a measure are better.
HIGHER, LOWER = "higher", "lower"
#: Value that stands for infinity: a slowdown quantile if too many short flows never finished, or a call's delay if no packet arrived.
#: It is finite, so that differences are defined, and larger than any measured value.
NEVER = 1e9


def is_infinite(value) -> bool:
    """Return whether a number stands for infinity; it may be a value, a difference of two values, or a median of either.

    >>> is_infinite(NEVER), is_infinite(2 - NEVER), is_infinite((NEVER - 3 + 1) / 2), is_infinite(1e6)
    (True, True, True, False)
    """
    return bool(abs(value) > NEVER / 4)


@dataclass(frozen=True)
class Measure:
    """A measure of a run: with a margin, it is compared with the standard CCAs; with a limit, it is judged by itself."""

    name: str  # with its unit at the end
    words: str  # name used in a sentence: "{words} is 12.3 %"
    unit: str
    better: str = LOWER
    margin: str = ""  # key of ``exam.margins``
    limit: str = ""  # key of ``exam.limits``
    decimals: int = 1


@dataclass(frozen=True)
class Criterion:
    """A criterion of the RFC."""

    section: str  # section of the RFC
    words: str  # the requirement
    strength: str  # the RFC's word: "MUST"
    group: str  # one of `GROUPS`
    # Scenarios that evaluate the criterion: full names, or prefixes that end before a hyphen. If empty, the criterion can't be evaluated.
    scenarios: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()  # names of `MEASURES`
    reason: str = ""  # reason why the criterion can't be evaluated
    is_explained: bool = False  # whether the author's explanation answers the criterion
    published: tuple[Published, ...] = ()  # published statements about the criterion's measures

    def is_answered_by(self, scenario: str) -> bool:
        """Return whether the scenario with this name evaluates the criterion."""
        return any(f"{scenario}-".startswith(f"{name}-") for name in self.scenarios)


_PERCENT, _LOSS, _DELAY, _TIME, _INDEX, _SLOWDOWN, _POWER = (
    "goodput_points", "loss_points", "delay_ms", "time_s", "index", "slowdown", "rtt_exponent",
)  # fmt: skip
MEASURES = {
    measure.name: measure
    for measure in (
        Measure("packets_per_rtt", "its sending rate from 3 s after the loss began", "packets/RTT", limit="packets_per_rtt", decimals=2),
        Measure("utilisation_percent", "its goodput, relative to the path's maximum,", "%", HIGHER, _PERCENT),
        Measure("queueing_p50_ms", "the median queueing delay", "ms", LOWER, _DELAY),
        Measure("queueing_p95_ms", "the 95th percentile of queueing delay", "ms", LOWER, _DELAY),
        Measure("loss_percent", "the loss", "%", LOWER, _LOSS, decimals=2),
        Measure("jain_index", "Jain's index of its flows", "", HIGHER, _INDEX, decimals=3),
        Measure("least_percent", "the goodput of its slowest flow, relative to the fair share,", "%", HIGHER, _PERCENT),
        # Logarithm of the ratio of goodputs (so that equal factors count equally), divided by the logarithm of the ratio of RTTs (so that
        # cases are comparable, and theory uses the same unit): 0 for equal shares, 1 for equal congestion windows, 2 for Reno flows with
        # synchronised losses (RFC 9438, section 3.3).
        Measure("rtt_exponent", "the exponent with which its flows' goodputs depend on the RTT", "", LOWER, _POWER, decimals=2),
        Measure("convergence_s", "the time until all flows had their fair shares", "s", LOWER, _TIME),
        Measure("starved_s", "the longest time for which one of its flows starves", "s", limit="starved_s"),
        Measure("slowdown_p50", "the median slowdown of short flows", "", LOWER, _SLOWDOWN, decimals=2),
        Measure("slowdown_p95", "the 95th percentile of the slowdown of short flows", "", LOWER, _SLOWDOWN, decimals=2),
        Measure("harm_throughput", "the harm to the other flow's throughput", "", LOWER, _INDEX, decimals=3),
        Measure("harm_delay", "the harm to the other flow's delay", "", LOWER, _INDEX, decimals=3),
        # As a ratio, the harm would be 1 whenever the lone flow has no loss, whether one packet is lost or a third of all packets.
        Measure("loss_added_percent", "the increase in the other flow's loss over its loss when alone", "%", LOWER, _LOSS, decimals=2),
        Measure("other_fair_percent", "the other flow's goodput, relative to its fair share,", "%", HIGHER, _PERCENT),
        Measure("other_starved_s", "the longest time for which the other flow starves", "s", limit="starved_s"),
        Measure("own_share_percent", "its share of both flows' goodput", "%", HIGHER, _PERCENT),
        Measure("own_starved_s", "the longest time for which it is itself starved", "s", limit="starved_s"),
        Measure("call_queueing_p95_ms", "the 95th percentile of a call's queueing delay", "ms", LOWER, _DELAY),
        Measure("call_jitter_ms", "a call's jitter", "ms", LOWER, _DELAY, decimals=2),
        Measure("call_lost_percent", "a call's loss", "%", LOWER, _LOSS, decimals=2),
        Measure("breaker_s", "the longest time with more loss than a circuit breaker allows", "s", limit="breaker_s"),
        Measure("after_utilisation_percent", "its goodput after the change, relative to the path's new maximum,", "%", HIGHER, _PERCENT),
        Measure("after_queueing_p95_ms", "the 95th percentile of queueing delay after the change", "ms", LOWER, _DELAY),
        Measure("dip_percent", "the lowest goodput in any one-second interval after the change, relative to the path's capacity,", "%", HIGHER, _PERCENT),
        Measure("recovery_s", "the time until the path was used again", "s", LOWER, _TIME),
        Measure("crowd_percent", "the others' goodput, relative to their fair share,", "%", HIGHER, _PERCENT),
        Measure("during_percent", "the goodput of the remaining path, relative to its capacity,", "%", HIGHER, _PERCENT),
        Measure("standstill_s", "the longest time without any delivery", "s", LOWER, _TIME, decimals=2),
        Measure("subflows_percent", "the share that two subflows get against one competing flow", "%", LOWER, _PERCENT),
        Measure("runs_far_worse", "the number of runs in which it falls far behind", "runs", LOWER, decimals=0),
    )
}  # fmt: skip

#: The criterion that is judged over all scenarios together.
RARE_EVENTS = Criterion(
    "5", "all cases: runs in which it falls far behind every standard CCA by any measure", "MUST consider", ALONE, measures=("runs_far_worse",)
)  # fmt: skip
_BESIDE = ("5.2.1-before", "5.2.1-after", "5.2.1-beside", "5.2.1-near", "5.2.1-far")
CRITERIA = (
    Criterion("5.1.1", "protection against congestion collapse: full backoff under persistent loss", "MUST consider", ALONE, ("5.1.1",), ("packets_per_rtt",)),
    Criterion("5.1.2", "protection against bufferbloat", "MUST consider", ALONE, ("5.1.2",), ("queueing_p50_ms", "queueing_p95_ms", "utilisation_percent")),
    Criterion("5.1.3", "protection against high packet loss", "MUST consider", ALONE, ("5.1.3",), ("loss_percent", "utilisation_percent"), published=HIGH_LOSS),
    Criterion("5.1.4", "fairness among its own flows", "MUST consider", ALONE, ("5.1.4",), ("jain_index", "least_percent", "rtt_exponent", "starved_s"), published=BETWEEN_RTTS),
    Criterion("5.1.4", "convergence when a flow joins", "MUST consider", ALONE, ("5.1.4-late",), ("convergence_s",)),
    Criterion("5.1.5", "its own short flows, alone and in competition with its long flows", "MUST", ALONE, ("5.1.5",), ("slowdown_p50", "slowdown_p95")),
    Criterion("5.2", "backoff where all feedback is lost", "MUST", OTHERS, ("5.2-acks",), ("packets_per_rtt",)),
    Criterion("5.2", "starvation of others", "MUST", OTHERS, _BESIDE, ("other_starved_s",)),
    Criterion("5.2.1", "harm to standard and widely deployed CCAs, which must not exceed the harm that standard CCAs do", "MUST", OTHERS, _BESIDE, ("harm_throughput", "harm_delay", "loss_added_percent", "other_fair_percent")),
    Criterion("5.2.2", "real-time traffic that competes with it", "SHOULD", OTHERS, ("5.2.2",), ("call_queueing_p95_ms", "call_jitter_ms", "call_lost_percent")),
    Criterion("5.2.3", "short flows of others that compete with it", "MUST", OTHERS, ("5.2.2",), ("slowdown_p50", "slowdown_p95")),
    Criterion("5.3.1", "deviations from the principles of congestion control, explained", "MUST", OTHERS, reason="this requires a text by the CCA's author, which no run can replace: the key `explanation` in the CCA's definition", is_explained=True),
    Criterion("5.3.2", "incremental deployment: its performance in competition with deployed CCAs", "MUST discuss", OTHERS, _BESIDE, ("own_share_percent", "own_starved_s"), published=SHARES),
    Criterion("6.1", "paths with drop-tail queues", "MUST", GENERAL, ("5.2.1-solo",), ("utilisation_percent", "queueing_p95_ms", "loss_percent")),
    Criterion("6.2", "tunnels", "MUST consider", GENERAL, ("6.2",), ("utilisation_percent",)),
    Criterion("6.2", "tunnels that carry ECN", "MUST consider", GENERAL, reason="the testbed's tunnels begin behind the marking queue, so no mark would have to be copied from the outer header to the inner one"),
    Criterion("6.3", "wired paths", "baseline", GENERAL, ("6.3",), ("utilisation_percent", "queueing_p95_ms", "loss_percent")),
    Criterion("6.4", "wireless paths: loss in bursts, varying rate, jitter", "SHOULD", GENERAL, ("6.4",), ("utilisation_percent", "queueing_p95_ms"), published=RESPONSE),
    Criterion("7.1", "active queue management and marks", "SHOULD", SPECIAL, ("7.1",), ("utilisation_percent", "queueing_p95_ms", "loss_percent", "jain_index")),
    Criterion("7.1", "L4S: a sender of the low-latency queue", "SHOULD", SPECIAL, reason="CCAs of mainline Linux send ECT(0), but DualPI2's low-latency queue accepts only ECT(1), which needs a patched kernel (`examples/l4s-ect1.patch`)"),
    Criterion("7.2", "tripping of circuit breakers (RFC 8084)", "ought", SPECIAL, ("5.1.3",), ("breaker_s",)),
    Criterion("7.3", "paths whose delay changes", "SHOULD", SPECIAL, ("7.3",), ("after_utilisation_percent", "dip_percent", "after_queueing_p95_ms", "recovery_s")),
    Criterion("7.4", "constrained paths: a BDP below one packet", "SHOULD consider", SPECIAL, ("7.4",), ("utilisation_percent", "queueing_p50_ms", "loss_percent")),
    Criterion("7.5", "paths with high delay", "ought", SPECIAL, ("7.5",), ("utilisation_percent",)),
    Criterion("7.6", "misbehaving nodes", "SHOULD explore", SPECIAL, reason="Linux's receiver doesn't split acknowledgements, acknowledge data that it has not received, or hide losses or marks, and the testbed has no receiver that does"),
    Criterion("7.7", "extreme reordering (RFC 4653)", "ought", SPECIAL, ("7.7",), ("utilisation_percent",)),
    Criterion("7.8", "transient events: an outage", "SHOULD", SPECIAL, ("7.8-outage",), ("recovery_s", "after_utilisation_percent")),
    Criterion("7.8", "transient events: heavy loss that ends", "SHOULD", SPECIAL, ("7.8-loss",), ("recovery_s", "after_utilisation_percent")),
    Criterion("7.8", "transient events: a crowd of other flows", "SHOULD", SPECIAL, ("7.8-crowd",), ("crowd_percent",)),
    Criterion("7.9", "sudden changes to the path", "MUST", SPECIAL, ("7.9",), ("after_utilisation_percent", "after_queueing_p95_ms", "recovery_s")),
    Criterion("7.10", "multipath: fail-over", "MUST where it applies", SPECIAL, ("7.10-failover",), ("during_percent", "standstill_s")),
    Criterion("7.10", "multipath: a bottleneck that subflows share with other flows", "MUST where it applies", SPECIAL, ("7.10-shared",), ("subflows_percent",)),
    Criterion("7.11", "data centres: incast, step marking, an RTT of 100 us", "if meant for them", SPECIAL, ("7.11",), ("slowdown_p50", "slowdown_p95", "queueing_p95_ms", "loss_percent")),
)  # fmt: skip


def wanted_measures(scenario) -> set[str]:
    """Return the measures that the criteria require in the scenario with this name."""
    return {name for criterion in CRITERIA if criterion.is_answered_by(scenario) for name in criterion.measures}
