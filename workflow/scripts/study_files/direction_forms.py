"""Keys that have one value for both directions or one for each, and are two keys of a resolved study.

`rate_mbps: {forward: 50, reverse: 10}` is `rate_mbps: 50` and `reverse_rate_mbps: 10`; a `trace`, a `policer` and a `queue` likewise. A
scenario's single value is one for both directions (of a policer and a trace: the one that it means), whatever the study's defaults have.
"""

from experiment.timeline import DIRECTIONS

FORWARD, REVERSE = DIRECTIONS
#: Section ("" is the scenario itself) -> key -> the key that the other direction has.
OF_REVERSE = {
    "": {"queue": "reverse_queue"},
    "link": {"rate_mbps": "reverse_rate_mbps", "trace": "reverse_trace", "policer": "reverse_policer"},
}


def with_directions(config) -> dict:
    """Return a study as written in which each of these keys has one value; what is no mapping, or has another form, is left as it is."""
    made = dict(config)
    for section, keys in OF_REVERSE.items():
        defaults, scenarios = made.get("defaults"), made.get("scenarios")
        by_direction = {key for key in keys if _is_by_direction(_of_section(defaults, section).get(key))}
        if by_direction:
            made["defaults"] = _parted(defaults, section, set())
        if isinstance(scenarios, list):
            made["scenarios"] = [_parted(one, section, by_direction) for one in scenarios]
    return made


def _parted(scenario, section, by_direction):
    found, parted = _of_section(scenario, section), {}
    for key, reverse in OF_REVERSE[section].items():
        value = found.get(key)
        if _is_by_direction(value):
            parted |= {key: _of(key, value[FORWARD], FORWARD), reverse: _of(key, value[REVERSE], REVERSE)}
        elif key in by_direction and key in found and reverse not in found:
            parted[reverse] = None
    if not parted:
        return scenario
    return scenario | ({section: found | parted} if section else parted)


def _of(key, value, direction):
    """Return a direction's value; a trace says its direction itself."""
    return value | {"direction": direction} if key == "trace" and isinstance(value, dict) else value


def _of_section(scenario, section) -> dict:
    found = scenario.get(section) if section and isinstance(scenario, dict) else scenario
    return found if isinstance(found, dict) else {}


def _is_by_direction(value) -> bool:
    return isinstance(value, dict) and set(value) == set(DIRECTIONS)
