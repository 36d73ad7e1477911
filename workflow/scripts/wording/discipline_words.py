"""What the queueing disciplines and their parameters are, in words: for the report and the description of studies.

They stand here and not with the declarations (`experiment.disciplines`), where another word would make runs stale.
"""

#: Discipline -> what it does.
DISCIPLINE_WORDS = {
    "drop-tail": "Drops what comes while it is full.",
    "red": (
        "Random early detection (Floyd and Jacobson 1993): marks or drops at random between two thresholds of its mean length. "
        "`step_packets` makes it DCTCP's step (RFC 8257): every packet above."
    ),
    "codel": (
        "Controlled delay (RFC 8289): drops or marks while packets have waited "
        "longer than `target_ms` for `interval_ms`."
    ),
    "fq_codel": "Flow queues by a hash, each with CoDel, served in turn (RFC 8290).",
    "pie": (
        "Proportional integral controller enhanced (RFC 8033): drops or marks at random, with a "
        "probability that holds the delay at `target_ms`."
    ),
    "fq_pie": "Flow queues by a hash, each with PIE, served in turn.",
    "cake": (
        "Common applications kept enhanced (Høiland-Jørgensen, Täht and Morton 2018): flows in turn, three tins by priority, COBALT in each. "
        "Always marks packets of flows with ECN. The rate stays the link's own."
    ),
    "dualpi2": (
        "Dual queue, coupled (RFC 9332): a queue for flows that say so by ECT(1), marked above `step_threshold_ms`, and PI2 for all others. "
        "Always marks packets of flows with ECN."
    ),
    "sfq": "Stochastic fairness queueing (McKenney 1990): flow queues by a hash, drop-tail, served in turn.",
    "fq": (
        "Fair queueing: a queue for each flow, served in turn. "
        "It paces only connections of its own host, so none behind a router."
    ),
}
#: Parameter of disciplines -> what it is.
PARAMETER_WORDS = {
    "min_packets": "Mean length from which it marks or drops, in full packets.",
    "max_packets": "Mean length from which it marks or drops all.",
    "probability": "Of a mark or drop just below `max_packets`.",
    "burst_packets": "From which tc computes the weight of its mean.",
    "step_packets": "One threshold for both, with a mean over about two packets.",
    "ecn": "Whether it marks packets of flows with ECN instead of dropping them.",
    "target_ms": "Standing delay that it allows.",
    "interval_ms": "How long the delay may be above it: about the longest usual RTT.",
    "ce_threshold_ms": (
        "Packets of flows with ECN that waited longer are marked, whatever else it does; `null`: none for that alone."
    ),
    "flow_queues": "Queues among which it divides flows by a hash.",
    "quantum_bytes": "What a queue may send in its turn.",
    "memory_limit_bytes": "Memory that its packets may take, each with what the kernel keeps of it.",
    "drop_batch_packets": "Dropped at once from the longest queue when all is full.",
    "tupdate_ms": "How often it computes its probability; PIE in ticks of the kernel.",
    "alpha": "Weight of the delay's distance from the target.",
    "beta": "Weight of the delay's change.",
    "ecn_prob_percent": "Up to this probability it marks; above, it drops.",
    "rtt_ms": "Its interval; the target is a twentieth of it.",
    "isolation": "What is served in turn.",
    "tins": "Queues by priority.",
    "step_threshold_ms": "Delay above which packets of the low-latency queue are marked.",
    "low_latency": (
        "Which packets its low-latency queue takes: ECT(1), as L4S has it, or all of flows with ECN, such as DCTCP's."
    ),
    "coupling": "How many times the classic queue's base probability the other one's is.",
    "classic_protection_percent": "Share of the turns that the classic queue always has.",
    "depth_packets": "Limit of each flow's queue.",
    "flow_limit_packets": "Limit of each flow's queue.",
    "initial_quantum_bytes": "What a new flow may send in its first turn.",
}
