"""Find the pairs of a study's scenarios that differ in a single condition, and express this condition in words."""

from collections.abc import Sequence

from wording.scenario_keys import Differences, keys_of, said
from wording.scenario_parts import PARTS, Part

#: Prefixes of keys that set how scenarios are replicated or varied at random. These keys aren't conditions.
NO_CONDITION = ("replications", "seeds_of", "variation")


def pairs_of(scenarios: Sequence[dict]) -> list[dict[str, str]]:
    """Return the pairs of resolved scenarios that differ in only one condition.

    If more than two scenarios differ only in the same condition, the one that comes first in the study is paired with each of the others.

    Returns
    -------
    list of dict
        Dicts with the keys scenario_a (the first scenario), scenario_b, and level_a and level_b (the scenarios' conditions in words).
    """
    differences = Differences(scenarios, NO_CONDITION)
    known = [key for part in PARTS for key in differences.among(part.keys)]
    parts = [part for part in PARTS if differences.among(part.keys)]
    parts += [_part_of(key) for key in differences.values if key not in known]
    pairs: dict[tuple[str, str], dict[str, str]] = {}
    for part in parts:
        alike: dict[str, list[dict]] = {}
        for scenario in scenarios:
            alike.setdefault(repr(keys_of(scenario, (*part.keys, *NO_CONDITION))), []).append(scenario)
        for first, *others in alike.values():
            for other in others:
                levels = part.words(first), part.words(other)
                if levels[0] != levels[1] and all(levels):
                    names = first["id"], other["id"]
                    pairs.setdefault(
                        names,
                        dict(zip(("level_a", "level_b", "scenario_a", "scenario_b"), (*levels, *names), strict=True)),
                    )
    return list(pairs.values())


def _part_of(key):
    def words(scenario):
        keys = keys_of(scenario)
        return said(key, keys[key]) if key in keys else ""

    return Part((key,), words)
