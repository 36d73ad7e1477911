"""The goodput of groups of long flows and programs that use the CCA under test or another CCA."""

from experiment.flow_groups import LONG, PROGRAM
from topics.flow_groups.tables import GROUP_CELLS
from topics.topic import Analysis, Topic


def _params(design):
    """Return ``pausing``: (scenario, group) for each group whose flows pause."""
    groups = [(scenario["id"], group) for scenario in design.scenarios for group in scenario["groups"]]
    return {"pausing": [(name, group["name"]) for name, group in groups if group["on_s"] is not None]}


TOPIC = Topic(
    "flow_groups",
    "Groups of flows",
    order=75,
    heading="What does each group of flows get?",
    applies=lambda design: any(
        group["application"] in (LONG, PROGRAM) for scenario in design.scenarios for group in scenario["groups"]
    ),
    analyses=(Analysis("describe_groups", ("groups", "scenarios"), (GROUP_CELLS,), ("confidence",), params=_params),),
)
