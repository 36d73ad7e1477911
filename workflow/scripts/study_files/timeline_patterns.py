"""Generate a link's timeline from a pattern, its parameters and a seed (`link.timeline: {pattern: satellite, period_s: 15}`)."""

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from study_files.study_traces import TraceError
from study_files.study_validation import value_text

#: Suffix of a key -> maximum value, the same as for the entries of a timeline.
MOST = {"_s": 86_400, "_mbps": 20_000, "_ms": 2000}
#: Maximum number of entries in a timeline (as in study.schema.yaml).
MOST_ENTRIES = 2000
#: Number of decimals to which drawn values are rounded.
DIGITS = 3


@dataclass(frozen=True)
class Pattern:
    """A pattern of changes to the path.

    Attributes
    ----------
    parameters : dict
        Default value of each parameter; a list is a range from which values are drawn at random.
    entries : callable
        Generates the entries of a timeline.
    """

    parameters: dict
    entries: Callable


def satellite(draw, until_s, given) -> Iterator[dict]:
    """Yield handovers at fixed intervals; at each, a new rate and delay are drawn, and all packets are dropped for a short time."""
    if given["down_s"] >= given["period_s"]:
        raise TraceError(f".down_s is {given['down_s']:g}; allowed: less than period_s, {given['period_s']:g} (s).")
    for number in itertools.count(1):
        entry = {"at_s": round(number * given["period_s"], DIGITS)}
        if entry["at_s"] > until_s:
            return
        entry |= {key: drawn(draw, given[key]) for key in ("rate_mbps", "delay_ms") if given[key] is not None}
        yield entry | ({"down_for_s": given["down_s"]} if given["down_s"] else {})


def on_off(draw, until_s, given) -> Iterator[dict]:
    """Yield outages with exponentially distributed durations and intervals; if a rate is given, a new rate is drawn at each outage."""
    at_s, ended_s, least_s = draw.expovariate(1 / given["on_s"]), -1, 10**-DIGITS
    while at_s < until_s:
        off_s = max(least_s, round(draw.expovariate(1 / given["off_s"]), DIGITS))
        # One outage must end before the next begins.
        begins_s = max(round(at_s, DIGITS), round(ended_s + least_s, DIGITS))
        entry, ended_s = {"at_s": begins_s, "down_for_s": off_s}, begins_s + off_s
        yield entry | ({} if given["rate_mbps"] is None else {"rate_mbps": drawn(draw, given["rate_mbps"])})
        at_s += off_s + draw.expovariate(1 / given["on_s"])


PATTERNS = {
    # Terminals of a satellite constellation are reassigned every 15 s.
    "satellite": Pattern({"period_s": 15, "rate_mbps": [50, 200], "delay_ms": [15, 40], "down_s": 0.05}, satellite),
    "on-off": Pattern({"on_s": 5, "off_s": 0.5, "rate_mbps": None}, on_off),
}
#: Keys that are allowed for all patterns.
COMMON = {"direction": "both", "seed": 1}


def drawn(draw, value) -> float:
    """Return a number unchanged, or draw a number uniformly at random from a range (a list)."""
    return value if not isinstance(value, list) else round(draw.uniform(*value), DIGITS)


def entries_of(timeline, until_s) -> list[dict]:
    """Generate the entries of `link.timeline` from a pattern; raise `TraceError` if the pattern is invalid.

    Changes that don't end before ``until_s`` are discarded.
    """
    name = timeline["pattern"]
    if name not in PATTERNS:
        raise TraceError(f".pattern is {value_text(name)}; allowed: one of {', '.join(PATTERNS)}.")
    pattern = PATTERNS[name]
    allowed = pattern.parameters | COMMON
    for key, value in timeline.items():
        if key != "pattern" and key not in allowed:
            raise TraceError(f" has the key {value_text(key)}; allowed with pattern {name}: {', '.join(allowed)}.")
        if problem := _problem(key, value, allowed.get(key)):
            raise TraceError(f".{key} is {value_text(value)}; allowed: {problem}.")
    if not 0 < until_s < math.inf:
        # Such a duration is reported when the schema is checked.
        return []
    given = allowed | timeline
    made = pattern.entries(random.Random(f"{name} {given['seed']}"), until_s, given)
    entries = [{"direction": given["direction"]} | entry for entry in itertools.islice(made, MOST_ENTRIES + 1)]
    if len(entries) > MOST_ENTRIES:
        raise TraceError(
            f" makes more than {MOST_ENTRIES:,} changes in {until_s:g} s; allowed: longer times between them."
        )
    entries = [entry for entry in entries if entry["at_s"] + entry.get("down_for_s", 0) < until_s]
    if not entries:
        raise TraceError(f" has no change before {until_s:g} s, the end of the traffic.")
    return entries


def _problem(key, value, default):
    """Return a description of the values allowed for a key if its value isn't allowed, otherwise None."""
    if key == "direction":
        return None if value in ("both", "forward", "reverse") else "one of both, forward, reverse"
    if key == "seed":
        return (
            None
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0
            else "a whole number of at least 0"
        )
    most = next((most for end, most in MOST.items() if key.endswith(end)), None)
    if most is None or (value is None and (default is None or isinstance(default, list))):
        return None
    ranged = default is None or isinstance(default, list)
    least = 0 if key in ("delay_ms", "down_s") else 0.01
    numbers = value if isinstance(value, list) and ranged else [value]
    good = all(isinstance(one, (int, float)) and not isinstance(one, bool) and least <= one <= most for one in numbers)
    if good and (len(numbers) == 1 or (len(numbers) == 2 and numbers[0] <= numbers[1])):
        return None
    return f"a number from {least:g} to {most}" + (", a range such as [20, 40], or null" if ranged else "")
