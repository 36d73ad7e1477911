"""The effect of the CCA: one test of all CCAs in each scenario and IP version, then a test of each pair."""

from topics.ccas.tables import CCA_PAIRS, CCA_TESTS
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Topic


def one_cca_a_run(design) -> bool:
    """Return whether runs of a `StudyDesign` can be compared by CCA.

    This is the case if each run uses a single CCA, unless the study compares only message sizes.
    """
    return not design.mixes and not compares_sizes_alone(design)


TOPIC = Topic(
    "ccas",
    "CCAs",
    order=190,
    heading="Does the CCA make a difference?",
    applies=lambda design: one_cca_a_run(design) and design.has_own_flows,
    analyses=(Analysis("compare_ccas", ("runs",), (CCA_TESTS, CCA_PAIRS), ("confidence", "significance")),),
)
