"""The factors in which scenarios differ, and the scenarios that differ from a base in only one factor."""

import math
from dataclasses import dataclass

from run_tables.queue_sizes import queue_bdp
from wording.number_format import is_missing, plain


@dataclass(frozen=True)
class Factor:
    """A factor of the scenarios.

    ``name`` is used in the table and includes the unit. ``title`` and ``unit`` are displayed.
    """

    name: str
    title: str
    unit: str

    def words(self, level) -> str:
        """Return a level with its unit, such as "40 ms" or "0.25 BDP"; "none" if it is missing."""
        return f"{plain(level)} {self.unit}".strip() if not is_missing(level) else "none"


FACTORS = (
    Factor("buffer_bdp", "Buffer", "BDP"),
    Factor("rtt_ms", "RTT of the empty path", "ms"),
    Factor("rtt_ratio", "RTT of the other flow divided by this flow's", ""),
    Factor("loss_percent", "Random loss", "%"),
    Factor("rate_mbps", "Link rate", "Mbit/s"),
)
# Conditions that must be the same in two scenarios for their levels of a factor to be compared.
OTHERS = ("jitter_forward_ms", "jitter_reverse_ms", "loss_reverse_percent", "flows", "bitrate_mbps", "duration_s",
          "platform", "segmentation_offload", "netem", "processes", "discipline", "queue_parameters", "reverse_queue", "ecn", "groups", "host_options", "link_options", "more")  # fmt: skip


def _factor_levels(scenario, rtt_ms, other_rtt_ms):
    """Return a scenario's level for each factor.

    ``rtt_ms`` and ``other_rtt_ms`` are the base RTTs at the first and at the second position.
    """
    rate = scenario["rate_mbps"]
    return {
        "buffer_bdp": queue_bdp(scenario["queue"], scenario["queue_bytes"], rate, rtt_ms),
        "rtt_ms": rtt_ms,
        "rtt_ratio": other_rtt_ms / rtt_ms if rtt_ms else 1.0,
        "loss_percent": scenario["loss_forward_percent"],
        "rate_mbps": None if is_missing(rate) else rate,
    }


def base_and_levels(scenarios, paths) -> tuple[str | None, dict]:
    """Find the base scenario, and the scenarios that differ from the base in only one factor.

    The base is the scenario with the largest number of such counterparts; in a tie, the first scenario is chosen. Returns the base's id
    (None if no two scenarios differ in only one factor) and the levels: factor -> list of (level, scenario) in ascending order, including
    the base, for factors with two or more levels.

    Parameters
    ----------
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv`` with ``queue_bytes``, the size of a full queue in the scenario's runs.
    paths : dict of str to (float, float)
        Scenario -> base RTTs at both positions in ms; scenarios without an entry are excluded.
    """
    rows = [row for row in scenarios.to_dict("records") if row["scenario"] in paths]
    known = {row["scenario"]: _factor_levels(row, *paths[row["scenario"]]) for row in rows}
    rest = {row["scenario"]: tuple(None if is_missing(row[name]) else row[name] for name in OTHERS) for row in rows}
    neighbours = {
        name: [(factor, other) for other in known if rest[other] == rest[name]
               for factor in [_only_difference(known[name], known[other])] if factor]
        for name in known
    }  # fmt: skip
    base = max(neighbours, key=lambda name: len(neighbours[name]), default=None)
    if base is None or not neighbours[base]:
        return None, {}
    levels = {}
    for factor in FACTORS:
        others = [
            (known[other][factor.name], other) for differing, other in neighbours[base] if differing == factor.name
        ]
        if others:
            of_all = [(known[base][factor.name], base), *others]
            levels[factor.name] = sorted(of_all, key=lambda pair: math.inf if pair[0] is None else pair[0])
    return base, levels


def _only_difference(levels, others):
    differing = [name for name in levels if levels[name] != others[name]]
    return differing[0] if len(differing) == 1 else None
