"""What short flows get: completion times of web objects, alone and beside long flows of each CCA."""

from experiment.flow_groups import WEB
from topics.short_flows.tables import SHORT_FLOW_CELLS, SHORT_FLOW_SIZES
from topics.topic import Analysis, Plot, Topic


def applies(design) -> bool:
    """Tell whether a `StudyDesign` has groups of web objects."""
    return any(group["application"] == WEB for scenario in design.scenarios for group in scenario["groups"])


TIMES = "Completion times of web objects, by the CCA of the long flows beside them"
SLOWDOWN = "Slowdown of web objects by their size"
TOPIC = Topic(
    "short_flows",
    "Short flows",
    order=80,
    heading="What do short flows get?",
    applies=applies,
    analyses=(
        Analysis(
            "describe_short_flows",
            ("groups", "short_flows", "scenarios"),
            (SHORT_FLOW_CELLS, SHORT_FLOW_SIZES),
            ("confidence",),
        ),
    ),
    figures=(
        Plot("completion-times", "plot_completion_times", ("short_flows", "scenarios"), TIMES, "distributions"),
        Plot("slowdown-by-size", "plot_slowdown", ("short_flow_sizes",), SLOWDOWN, "medians and 95th percentiles"),
    ),
    pictures=("completion-times",),
)
