"""Data that the subflows on each path deliver over time, and the measures of an outage derived from this data."""

import numpy as np
import pandas as pd

from wording.number_format import is_missing

#: Columns of ``tidy/sockets.parquet`` that are needed here.
COLUMNS = ["flow", "path", "time_s", "bytes_acked"]
MEASURES = ("before_mbps", "during_mbps", "after_mbps", "standstill_s", "return_s")


def acked_by_path(samples) -> pd.DataFrame:
    """Return the cumulative number of acknowledged bytes, with one row per sample time and one column per path.

    The number is 0 while there is no subflow on a path, and at the beginning of the traffic.
    """
    acked = samples.pivot_table(index="time_s", columns=["flow", "path"], values="bytes_acked", aggfunc="last")
    acked = acked.reindex(acked.index.union([0.0])).ffill().fillna(0.0)
    return acked.T.groupby(level="path").sum().T


def measure_run(acked, scenario) -> dict[str, float]:
    """Return a run's `MEASURES`.

    Parameters
    ----------
    acked : pandas.DataFrame
        Result of `acked_by_path`.
    scenario : mapping
        A row of ``tidy/scenarios.csv``.
    """
    begin_s, duration_s = scenario["outage_at_s"], scenario["duration_s"]
    end_s = begin_s + scenario["outage_for_s"]
    total, own = acked.sum(axis=1), acked.get(scenario["outage_path"], pd.Series(0.0, acked.index))
    return_s = _first_growth(own, end_s)
    until_s = end_s if np.isnan(return_s) else end_s + return_s
    return {
        "before_mbps": _rate(total, begin_s / 2, begin_s),
        "during_mbps": _rate(total, (begin_s + end_s) / 2, end_s),
        "after_mbps": _rate(total, max(0.75 * duration_s, end_s), duration_s),
        "standstill_s": _longest_pause(total, begin_s, until_s),
        "return_s": return_s,
    }


def _rate(acked, begin_s, end_s):
    """Return the mean rate in Mbit/s from the first to the last sample between two times."""
    within = acked[(acked.index >= begin_s) & (acked.index <= end_s)]
    if len(within) < 2:
        return np.nan
    return 8e-6 * (within.iloc[-1] - within.iloc[0]) / (within.index[-1] - within.index[0])


def _longest_pause(acked, begin_s, end_s):
    """Return the longest time in s during which a counter doesn't grow.

    The search begins at the last sample at or before ``begin_s``, and ends at ``end_s``.
    """
    before = acked[acked.index <= begin_s].index.max()
    within = acked[(acked.index >= before) & (acked.index <= end_s)]
    grown = within.index[within.diff().fillna(1) > 0]
    return float(np.diff([*grown, within.index[-1]]).max())


def _first_growth(acked, from_s):
    """Return the time in s from ``from_s`` to the next increase in a counter; NaN if there is no further increase."""
    start = acked[acked.index <= from_s].iloc[-1]
    grown = acked[(acked.index > from_s) & (acked > start)]
    return float(grown.index[0] - from_s) if len(grown) else np.nan


def path_ideal_mbps(run, scenario) -> float | pd.Series:
    """Return the goodput in Mbit/s over the path that goes down, as if it were fully used and up during the entire run.

    ``run`` is a row, or several rows, of ``tidy/runs.csv``; ``scenario`` is a row of ``tidy/scenarios.csv``.
    """
    rates = scenario["path_rate_mbps"]
    of_path = (
        scenario["capacity_most_mbps"] / scenario["paths"]
        if is_missing(rates) or not rates
        else float(rates.split()[int(scenario["outage_path"]) - 1])
    )
    return run["ideal_goodput_mbps"] / run["capacity_mbps"] * of_path
