"""Losses due to a policer, which drops packets in excess of its rate instead of queueing them: loss and goodput by CCA."""

from experiment.conditions import policers_of
from topics.policers.tables import POLICER_CELLS
from topics.topic import Analysis, Topic, mostly


def applies(design) -> bool:
    """Return whether a `StudyDesign` includes a policer."""
    return any(scenario["link"].get("policer") for scenario in design.scenarios)


def policer_words(design) -> dict[str, str]:
    """Return scenario -> policers in words, for the scenarios with policers."""
    return {
        scenario["id"]: "; ".join(_words(direction, policer) for direction, policer in policers.items())
        for scenario in design.scenarios
        if (policers := policers_of(scenario["link"]))
    }


def _words(direction, policer):
    way = "in reverse " if direction == "reverse" else ""
    return f"{way}{policer['rate_mbps']:g} Mbit/s, {policer['burst_bytes']:,} bytes"


TOPIC = Topic(
    "policers",
    "Policers",
    order=60,
    heading="How much do flows lose to a policer?",
    applies=applies,
    leads=mostly(lambda scenario: scenario["link"].get("policer")),
    analyses=(
        Analysis(
            "describe_policers",
            ("runs",),
            (POLICER_CELLS,),
            ("confidence",),
            params=lambda design: {"policers": policer_words(design)},
        ),
    ),
)
