"""Compare the emulated link's loss and the path's RTT with the configured values."""

import math
from statistics import NormalDist

import pandas as pd

from run_tables.conditions_at_centre import path_factors
from run_tables.reading import link_packets
from wording.scenario_words import least_rtt_ms

UNKNOWN = "not counted separately from the queue's drops"
CHANGING = "changes while traffic flows"


def wilson_interval(hits, trials, confidence) -> tuple[float, float]:
    """Return the lower and the upper end of Wilson's score interval for a proportion (Wilson, 1927, JASA 22:209-212).

    Parameters
    ----------
    hits, trials : int
        Number of successes, and number of trials (at least one).
    confidence : float
        Confidence level of the interval, between 0 and 1.

    Raises
    ------
    ValueError
        If there are no trials, or ``hits`` is not between 0 and ``trials``.
    """
    if trials < 1 or not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials}: expected a share of at least one trial")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, room = hits / trials, z * z / trials
    middle = (share + room / 2) / (1 + room)
    half = z / (1 + room) * math.sqrt(share * (1 - share) / trials + room / (4 * trials))
    # With no hits, the lower end is exactly 0; with only hits, the upper end is exactly 1. Rounding errors would shift both.
    return (0.0 if hits == 0 else middle - half), (1.0 if hits == trials else middle + half)


def _independent_runs(runs):
    """Return the runs whose losses are independent: for each seed, the run that sent the most packets.

    Runs of one scenario and replication use the same seed, so the link drops packets with the same numbers, counted from the first packet,
    in all these runs: the losses of runs with fewer packets also occur in the run with the most packets. Counting k runs of a seed would
    make an interval up to sqrt(k) times too narrow.
    """
    return runs.sort_values("packets", kind="stable", ascending=False).drop_duplicates("seed")


def realised_loss(runs, scenarios, confidence, changing=()) -> pd.DataFrame:
    """Return the realised and the configured loss on each scenario's link.

    There is one row per scenario. The columns are scenario, scenario_label, quantity ("loss"), unit, configured, realised, low, high,
    runs (number of independent runs), packets and note.

    Parameters
    ----------
    confidence : float
        Confidence level of the interval.
    changing : collection of str
        Scenarios whose loss changes, so that there is no single configured value. In each of their runs, the check `loss_forward` judges
        the loss phase by phase.
    """

    def loss(valid):
        if valid["scenario"].iloc[0] in changing:
            return {"note": CHANGING}
        counted = valid.assign(packets=link_packets(valid)).dropna(subset=["packets", "link_drops"])
        counted = _independent_runs(counted)
        packets, drops = int(counted["packets"].sum()), int(counted["link_drops"].sum())
        if packets == 0:
            return {"note": UNKNOWN if counted.empty else "no packet reached the link"}
        low, high = (100 * end for end in wilson_interval(drops, packets, confidence))
        return {"realised": 100 * drops / packets, "low": low, "high": high, "runs": len(counted), "packets": packets}

    return _checked(runs, scenarios, "loss", "%", lambda scenario: scenario["loss_forward_percent"], loss)


def smallest_rtt(runs, scenarios, shifts_ms=None) -> pd.DataFrame:
    """Return each scenario's minimum RTT as measured by TCP, and the minimum RTT that the path and the jitter allow.

    ``shifts_ms`` maps scenarios with a changing path to the path's minimum RTT minus its initial RTT (`StudyDesign.rtt_shifts_ms`).

    The columns are the same as in `realised_loss`. ``realised`` and ``low`` are the minimum RTT over all valid runs; ``high`` is the
    largest of the runs' minimum RTTs. If paths are drawn at random, the values are adjusted to the path that the scenario sets.
    """

    def rtt(valid):
        known = (valid["rtt_min_ms"] - longer_paths_ms(valid, scenarios)).dropna()
        if known.empty:
            return {"note": "no value"}
        return {
            "realised": float(known.min()),
            "low": float(known.min()),
            "high": float(known.max()),
            "runs": len(known),
        }

    def least(scenario):
        return max(0.0, least_rtt_ms(scenario) + (shifts_ms or {}).get(scenario["scenario"], 0.0))

    return _checked(runs, scenarios, "smallest RTT", "ms", least, rtt)


def longer_paths_ms(runs, scenarios) -> pd.Series:
    """Return each run's minimum possible RTT minus that of its scenario, in ms; 0 unless paths are drawn at random."""
    least = runs["scenario"].map({row["scenario"]: least_rtt_ms(row) for row in scenarios.to_dict("records")})
    factors = path_factors(runs, scenarios).reindex(pd.MultiIndex.from_frame(runs[["scenario", "replication"]]))
    return least * (factors.to_numpy() - 1)


def _checked(runs, scenarios, quantity, unit, configured, realised):
    """Return the table for a quantity, with one row per scenario.

    The function ``configured`` returns the configured value of a scenario; ``realised`` returns columns computed from the valid runs.
    """
    rows = []
    for scenario in scenarios.to_dict("records"):
        valid = runs[(runs["scenario"] == scenario["scenario"]) & runs["valid"]]
        row = {
            "scenario": scenario["scenario"], "scenario_label": scenario["label"], "quantity": quantity,
            "unit": unit, "configured": float(configured(scenario)), "realised": None, "low": None, "high": None,
            "runs": 0, "packets": None, "note": "no valid run",
        }  # fmt: skip
        rows.append(row if valid.empty else row | {"note": ""} | realised(valid))
    return pd.DataFrame(rows).astype(object)
