"""What flows lose to a policer, which drops what exceeds its rate at once: loss and goodput by CCA, beside paths that queue instead."""

from topics.policers.tables import POLICER_CELLS
from topics.topic import Topic


def applies(design) -> bool:
    """Tell whether a `StudyDesign` has a policer."""
    return any(scenario["link"].get("policer") for scenario in design.scenarios)


TOPIC = Topic("policers", "Policers", applies=applies, tables=(POLICER_CELLS,))
