"""Hold what the emulated path did against what was configured: loss of the link, RTT of the path."""

import math
from statistics import NormalDist

import pandas as pd

from run_tables.reading import link_packets
from wording.number_format import is_missing
from wording.scenario_words import path_rtts_ms

UNKNOWN = "not counted apart from the queue's drops"


def wilson_interval(hits, trials, confidence) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson, 1927, JASA 22:209-212).

    Parameters
    ----------
    hits, trials : int
        `trials` of at least 1.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    low, high : float
        Between 0 and 1.
    """
    if trials < 1 or not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials}: expected a share of at least one trial")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, room = hits / trials, z * z / trials
    middle = (share + room / 2) / (1 + room)
    half = z / (1 + room) * math.sqrt(share * (1 - share) / trials + room / (4 * trials))
    # At the ends the interval is closed exactly, which rounding would miss.
    return (0.0 if hits == 0 else middle - half), (1.0 if hits == trials else middle + half)


def independent_runs(runs) -> pd.DataFrame:
    """Return the runs whose losses are independent: of each seed the one that sent most packets.

    Runs of one scenario and replication have the same seed, so the link drops the same packets by
    number in all of them: what happened to the shorter ones happened in the longest too.
    Counting them all would make an interval up to sqrt(12) times too narrow.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``, valid runs of one scenario, with the packets that reached the link in `packets`.
    """
    return runs.sort_values("packets", kind="stable", ascending=False).drop_duplicates("seed")


def realised_loss(runs, scenarios, confidence) -> pd.DataFrame:
    """Return the realised loss of each scenario's link beside the configured one.

    Parameters
    ----------
    runs, scenarios : pandas.DataFrame
        The tidy tables.
    confidence : float
        Of the interval.

    Returns
    -------
    pandas.DataFrame
        A row a scenario: scenario, scenario_label, quantity ("loss"), unit, configured, realised,
        low, high, runs (independent ones), packets, note.
    """
    rows = []
    for scenario in scenarios.to_dict("records"):
        valid = _valid(runs, scenario)
        row = _row(scenario, "loss", "%", float(scenario["loss_forward_percent"]))
        counted = valid.assign(packets=link_packets(valid))
        counted = independent_runs(counted[counted["packets"].notna() & counted["link_drops"].notna()])
        packets, drops = int(counted["packets"].sum()), int(counted["link_drops"].sum())
        if packets:
            low, high = wilson_interval(drops, packets, confidence)
            row |= {"realised": 100 * drops / packets, "low": 100 * low, "high": 100 * high}
            row |= {"runs": len(counted), "packets": packets}
        elif len(valid) == 0:
            row["note"] = "no valid run"
        else:
            row["note"] = UNKNOWN if len(counted) == 0 else "no packet reached the link"
        rows.append(row)
    return pd.DataFrame(rows).astype(object)


def smallest_rtt(runs, scenarios) -> pd.DataFrame:
    """Return the smallest RTT that TCP saw in each scenario beside the path's.

    Returns
    -------
    pandas.DataFrame
        As `realised_loss`; realised and low are the smallest RTT of all valid runs, high is the
        largest of the runs' own smallest RTTs.
    """
    rows = []
    for scenario in scenarios.to_dict("records"):
        valid = _valid(runs, scenario)
        path = float(path_rtts_ms(scenario)[0])
        row = _row(scenario, "smallest RTT", "ms", path)
        known = valid["rtt_min_ms"].dropna()
        if len(known):
            low, high = float(known.min()), float(known.max())
            row |= {"realised": low, "low": low, "high": high, "runs": len(known)}
        else:
            row["note"] = "no value" if len(valid) else "no valid run"
        rows.append(row)
    return pd.DataFrame(rows).astype(object)


def _valid(runs, scenario):
    return runs[(runs["scenario"] == scenario["scenario"]) & runs["valid"]]


def _row(scenario, quantity, unit, configured):
    return {
        "scenario": scenario["scenario"], "scenario_label": scenario["label"], "quantity": quantity,
        "unit": unit, "configured": configured, "realised": None, "low": None, "high": None,
        "runs": 0, "packets": None, "note": "",
    }  # fmt: skip


def deviations(checked) -> list[tuple[float, float, float] | None]:
    """Return the deviations from what was configured: realised, low and high less configured.

    Parameters
    ----------
    checked : pandas.DataFrame
        As `realised_loss` and `smallest_rtt` give.

    Returns
    -------
    list of (float, float, float) or None
        One a row; None where nothing was realised.
    """
    return [
        None if is_missing(row["realised"])
        else tuple(row[name] - row["configured"] for name in ("realised", "low", "high"))
        for row in checked.to_dict("records")
    ]  # fmt: skip
