"""Comparison of platforms under the same conditions: Linux as a guest, the machine's own Linux, and versions of a simulator."""

from study_files.study_design import conditions_of
from topics.buffers import topic as buffers
from topics.platforms.tables import KERNEL_ENVIRONMENTS, PLATFORM_CAUSES, PLATFORM_STARTS, PLATFORMS
from topics.topic import Analysis, Plot, Topic


def applies(design) -> bool:
    """Return whether, in a `StudyDesign`, several platforms run the same conditions."""
    platforms = {}
    for scenario in design.scenarios:
        platforms.setdefault(conditions_of(scenario), set()).add(scenario["platform"])
    return max(map(len, platforms.values())) > 1


def _figures(design):
    shows = "difference, interval, tolerance"
    yield Plot("platform-differences", "plot_platform_differences", ("platforms",), "Platforms compared", shows)
    if buffers.applies(design):
        yield buffers.flow_goodput_figure(
            "platform-flows", "Goodput of each flow by platform", cca="", lines="platform"
        )
        yield buffers.totals_figure("platform-totals", "means, intervals, by platform", lines="platforms")


TOPIC = Topic(
    "platforms",
    "Platforms",
    order=120,
    heading="Which differences are due to the platform?",
    applies=applies,
    analyses=(
        Analysis(
            "compare_platforms",
            ("runs", "scenarios", "intervals", "sockets", "provenance"),
            (PLATFORMS, PLATFORM_CAUSES, PLATFORM_STARTS, KERNEL_ENVIRONMENTS),
            ("confidence", "significance"),
            params=lambda design: {"agreement": design.study["analysis"]["agreement"]},
        ),
    ),
    figures=_figures,
    pictures=("platform-differences",),
)
