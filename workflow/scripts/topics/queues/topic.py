"""The effect of the queueing discipline: delay, drops and marks with each discipline, with and without ECN."""

from experiment.disciplines import discipline_of
from topics.queues.tables import QUEUE_CELLS
from topics.topic import Analysis, Plot, Topic
from wording.scenario_labels import settings_of


def applies(design) -> bool:
    """Return whether a `StudyDesign` includes active queue management, or flows with ECN.

    Chains and subflows don't count, because they have their own topics.
    """
    return any(
        not discipline_of(scenario["queue"]).limited_only or scenario["transport"].get("ecn", "off") != "off"
        for scenario in design.scenarios
        if scenario["topology"] != "chain" and scenario["multipath"]["by"] == "none"
    )


def _settings(design):
    """Return ``settings``, which maps each scenario to its conditions other than queue, ECN, recovery and platform."""
    return {"settings": settings_of(design.scenarios, ("queue", "transport.ecn", "transport.recovery", "platform"))}


TITLE = "Delay, goodput, drops and marks by queueing discipline"
TOPIC = Topic(
    "queues",
    "Queues",
    order=70,
    heading="What is the effect of the queueing discipline?",
    applies=applies,
    analyses=(Analysis("describe_queues", ("runs", "scenarios"), (QUEUE_CELLS,), ("confidence",), params=_settings),),
    figures=(Plot("queues", "plot_queues", ("queue_cells",), TITLE, "means, intervals, by CCA and ECN"),),
)
