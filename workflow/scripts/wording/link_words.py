"""Descriptions of the properties of a link other than rate, delay, jitter and loss."""

from experiment.conditions import policers_of
from experiment.timeline import DIRECTIONS, traces_of
from wording.link_option_words import effects_of

#: Quantity that a change sets -> wording.
_QUANTITIES = {
    "rate_mbps": "rate {:g} Mbit/s",
    "delay_ms": "delay {:g} ms",
    "loss_percent": "loss {:g} %",
    "down_for_s": "down for {:g} s",
}
_, REVERSE = DIRECTIONS
#: Maximum number of changes that are listed; if there are more, they are only counted.
MOST_CHANGES = 6


def link_words(link) -> str:
    """Return the options that a resolved scenario's link uses, in words; empty if it uses none.

    Examples
    --------
    >>> change = {"at_s": 5, "direction": "both", "rate_mbps": 10, "delay_ms": None, "loss_percent": None, "down_for_s": None, "over_s": 2}
    >>> link_words({"timeline": [change], "policer": {"rate_mbps": 4, "burst_bytes": 9000}})
    'rate 10 Mbit/s from 5 s on over 2 s; policed at 4 Mbit/s with a burst of 9,000 bytes'
    """
    words = timeline_words(link.get("timeline") or [])
    for trace in traces_of(link):
        name = trace["file"] or "a trace"
        words.append(f"capacity of {name} ({trace['direction']}), in steps of {trace['step_ms']:g} ms")
    for direction, policer in policers_of(link).items():
        way = "in reverse " if direction == REVERSE else ""
        words.append(
            f"policed {way}at {policer['rate_mbps']:g} Mbit/s with a burst of {policer['burst_bytes']:,} bytes"
        )
    return "; ".join([*words, *effects_of(link)])


def timeline_words(timeline) -> list[str]:
    """Return one text per entry of a timeline, or only the number of entries if there are too many."""
    if len(timeline) > MOST_CHANGES:
        return [f"{len(timeline)} changes while traffic flows"]
    return [_change_words(entry) for entry in timeline]


def _change_words(entry):
    """Return an entry of a timeline in words."""
    what = ", ".join(text.format(entry[name]) for name, text in _QUANTITIES.items() if entry[name] is not None)
    way = "" if entry["direction"] == "both" else f"{entry['direction']} "
    ramp = f" over {entry['over_s']:g} s" if entry["over_s"] else ""
    when = f"at {entry['at_s']:g} s" if entry["down_for_s"] is not None else f"from {entry['at_s']:g} s on"
    return f"{way}{what} {when}{ramp}"
