"""Split each key with a value for each direction into two keys, as in a resolved study.

`rate_mbps: {forward: 50, reverse: 10}` means `rate_mbps: 50` and `reverse_rate_mbps: 10`. The same form is allowed for `trace`, `policer`
and `queue`. A single value in a scenario overrides the study's defaults for both directions. A policer or a trace may be given for only one
direction.
"""

from collections.abc import Iterator

from experiment.timeline import DIRECTIONS
from study_files.study_validation import value_text

FORWARD, REVERSE = DIRECTIONS
#: Section ("" for the scenario itself) -> key -> key for the reverse direction.
OF_REVERSE = {
    "": {"queue": "reverse_queue"},
    "link": {"rate_mbps": "reverse_rate_mbps", "trace": "reverse_trace", "policer": "reverse_policer"},
}
#: Keys whose value may be missing for one direction.
OPTIONAL = ("trace", "policer")


def with_directions(config) -> dict:
    """Return an unresolved study in which values for each direction are split into two keys; invalid values stay unchanged."""
    made = dict(config)
    for section, keys in OF_REVERSE.items():
        defaults, scenarios = made.get("defaults"), made.get("scenarios")
        by_direction = {key for key in keys if _is_by_direction(_of_section(defaults, section).get(key), key)}
        if isinstance(defaults, dict):
            made["defaults"] = _parted(defaults, section, set())
        if isinstance(scenarios, list):
            made["scenarios"] = [_parted(one, section, by_direction) for one in scenarios]
    return made


def direction_problems(config) -> Iterator[str]:
    """Yield problems with values for each direction in an unresolved study: a missing direction, or a trace for another direction."""
    places = {"defaults": config.get("defaults")}
    if isinstance(scenarios := config.get("scenarios"), list):
        places |= {f"scenarios[{one.get('id')}]": one for one in scenarios if isinstance(one, dict)}
    for place, scenario in places.items():
        for section, keys in OF_REVERSE.items():
            for key in keys:
                value, where = _of_section(scenario, section).get(key), ".".join(filter(None, (place, section, key)))
                if not isinstance(value, dict):
                    continue
                if key not in OPTIONAL and len(value) == 1 and (given := next(iter(value))) in DIRECTIONS:
                    yield f"{where} has only {given}; allowed: both {' and '.join(DIRECTIONS)}, or one value for both."
                for way in DIRECTIONS if key == "trace" and _is_by_direction(value, key) else ():
                    if (given := (value.get(way) or {}).get("direction", way)) != way:
                        yield f"{where}.{way}.direction is {value_text(given)}; allowed: {way}, or no direction."


def _parted(scenario, section, by_direction):
    found, parted = _of_section(scenario, section), {}
    for key, reverse in OF_REVERSE[section].items():
        value = found.get(key)
        if _is_by_direction(value, key):
            parted |= {name: _of(key, value.get(way), way) for name, way in ((key, FORWARD), (reverse, REVERSE))}
        elif key in by_direction and key in found and reverse not in found:
            parted[reverse] = None
        if reverse == "reverse_trace" and isinstance(given := parted.get(reverse, found.get(reverse)), dict):
            parted[reverse] = {"direction": REVERSE} | given
    if not parted:
        return scenario
    return scenario | ({section: found | parted} if section else parted)


def _of(key, value, direction):
    """Return the value for one direction; for a trace, with the key ``direction``."""
    return value | {"direction": direction} if key == "trace" and isinstance(value, dict) else value


def _of_section(scenario, section) -> dict:
    found = scenario.get(section) if section and isinstance(scenario, dict) else scenario
    return found if isinstance(found, dict) else {}


def _is_by_direction(value, key) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return set(value) <= set(DIRECTIONS) if key in OPTIONAL else set(value) == set(DIRECTIONS)
