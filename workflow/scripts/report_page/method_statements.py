"""Statements about seeds and networks for the section about method; each is a sentence, or part of one, with a precondition."""

from report_page.statements import ALWAYS, Statement, every, known, mixed, none, some

_SEVERAL = known("several_ccas") | known("ip_versions_compared")
#: The seed that all runs of a replication share, and what it means for comparisons.
SEEDS = (
    Statement("A replication has one seed, which all runs of a scenario share.", ALWAYS),
    Statement(
        "So random losses and the start times of flows are the same for every {cca_word}.", some("random loss") & known("several_ccas") & ~known("ip_versions_compared")
    ),
    Statement(
        "So random losses and the start times of flows are the same for every {cca_word} and both IP versions.",
        some("random loss") & known("ip_versions_compared"),
    ),
    Statement("So the start times of flows are the same for every {cca_word}.", none("random loss") & known("several_ccas") & ~known("ip_versions_compared")),
    Statement("So the start times of flows are the same for every {cca_word} and both IP versions.", none("random loss") & known("ip_versions_compared")),
    Statement(
        "The runs of a replication are one block, not independent samples, and are compared as such.",
        known("several_ccas") & ~known("ip_versions_compared"),
    ),
    Statement(
        "The runs of a replication are pairs (IPv4 and IPv6) and one block, not independent samples, and are compared as such.",
        known("ip_versions_compared"),
    ),
    Statement("There is nothing to compare within a scenario: it has one {cca_word} and one IP version.", ~_SEVERAL),
)  # fmt: skip
#: Definition of a run.
NETWORK = (
    Statement("A run is one fresh network: two hosts", ~known("several_pairs")),
    Statement("A run is one fresh network: up to {pairs} senders and as many receivers", known("several_pairs")),
    Statement("and two routers,", every("dumbbell")),
    Statement("and cables between them,", every("cable")),
    Statement("and routers in series,", every("chain")),
    Statement("and two routers, or cables between the hosts,", some("dumbbell") & some("cable") & none("chain")),
    Statement("and two or more routers in series,", some("dumbbell") & some("chain") & none("cable")),
    Statement("and two or more routers in series, or cables between the hosts,", some("dumbbell") & some("chain") & some("cable")),
    Statement("and routers in series, or cables between the hosts,", none("dumbbell") & some("chain") & some("cable")),
    Statement("simulated by ns-3.", every("simulator")),
    Statement("with {programs} on the hosts.", ~every("simulator")),
    Statement("Programs over TCP ({tcp_programs}) used the CCA in their names if the kernel has it, as the kernel's sockets show, and otherwise the CCA that they chose for their sockets (TCP_CONGESTION), or CUBIC.", known("tcp_programs")),
    Statement("Groups marked (reverse) send in the opposite direction; statements about a run that don't name a group refer to the other groups.", some("reverse flows")),
    Statement("The hosts run on a Linux guest kernel with a virtual clock.", some("guest kernel") & none("own kernel")),
    Statement("The hosts run on the machine's own kernel.", some("own kernel") & none("guest kernel")),
    Statement("Some hosts run on a Linux guest kernel with a virtual clock, others on the machine's own kernel.", some("own kernel") & some("guest kernel")),
    Statement("Some scenarios have the same network simulated by ns-3.", mixed("simulator")),
    Statement("The network is built, read back from the kernel, probed while idle, loaded with traffic ({amounts}), read back again, and judged by its checks.", ~every("simulator")),
    Statement("After the traffic, a probe verifies each delay, the rate of each bottleneck, and the size of each queue that a burst of packets can fill.", every("guest kernel") & every("rate")),
    Statement("The network is built, loaded with traffic ({amounts}), and judged by its checks.", every("simulator")),
    Statement("A run that fails any check is excluded.", ALWAYS),
)  # fmt: skip
