"""Where the variance of each metric comes from: each factor of the study, each pair of factors, and chance."""

from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Plot, Topic
from topics.variance.tables import VARIANCE


def has_several_cells(design) -> bool:
    """Return whether a `StudyDesign` has cells that can be compared in a metric: more than one, and not only of message sizes."""
    cells = len(design.scenarios) * len(design.ccas) * len(design.ip_versions)
    return cells > 1 and not compares_sizes_alone(design)


TOPIC = Topic(
    "variance",
    "Variance",
    order=220,
    opens=False,
    heading="Where is the variance?",
    applies=has_several_cells,
    analyses=(Analysis("decompose_variance", ("runs", "scenarios"), (VARIANCE,), ("confidence",)),),
    figures=(Plot("variance", "plot_variance", ("variance",), "Where the variance is", "shares, intervals"),),
)
