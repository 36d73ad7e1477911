"""One scenario for each disjoint path of a cable, with the path's rate, delay, loss and queue."""

from experiment.timeline import DIRECTIONS

#: Key of a scenario's `multipath` (a list with one value per path) -> section and key that the value replaces in a path's scenario. If the
#: list is null, nothing is replaced.
OF_PATH = {
    "path_rate_mbps": ("link", "rate_mbps"),
    "path_loss_percent": ("link", "loss_percent"),
    "path_queue_packets": ("queue", "packets"),
}


def scenarios_of_paths(scenario) -> list[dict]:
    """Return one scenario per path of a cable: the same scenario with only this path."""
    return [_of_path(scenario, path) for path in range(scenario["multipath"]["paths"])]


def _of_path(scenario, path):
    paths = scenario["multipath"]
    later_ms = _value_of(paths["path_delay_ms"], path)
    link = scenario["link"] | {"delay_ms": {way: ms + later_ms for way, ms in scenario["link"]["delay_ms"].items()}}
    one = {key: value for key, value in paths.items() if key not in (*OF_PATH, "outage")}
    one |= {"paths": 1, "path_delay_ms": [0]} | _outage_of(paths, path)
    changed = scenario | {"link": link, "multipath": one}
    for name, (section, key) in OF_PATH.items():
        if (values := paths.get(name)) is not None:
            changed[section] = _with(changed[section], key, _value_of(values, path))
    return changed


def _value_of(values, path):
    """Return the value for a path, or the last value if the list is too short (`study_networks` rejects such a list)."""
    return values[min(path, len(values) - 1)]


def _with(section, key, value):
    """Return a section with one value replaced.

    If the section contains one value per direction, both are replaced. A queue size in packets replaces a size in bytes or BDPs.
    """
    if isinstance(section.get(key), dict):
        return section | {key: dict.fromkeys(DIRECTIONS, value)}
    other = {"bytes", "bdp"} if key == "packets" else set()
    return {name: old for name, old in section.items() if name not in other} | {key: value}


def _outage_of(paths, path):
    outage = paths.get("outage")
    return {"outage": outage | {"path": 1}} if outage and outage["path"] == path + 1 else {}
