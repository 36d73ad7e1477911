"""The check that no setting changed during the traffic.

The check compares the values read back before the traffic with those read back after the traffic.
"""

from experiment.timeline import DIRECTIONS
from testbed.checks.check import Check
from testbed.checks.read_back_checks import same
from testbed.network.outage import seed_after

#: Quantity in a timeline -> (kind of qdisc, parameter of the qdisc, factor that converts the quantity's unit to the parameter's unit).
OF_TIMELINE = {
    "rate_mbps": ("htb", "rate_bps", 1e6),
    "delay_ms": ("netem", "delay_ms", 1),
    "loss_percent": ("netem", "loss_percent", 1),
}


def changed(before, after, place="") -> dict[str, list]:
    """Return the values that differ between two readings of the settings: key path -> [before, after].

    A key path consists of the keys that lead to a value, separated by slashes. ``place`` is a prefix for all key paths.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys([*before, *after])
        found = (changed(before.get(key), after.get(key), f"{place}/{key}" if place else key) for key in keys)
        return {name: values for one in found for name, values in one.items()}
    return {} if before == after else {place: [before, after]}


def check_unchanged(specification, document) -> Check:
    """The values read back after the traffic equal those read back before it, except for the changes that the study defines."""
    allowed = changes_of_timeline(specification, document) | seeds_after_outage(specification, document)
    wrong = [
        f"{place}: {after} instead of {before}"
        for place, (before, after) in document["network"].get("changed", {}).items()
        if not is_peer(place, before, after) and (place not in allowed or not same(after, allowed[place]))
    ]
    return Check("unchanged", not wrong, "as before the traffic", "; ".join(wrong[:5]) or "as before the traffic")


def changes_of_timeline(specification, document) -> dict[str, float]:
    """Return the values set by the last change to each quantity: key path (as in `changed`) -> value."""
    placed, allowed = document["network"]["set"], {}
    for direction in DIRECTIONS:
        for quantity, (kind, parameter, units) in OF_TIMELINE.items():
            changes = [
                one for one in specification.timeline.changes if (one.direction, one.quantity) == (direction, quantity)
            ]
            for name in placed["bottleneck" if kind == "htb" else "netem"][direction] if changes else ():
                first = placed["qdiscs"][name][kind][parameter]
                # The part of the delay that the hosts' own links add doesn't change.
                more = first - specification.link.delay_ms[direction] if quantity == "delay_ms" else 0
                allowed[f"interfaces/{name}/qdiscs/{kind}/{parameter}"] = changes[-1].value * units + more
    return allowed


def seeds_after_outage(specification, document) -> dict[str, int]:
    """Return the new seeds that an outage sets: key path (as in `changed`) -> seed."""
    outage = specification.multipath.outage
    return {
        f"interfaces/{name}/qdiscs/netem/seed": seed_after(specification, direction)
        for direction, name in (document.get("outage", {}).get("devices", {}) if outage else {}).items()
    }


def is_peer(place, before, after) -> bool:
    """Return whether all new entries at a key path (as in `changed`) are endpoints that MPTCP learnt from the peer."""
    return place.endswith("/endpoints") and all(one.get("implicit") for one in after if one not in before)
