"""Outage of one path of an MPTCP connection: traffic on the other paths during the outage, and the time until the path is used again."""

from topics.failover.tables import FAILOVERS
from topics.topic import Analysis, Plot, Topic, mostly


def outage_scenarios(design) -> tuple[str, ...]:
    """Return the scenarios in which a path goes down while sockets are sampled.

    Without samples, an outage isn't visible.
    """
    return tuple(
        scenario["id"]
        for scenario in design.scenarios
        if scenario["multipath"].get("outage") and scenario["traffic"]["sample_interval_ms"] is not None
    )


def _figures(design):
    title, inputs = "Paths over time while one is down", ("runs", "scenarios", "sockets")
    yield Plot("failover", "plot_failover", inputs, title, "single runs", {"scenario": outage_scenarios(design)[0]})


TOPIC = Topic(
    "failover",
    "Fail-over",
    order=160,
    heading="What happens when a path goes down?",
    applies=lambda design: bool(outage_scenarios(design)),
    leads=mostly(lambda scenario: scenario["multipath"].get("outage")),
    analyses=(Analysis("measure_failovers", ("runs", "scenarios", "sockets"), (FAILOVERS,), ("confidence",)),),
    figures=_figures,
    pictures=("failover",),
)
