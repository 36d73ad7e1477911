"""The check that all settings lasted until the end: the values read back after the traffic equal those from before it."""

from experiment.timeline import DIRECTIONS
from testbed.checks.check import Check
from testbed.checks.network_checks import same
from testbed.network.outage import seed_after

#: Quantity of a timeline -> the kind of qdisc, the qdisc's parameter, and the number of the parameter's units per unit of the quantity.
OF_TIMELINE = {
    "rate_mbps": ("htb", "rate_bps", 1e6),
    "delay_ms": ("netem", "delay_ms", 1),
    "loss_percent": ("netem", "loss_percent", 1),
}


def changed(before, after, place="") -> dict[str, list]:
    """Return the values that differ between two read-backs, as [before, after] by place."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys([*before, *after])
        found = (changed(before.get(key), after.get(key), f"{place}/{key}" if place else key) for key in keys)
        return {name: values for one in found for name, values in one.items()}
    return {} if before == after else {place: [before, after]}


def check_unchanged(specification, document) -> Check:
    """The values read back before and after the traffic are equal, except for the study's changes."""
    allowed = changes_of_timeline(specification, document) | seeds_after_outage(specification, document)
    wrong = [
        f"{place}: {after} instead of {before}"
        for place, (before, after) in document["network"].get("changed", {}).items()
        if not is_peer(place, before, after) and (place not in allowed or not same(after, allowed[place]))
    ]
    return Check("unchanged", not wrong, "as before the traffic", "; ".join(wrong[:5]) or "as before the traffic")


def changes_of_timeline(specification, document) -> dict[str, float]:
    """Return the values that the last change of each quantity set, by their places in the read-back."""
    placed, allowed = document["network"]["set"], {}
    for direction in DIRECTIONS:
        for quantity, (kind, parameter, units) in OF_TIMELINE.items():
            changes = [
                one for one in specification.timeline.changes if (one.direction, one.quantity) == (direction, quantity)
            ]
            for name in placed["bottleneck" if kind == "htb" else "netem"][direction] if changes else ():
                first = placed["qdiscs"][name][kind][parameter]
                # The delay added by the hosts' own links stays.
                more = first - specification.link.delay_ms[direction] if quantity == "delay_ms" else 0
                allowed[f"interfaces/{name}/qdiscs/{kind}/{parameter}"] = changes[-1].value * units + more
    return allowed


def seeds_after_outage(specification, document) -> dict[str, int]:
    """Return the seeds that an outage changes: their new values, by their places in the read-back."""
    outage = specification.multipath.outage
    return {
        f"interfaces/{name}/qdiscs/netem/seed": seed_after(specification, direction)
        for direction, name in (document.get("outage", {}).get("devices", {}) if outage else {}).items()
    }


def is_peer(place, before, after) -> bool:
    """Return whether the only additions at a place are endpoints that MPTCP learnt from its peer."""
    return place.endswith("/endpoints") and all(one.get("implicit") for one in after if one not in before)
