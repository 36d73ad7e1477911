"""Find whether differences between platforms arise only during start-up or persist, and describe start-up on each platform.

A goodput difference that remains when start-up is excluded isn't due to start-up. Start-up is described by the intervals of iperf3's
report and, if the study requests time series, by the samples of the sockets.
"""

import numpy as np
import pandas as pd

from inference.independent_comparison import difference
from run_tables.resolution import resolution_of
from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs
from testbed.readings.deliveries import START_UP
from topics.platforms.tables import PLACE, PLATFORM_STARTS

START, ALWAYS, NO_DIFFERENCE, UNKNOWN = "start-up", "all the time", "no difference shown", "not known"
#: A difference is attributed to start-up if at most this share of it remains when start-up is excluded.
LEFT = 0.5
MEASURES = ("early_retransmits", "slow_start_peak_packets", "lossless_percent", "silence_s")
SAMPLES = ["flow", "time_s", "cwnd_packets", "ssthresh_packets", "retransmits", "bytes_acked"]


def early_retransmits(path, durations_s) -> dict[tuple, float]:
    """Return, for each run, the number of segments that were retransmitted in the first quarter (`START_UP`) of the flows' duration.

    Parameters
    ----------
    path : str or path
        ``tidy/intervals.parquet``.
    durations_s : dict of str to float
        Scenario -> time in s for which each flow sends.
    """
    counts = {}
    for run, rows in series_of_runs(path, ["end_s", "retransmits"], wanted=None):
        # The last interval of the quarter may end a few microseconds late.
        early = rows["end_s"] <= START_UP * durations_s[run[0]] + 1e-3
        counts[run] = float(rows.loc[early, "retransmits"].sum(min_count=1))
    return counts


def start_of_flow(samples, until_s) -> dict[str, float]:
    """Return the measures of a flow's start-up.

    Slow start lasts until the slow start threshold (ssthresh) is set, or until ``until_s`` if the threshold is never set. The measures are:

    - slow_start_peak_packets: largest congestion window during slow start;
    - lossless_percent: 100 if nothing was retransmitted during slow start, otherwise 0;
    - silence_s: longest time between two successive samples with newly acknowledged data.

    Parameters
    ----------
    samples : pandas.DataFrame
        The flow's `SAMPLES`, ordered by time.
    until_s : float
        Longest possible duration of start-up.
    """
    early = samples[samples["time_s"] <= until_s]
    left = early["ssthresh_packets"].notna().to_numpy()
    slow = early.iloc[: left.argmax() + 1] if left.any() else early
    again = slow["retransmits"].max()
    times = early.loc[early["bytes_acked"].diff() > 0, "time_s"]
    return {
        "slow_start_peak_packets": slow["cwnd_packets"].max(),
        "lossless_percent": 100.0 * (again == 0) if not pd.isna(again) else np.nan,
        "silence_s": float(np.diff(times).max()) if len(times) > 1 else np.nan,
    }


def starts_of_runs(intervals, sockets, runs) -> pd.DataFrame:
    """Return each valid run's `MEASURES`, indexed by `RUN`.

    Early retransmits are counted over all of a run's flows; the other measures are means over its flows. ``intervals`` and ``sockets``
    are ``tidy/intervals.parquet`` and ``tidy/sockets.parquet``, which may be empty.
    """
    durations_s = runs.groupby("scenario")["duration_s"].first().to_dict()
    again = early_retransmits(intervals, durations_s)
    rows = {run: {"early_retransmits": count} for run, count in again.items()}
    for run, samples in series_of_runs(sockets, SAMPLES):
        until_s = START_UP * durations_s[run[0]]
        flows = [start_of_flow(of_flow, until_s) for _, of_flow in samples.groupby("flow")]
        rows.setdefault(run, {}).update(pd.DataFrame(flows).mean().to_dict())
    index = pd.MultiIndex.from_tuples(list(rows), names=RUN) if rows else pd.MultiIndex.from_arrays([[]] * 4, names=RUN)
    table = pd.DataFrame(list(rows.values()), index=index, columns=MEASURES)
    return table.loc[table.index.intersection(pd.MultiIndex.from_frame(runs.loc[runs["valid"], RUN]))]


def _apart(second, first, column):
    """Return the difference in goodput (``column``) between the runs on two platforms; None if values are missing for either."""
    samples = [of_side[column].dropna() for of_side in (second, first)]
    if any(sample.empty for sample in samples):
        return None
    resolutions = [resolution_of(of_side, column) for of_side in (second, first)]
    return difference(*samples, "ratio", resolutions)


def _known(apart, ends):
    """Return a difference in percent and the bounds of this difference; unknown values are None."""
    return (None, None, None) if apart is None else (apart.effect, *(ends or (None, None)))


def when_it_arises(whole, steady) -> str:
    """Return when a difference between two platforms arises: `START`, `ALWAYS`, `NO_DIFFERENCE` or `UNKNOWN`.

    The arguments are the differences (effect, low, high) in percent: over the entire measured period, and without start-up.
    """
    if None in (*whole, *steady):
        return UNKNOWN
    if whole[1] <= 0 <= whole[2]:
        return NO_DIFFERENCE
    if abs(steady[0]) <= LEFT * abs(whole[0]) and not steady[1] <= whole[0] <= steady[2]:
        return START
    return ALWAYS if abs(steady[0]) > LEFT * abs(whole[0]) and not steady[1] <= 0 <= steady[2] else UNKNOWN


def platform_starts(platforms, runs, starts, confidence) -> pd.DataFrame:
    """Return `PLATFORM_STARTS`, which shows when each difference in goodput arises.

    Parameters
    ----------
    platforms : pandas.DataFrame
        `PLATFORMS` from `compare_platforms.compare_platforms`.
    runs : pandas.DataFrame
        ``tidy/runs.csv`` with the columns `PLACE`.
    starts : pandas.DataFrame
        Result of `starts_of_runs`.
    """
    valid = runs[runs["valid"]].join(starts, on=RUN)
    groups = dict(iter(valid.groupby([*PLACE, "platform"], sort=False)))
    nothing, rows = valid[:0], []
    for pair in platforms.drop_duplicates([*PLACE, "platform_a", "platform_b"]).to_dict("records"):
        place = tuple(pair[name] for name in PLACE)
        first, second = (groups.get((*place, pair[side]), nothing) for side in ("platform_a", "platform_b"))
        row = {name: pair[name] for name in (*PLACE, "platform_a", "platform_b")}
        apart = {
            name: _apart(second, first, column)
            for name, column in (("goodput", "goodput_mbps"), ("steady", "goodput_steady_mbps"))
        }
        for name, estimate in apart.items():
            values = _known(estimate, estimate and estimate.interval(confidence))
            row |= dict(zip((f"{name}_percent", f"{name}_low", f"{name}_high"), values, strict=True))
        for side, of_side in (("a", first), ("b", second)):
            row |= {f"{name}_{side}": of_side[name].mean() for name in ("retransmits", *MEASURES)}
        between = [
            _known(apart[name], apart[name] and apart[name].bounds(confidence)) for name in ("goodput", "steady")
        ]
        rows.append(row | {"arises": when_it_arises(*between)})
    return pd.DataFrame(rows, columns=PLATFORM_STARTS.names)
