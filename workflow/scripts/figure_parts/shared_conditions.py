"""The conditions that the scenarios of a figure or table share, and those that differ."""

from wording.scenario_words import conditions


def shared_and_own(scenarios) -> tuple[str, list[str]]:
    """Tell the conditions that all rows of ``tidy/scenarios.csv`` share from those that set each apart.

    Returns the shared ones, such as "1 Gbit/s" (empty if there are none), and each scenario's own, such as "10 ms, 1 %
    loss, 1 flow" (empty if there is one scenario).
    """
    parts = [conditions(scenario).split(", ") for scenario in scenarios.to_dict("records")]
    same = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
    shared = ", ".join(part for part, all_same in zip(parts[0], same, strict=True) if all_same)
    own = [", ".join(part for part, all_same in zip(row, same, strict=True) if not all_same) for row in parts]
    return shared, own
