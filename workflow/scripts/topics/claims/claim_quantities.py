"""Quantities for claims: columns of the tidy tables, their names in a sentence, and their units."""

from run_tables.metrics import METRICS, PUBLISHED_METRICS, RETRANSMIT_SHARE


def _named(metric):
    """Return a metric's name for use within a sentence, and its unit.

    "Goodput" becomes "goodput"; "RTT of the first stream" doesn't change.
    """
    name = metric.name
    return name if name[:2].isupper() else name[0].lower() + name[1:], metric.unit


#: Quantities of a run that claims may use (columns of `tidy/runs.csv`, and values that `run_quantities` derives) -> name, unit.
RUN_QUANTITIES = {metric.column: _named(metric) for metric in (*METRICS, RETRANSMIT_SHARE, *PUBLISHED_METRICS)} | {
    "jain_index": ("Jain's index of the flows' goodput", ""),
    "queue_mean_packets": ("mean length of the bottleneck's queue", "packets"),
    "queue_steady_packets": ("mean length of the bottleneck's queue after start-up", "packets"),
    "queueing_p50_ms": ("median queueing delay", "ms"),
    "transfer_s": ("duration of the file transfer", "s"),
    "cpu_busy_percent": ("busy share of the cores", "%"),
    "cpu_seconds_per_gbyte": ("CPU time per GB", "s"),
    "utilisation_percent": ("utilisation of the path", "%"),
    "convergence_s": ("time to fair shares", "s"),
    "recoveries": ("fast recoveries", "times"),
    "completion_p50_ms": ("median completion time of the web objects", "ms"),
    "completion_mean_ms": ("mean completion time of the web objects", "ms"),
    "completion_longest_ms": ("longest completion time of the web objects", "ms"),
    "square_root_constant": ("constant of the square-root law from lost packets", ""),
    "square_root_constant_of_halvings": ("constant of the square-root law from fast recoveries", ""),
    "losses_per_halving": ("lost packets per fast recovery", "packets"),
}
#: Quantities of a run whose resolution is unknown.
UNRESOLVED = (
    "queue_mean_packets", "queue_steady_packets", "queueing_p50_ms", "convergence_s", "completion_p50_ms",
    "completion_mean_ms", "completion_longest_ms",
)  # fmt: skip
#: Quantities of a flow that claims may use: column of `tidy/flows.csv` -> name, unit.
FLOW_QUANTITIES = {
    "goodput_mbps": ("goodput", "Mbit/s"),
    "retransmits": ("retransmissions", "segments"),
    "rtt_mean_ms": ("mean round-trip time", "ms"),
    "rtt_max_ms": ("highest round-trip time", "ms"),
}
#: States of a flow -> name, unit. The value is 100 in samples in which the flow was in the state, and 0 in all other samples.
STATES = {
    "slow_start_percent": ("slow start", "%"),
    "fast_recovery_percent": ("fast recovery", "%"),
    "timeout_percent": ("recovery from a timeout", "%"),
}
#: Quantities of a flow at one point in time (columns of `tidy/sockets.parquet`, and values derived from these columns) -> name, unit.
SERIES_QUANTITIES = {
    "cwnd_packets": ("congestion window", "packets"),
    "unacked_packets": ("packets in flight", "packets"),
    "rtt_ms": ("smoothed round-trip time", "ms"),
    "pacing_mbps": ("pacing rate", "Mbit/s"),
    "delivery_mbps": ("delivery rate", "Mbit/s"),
    "acked_mbps": ("rate of acknowledged data", "Mbit/s"),
} | STATES
#: Keys of a claim that select cells -> factor, in the order of the axes.
LEVELS = {"scenarios": "scenario", "ccas": "cca", "ip_versions": "ip_version"}
#: Kinds of claims that compare two groups of cells -> the keys of the groups.
SIDES = {"ratio": ("numerator", "denominator"), "largest_difference": ("minuend", "subtrahend")}
#: Reference of a relative value -> its name in a sentence, and the units of the quantities that can be relative to it.
RELATIONS = {
    "link": ("the link's rate", ("Mbit/s",)),
    "fair_share": ("the fair share", ("Mbit/s",)),
    "total": ("the sum over all flows", ("Mbit/s", "segments", "packets")),
}


def quantities_of(claim) -> dict[str, tuple[str, str]]:
    """Return the quantities that a completed claim, or one of its two groups, may use: column -> (name, unit)."""
    if claim.get("over_time"):
        return SERIES_QUANTITIES
    return FLOW_QUANTITIES if claim.get("flows") else RUN_QUANTITIES
