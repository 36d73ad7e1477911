"""A repetition of the analysis published in the paper on IPv4 and IPv6: tables 3 to 5 and figures 3 to 6."""

from run_tables.metrics import PUBLISHED_METRICS
from topics.cells.topic import metric_figure
from topics.published.tables import POOLED, POOLED_TESTS
from topics.topic import Analysis, Place, Topic

#: Name of the paper's claims file.
IP_PAPER = "lima-ccas-ipv4-ipv6"
#: Number of the first figure in the paper that shows a metric.
FIRST_FIGURE = 3


def _figures(design):
    for figure, metric in enumerate(PUBLISHED_METRICS, FIRST_FIGURE):
        yield metric_figure(metric, title=f"{metric.name} (figure {figure})", category="As published")


TOPIC = Topic(
    "published",
    "As published",
    order=240,
    applies=lambda design: design.claims == IP_PAPER,
    analyses=(Analysis("describe_pooled", ("runs",), (POOLED, POOLED_TESTS), ("significance",)),),
    figures=_figures,
    place=Place.BACK,
    brief=(),
)
