"""What flows do when their path changes: how soon they use a new rate, and what queue, loss and wrong beliefs they have meanwhile."""

from study_files.study_design import is_changing, is_sampled
from topics.path_changes.tables import CHANGE_CELLS, CHANGE_RESPONSES
from topics.topic import Analysis, Plot, Topic


def is_watched(scenario) -> bool:
    """Tell whether a resolved scenario's path changes while its flows of TCP are sampled."""
    return is_changing(scenario) and is_sampled(scenario)


INPUTS, TITLE = ("runs", "scenarios", "changes", "sockets", "queue"), "Paths that change, over time"
TOPIC = Topic(
    "path_changes",
    "Changes",
    order=50,
    heading="What do flows do when their path changes?",
    applies=lambda design: any(map(is_watched, design.scenarios)),
    analyses=(Analysis("measure_responses", INPUTS, (CHANGE_CELLS, CHANGE_RESPONSES)),),
    figures=(Plot("path-changes", "plot_path_changes", INPUTS, TITLE, "one run of each cell"),),
    pictures=("path-changes",),
)
