"""The same conditions on several platforms: Linux, and versions of a simulator."""

from topics.buffers import topic as buffers
from topics.platforms.tables import PLATFORM_CAUSES, PLATFORMS
from topics.topic import Figure, Topic


def _figures(design):
    shows = "difference, interval, tolerance"
    yield Figure("platform-differences", "plot_platform_differences", ("platforms",), "Platforms compared", shows)
    if buffers.applies(design):
        yield buffers.flow_goodput_figure(
            "platform-flows", "Goodput of each flow by platform", cca="", lines="platform"
        )
        yield buffers.totals_figure("platform-totals", "means, intervals, by platform", lines="platforms")


TOPIC = Topic(
    "platforms",
    "Platforms",
    applies=lambda design: len(design.platforms) > 1,
    tables=(PLATFORMS, PLATFORM_CAUSES),
    figures=_figures,
)
