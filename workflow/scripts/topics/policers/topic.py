"""What flows lose to a policer, which drops what exceeds its rate at once: loss and goodput by CCA, beside paths that queue instead."""

from topics.policers.tables import POLICER_CELLS
from topics.topic import Analysis, Topic, mostly


def applies(design) -> bool:
    """Tell whether a `StudyDesign` has a policer."""
    return any(scenario["link"].get("policer") for scenario in design.scenarios)


def policer_words(design) -> dict[str, str]:
    """Return scenario -> its policer in words, for the scenarios that have one."""
    return {
        scenario["id"]: "{rate_mbps:g} Mbit/s, {burst_bytes:,} bytes".format(**scenario["link"]["policer"])
        for scenario in design.scenarios
        if scenario["link"]["policer"]
    }


TOPIC = Topic(
    "policers",
    "Policers",
    order=60,
    heading="What do flows lose to a policer?",
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
