"""Names for the scenarios in which flows share a link, used as panel titles."""

from wording.scenario_words import heading


def scenario_name(scenario) -> str:
    """Return a scenario's name as a panel title: its capitalised label ("Scenario 1" for a number), or its id if there is no label."""
    name = heading(scenario)
    return name if name == scenario["scenario"] else f"{name[:1].upper()}{name[1:]}"
