"""Completion times of web objects, alone and in competition with long flows of each CCA."""

from experiment.flow_groups import WEB
from topics.short_flows.tables import SHORT_FLOW_CELLS, SHORT_FLOW_SIZES
from topics.topic import Analysis, Plot, Topic
from wording.scenario_keys import keys_of
from wording.scenario_labels import settings_by


def applies(design) -> bool:
    """Return whether a `StudyDesign` includes groups of web objects."""
    return any(group["application"] == WEB for scenario in design.scenarios for group in scenario["groups"])


def settings_params(design, application=WEB) -> dict[str, dict]:
    """Return ``settings``, which maps each scenario to its label and its conditions other than long flows and programs.

    Scenarios belong to the same setting only if their groups of the given application are the same, too.
    """

    def common(scenario):
        compared = [group for group in scenario["groups"] if group["application"] == application]
        return {"path": keys_of(scenario, ("groups", "flows")), "groups": compared}

    of_scenarios = settings_by(design.scenarios, common)
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
