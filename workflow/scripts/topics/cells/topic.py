"""Each metric in each cell: every replication, the mean and its interval."""

from run_tables.metrics import METRICS, metric_by_slug
from topics.cells.tables import DESCRIPTIVE, STEADY
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Place, Plot, Topic


def metric_figure(metric, **more) -> Plot:
    """Return the figure of a metric in each cell; the topic that declares the figure must provide a caption for the metric."""
    return Plot(
        metric.slug,
        "cells/plot_metric",
        ("runs", "scenarios", "descriptive"),
        shows="replications, mean, interval",
        params={"metric": metric.slug},
        **more,
    )


def _figures(design):
    if not compares_sizes_alone(design):
        for metric in METRICS if design.has_own_flows else [metric_by_slug("loss")]:
            yield metric_figure(metric, title=metric.name, category="Metrics")


TOPIC = Topic(
    "cells",
    "Statistics",
    order=300,
    opens=False,
    heading="All statistics",
    applies=lambda design: True,
    analyses=(
        Analysis("describe_cells", ("runs",), (DESCRIPTIVE,), ("confidence",)),
        Analysis("compare_steady", ("runs",), (STEADY,), ("confidence", "significance")),
    ),
    figures=_figures,
    place=Place.APPENDIX,
    anchor="statistics",
)
