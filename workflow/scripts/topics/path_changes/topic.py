"""How flows respond to a changing path: the time until a new rate is used, queueing delay, losses, and outdated RTTs."""

from study_files.study_design import is_changing, is_sampled
from topics.path_changes.tables import CHANGE_CELLS, CHANGE_RESPONSES
from topics.topic import Analysis, Plot, Topic, mostly


def is_watched(scenario) -> bool:
    """Return whether a resolved scenario's path changes while its TCP flows are sampled."""
    return is_changing(scenario) and is_sampled(scenario)


def changing(design) -> dict[str, dict]:
    """Return the resolved scenarios of a `StudyDesign` whose path changes while flows are sampled, by name."""
    return {scenario["id"]: scenario for scenario in design.scenarios if is_watched(scenario)}


def _params(design):
    return {"changing": changing(design)}


def _figures(design):
    title = "Paths that change, over time"
    inputs = ("runs", "scenarios", "flows", "sockets", "queue")
    yield Plot("path-changes", "plot_path_changes", inputs, title, "one run of each cell", params=_params(design))


TOPIC = Topic(
    "path_changes",
    "Changes",
    order=50,
    heading="What do flows do when their path changes?",
    applies=lambda design: any(map(is_watched, design.scenarios)),
    leads=mostly(is_watched),
    analyses=(
        Analysis(
            "measure_responses", ("runs", "flows", "sockets", "queue"), (CHANGE_CELLS, CHANGE_RESPONSES), params=_params
        ),
    ),
    figures=_figures,
    pictures=("path-changes",),
)
