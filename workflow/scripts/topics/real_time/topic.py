"""One-way delay, jitter and loss of real-time streams, alone and in competition with long flows of each CCA."""

from functools import partial

from experiment.flow_groups import REAL_TIME
from topics.real_time.tables import REAL_TIME_CELLS
from topics.short_flows.topic import settings_params
from topics.topic import Analysis, Plot, Topic


def applies(design) -> bool:
    """Return whether a `StudyDesign` includes groups of real-time streams."""
    return any(group["application"] == REAL_TIME for scenario in design.scenarios for group in scenario["groups"])


TITLE = "Queueing delay, jitter and loss of real-time streams, by the CCA of the competing long flows"
TOPIC = Topic(
    "real_time",
    "Real-time streams",
    order=90,
    heading="How are real-time streams served?",
    applies=applies,
    analyses=(
        Analysis(
            "describe_real_time",
            ("groups",),
            (REAL_TIME_CELLS,),
            ("confidence",),
            params=partial(settings_params, application=REAL_TIME),
        ),
    ),
    figures=(Plot("real-time", "plot_real_time", ("real_time_cells",), TITLE, "means, intervals"),),
)
