"""Descriptions of queueing disciplines and their parameters, for the report and the documentation of studies.

The descriptions aren't next to the declarations in `experiment.disciplines`, because any change to that module makes existing runs stale.
"""

#: Discipline -> description.
DISCIPLINE_WORDS = {
    "drop-tail": "Drops packets that arrive while it is full.",
    "red": (
        "Random early detection (Floyd and Jacobson 1993): marks or drops at random between two thresholds of the mean queue length. "
        "With `step_packets`, it marks every packet above one threshold, as DCTCP requires (RFC 8257)."
    ),
    "codel": (
        "Controlled delay (RFC 8289): drops or marks packets once packets have waited "
        "longer than `target_ms` throughout `interval_ms`."
    ),
    "fq_codel": "Hashes flows to queues with CoDel, which are served in turn (RFC 8290).",
    "pie": (
        "Proportional integral controller enhanced (RFC 8033): drops or marks at random, with a "
        "probability that holds the delay at `target_ms`."
    ),
    "fq_pie": "Hashes flows to queues with PIE, which are served in turn.",
    "cake": (
        "Common applications kept enhanced (Høiland-Jørgensen, Täht and Morton 2018): serves flows in turn, in three tins by priority, with COBALT in each tin. "
        "Always marks packets of flows with ECN. The link's shaper, not CAKE, limits the rate."
    ),
    "dualpi2": (
        "Dual queue, coupled (RFC 9332): a low-latency queue for flows with ECT(1), which marks packets above `step_threshold_ms`, and a classic queue with PI2 for all other flows. "
        "Always marks packets of flows with ECN."
    ),
    "sfq": "Stochastic fairness queueing (McKenney 1990): hashes flows to drop-tail queues, which are served in turn.",
    "fq": (
        "Fair queueing: a queue for each flow, served in turn. "
        "It paces only connections of the host on which it runs, so on a router it paces none."
    ),
}
#: Parameter of a discipline -> description.
PARAMETER_WORDS = {
    "min_packets": "Mean queue length, in full packets, above which packets are marked or dropped.",
    "max_packets": "Mean queue length, in full packets, above which all packets are marked or dropped.",
    "probability": "Probability of a mark or drop just below `max_packets`.",
    "burst_packets": "Burst size from which tc computes the weight of the mean.",
    "step_packets": "Single threshold in place of `min_packets` and `max_packets`, with a mean over about two packets.",
    "ecn": "Whether packets of flows with ECN are marked instead of dropped.",
    "target_ms": "Target for the standing delay.",
    "interval_ms": "Time for which the delay may exceed the target: about the longest usual RTT.",
    "ce_threshold_ms": ("Delay above which packets of flows with ECN are marked in any case. `null`: no such limit."),
    "flow_queues": "Number of queues; a hash assigns flows to them.",
    "quantum_bytes": "Bytes that a queue may send in its turn.",
    "memory_limit_bytes": "Memory limit for the queued packets, including the kernel's own data about each packet.",
    "drop_batch_packets": "Packets dropped together from the longest queue when the limit is reached.",
    "tupdate_ms": "Interval at which the probability is computed; for PIE in ticks of the kernel.",
    "alpha": "Weight of the difference between the delay and the target.",
    "beta": "Weight of the change in delay.",
    "ecn_prob_percent": "Probability up to which packets are marked; above it, packets are dropped.",
    "rtt_ms": "COBALT's interval; the target is a twentieth of this interval.",
    "isolation": "Unit that is served in turn.",
    "tins": "Queues by priority.",
    "ack_filter": "Whether a waiting acknowledgement is dropped when a later one of the same connection arrives, as on asymmetric lines.",
    "step_threshold_ms": "Delay above which packets of the low-latency queue are marked.",
    "low_latency": (
        "Packets of the low-latency queue: ECT(1), as in L4S, or all packets of flows with ECN, such as DCTCP's."
    ),
    "coupling": "Ratio of the low-latency queue's probability to the classic queue's base probability.",
    "classic_protection_percent": "Share of the turns that the classic queue always gets.",
    "depth_packets": "Limit of each flow's queue.",
    "flow_limit_packets": "Limit of each flow's queue.",
    "initial_quantum_bytes": "Bytes that a new flow may send in its first turn.",
}
