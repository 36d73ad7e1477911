"""Find the conditions that vary across scenarios, if the scenarios form a full factorial design."""

import math

import pandas as pd

#: Columns of ``tidy/scenarios.csv`` that aren't conditions, or that follow from other conditions.
NOT_SET = (
    "scenario",
    "label",
    "conditions",
    "queue_packets",
    "rtt_path_ms",
    "capacity_least_mbps",
    "capacity_most_mbps",
)
#: Displayed names of conditions. Other conditions are named after their columns.
WORDS = {
    "rate_mbps": "rate", "delay_forward_ms": "delay", "delay_reverse_ms": "delay", "jitter_forward_ms": "jitter",
    "jitter_reverse_ms": "jitter", "loss_forward_percent": "loss", "loss_reverse_percent": "loss", "message_bytes": "message", "ecn": "ECN",
    "path_delay_ms": "path delay", "access_delay_ms": "access delay", "duration_s": "duration", "bitrate_mbps": "bitrate",
}  # fmt: skip
#: Ends of the names of columns with one value for each direction.
DIRECTIONS = {"_forward": "forward", "_reverse": "reverse"}
SCENARIO = "scenario"


def crossed_conditions(scenarios: pd.DataFrame) -> pd.DataFrame | None:
    """Return the conditions that vary across scenarios; None unless each combination of their levels occurs exactly once.

    ``scenarios`` is ``tidy/scenarios.csv``, or some of its rows. The result is indexed by scenario and has one column per condition, named
    in words. The values are indices of the condition's levels, in order of appearance. Conditions that always vary together are combined:
    "rate and queue".
    """
    together: dict[tuple, list[str]] = {}  # levels -> columns
    for name in scenarios.columns:
        levels = tuple(pd.factorize(scenarios[name], use_na_sentinel=False)[0].tolist())
        if name not in NOT_SET and max(levels) > 0:
            together.setdefault(levels, []).append(name)
    names = [" and ".join(dict.fromkeys(map(_words, columns))) for columns in together.values()]
    if len(set(names)) < len(names):  # the directions vary separately
        names = [" and ".join(map(_words_with_direction, columns)) for columns in together.values()]
    if len(names) == 1 and names[0].count(" and ") > 1:
        names = [SCENARIO]  # two or more scenarios that differ in several conditions at once
    levels = pd.DataFrame(dict(zip(names, together, strict=True)), index=scenarios["scenario"])
    if levels.empty or len(levels) != math.prod(levels.nunique()) or levels.duplicated().any():
        return None
    return levels


def _words(column):
    return WORDS.get(column, column.replace("_", " "))


def _words_with_direction(column):
    direction = next((words for end, words in DIRECTIONS.items() if end in column), "")
    return " ".join(filter(None, (direction, _words(column))))
