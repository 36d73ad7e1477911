"""Keys of a link that have one value for both directions or one for each, and are two keys of a resolved study.

`rate_mbps: {forward: 50, reverse: 10}` is `rate_mbps: 50` and `reverse_rate_mbps: 10`, and a `trace` likewise. A scenario's single value is
one for both directions, whatever the study's defaults have.
"""

from experiment.timeline import DIRECTIONS

FORWARD, REVERSE = DIRECTIONS
#: Key -> the key that the other direction has.
OF_REVERSE = {"rate_mbps": "reverse_rate_mbps", "trace": "reverse_trace"}


def with_directions(config) -> dict:
    """Return a study as written in which each of these keys has one value; what is no mapping, or has another form, is left as it is."""
    defaults, scenarios = config.get("defaults"), config.get("scenarios")
    by_direction = {key for key in OF_REVERSE if _is_by_direction(_link(defaults).get(key))}
    made = dict(config)
    if by_direction:
        made["defaults"] = _parted(defaults, set())
    if isinstance(scenarios, list):
        made["scenarios"] = [_parted(one, by_direction) for one in scenarios]
    return made


def _parted(section, by_direction):
    link = _link(section)
    parted = {}
    for key, reverse in OF_REVERSE.items():
        value = link.get(key)
        if _is_by_direction(value):
            parted |= {key: _of(key, value[FORWARD], FORWARD), reverse: _of(key, value[REVERSE], REVERSE)}
        elif key in by_direction and key in link and reverse not in link:
            parted[reverse] = None
    return section | {"link": link | parted} if parted else section


def _of(key, value, direction):
    """Return a direction's value; a trace says its direction itself."""
    return value | {"direction": direction} if key == "trace" and isinstance(value, dict) else value


def _link(section) -> dict:
    link = section.get("link") if isinstance(section, dict) else None
    return link if isinstance(link, dict) else {}


def _is_by_direction(value) -> bool:
    return isinstance(value, dict) and set(value) == set(DIRECTIONS)
