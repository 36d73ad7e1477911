"""The sources of each metric's variance: each factor of the study, each pair of factors, and chance."""

from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Plot, Topic
from topics.variance.tables import VARIANCE


def has_several_cells(design) -> bool:
    """Return whether a `StudyDesign` contains several cells that share a metric.

    If a study compares only message sizes, its cells share no metric.
    """
    cells = len(design.scenarios) * len(design.ccas) * len(design.ip_versions)
    return cells > 1 and not compares_sizes_alone(design)


TOPIC = Topic(
    "variance",
    "Variance",
    order=220,
    opens=False,
    heading="Where does the variance come from?",
    applies=has_several_cells,
    analyses=(Analysis("decompose_variance", ("runs", "scenarios"), (VARIANCE,), ("confidence",)),),
    figures=(Plot("variance", "plot_variance", ("variance",), "Sources of variance", "shares, intervals"),),
)
