"""Completion times of web objects, alone and in competition with long flows of each CCA."""

from experiment.flow_groups import WEB
from topics.short_flows.tables import SHORT_FLOW_CELLS, SHORT_FLOW_SIZES
from topics.topic import Analysis, Plot, Topic
from wording.scenario_labels import settings_of


def applies(design) -> bool:
    """Return whether a `StudyDesign` includes groups of web objects."""
    return any(group["application"] == WEB for scenario in design.scenarios for group in scenario["groups"])


def settings_params(design) -> dict[str, dict]:
    """Return ``settings``, which maps each scenario to its label and its conditions other than flow groups."""
    of_scenarios = settings_of(design.scenarios, ("groups", "flows"))
    settings = {one["id"]: {"scenario_label": one["label"]} | of_scenarios[one["id"]] for one in design.scenarios}
    return {"settings": settings}


TIMES = "Completion times of web objects, by the CCA of the competing long flows"
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
            ("groups", "short_flows"),
            (SHORT_FLOW_CELLS, SHORT_FLOW_SIZES),
            ("confidence",),
            params=settings_params,
        ),
    ),
    figures=(
        Plot("completion-times", "plot_completion_times", ("short_flows", "short_flow_cells"), TIMES, "distributions"),
        Plot("slowdown-by-size", "plot_slowdown", ("short_flow_sizes",), SLOWDOWN, "medians and 95th percentiles"),
    ),
    pictures=("completion-times",),
)
