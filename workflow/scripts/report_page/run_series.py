"""Thinned time series for a page: one line for each measure of the first valid run in each cell."""

import pandas as pd

from run_tables.run_keys import CELL, RUN

#: Table of samples -> measures as (column, words, unit). `SUMMED` contains the columns that are summed over flows.
MEASURES = {
    "sockets": (
        ("cwnd_packets", "Congestion window, mean of the flows", "segments"),
        ("ssthresh_packets", "Slow start threshold, mean of the flows that have a threshold", "segments"),
        ("rtt_ms", "Smoothed RTT, mean of the flows", "ms"),
        ("pacing_mbps", "Pacing rate, sum of the flows", "Mbit/s"),
        ("delivery_mbps", "Delivery rate, sum of the flows", "Mbit/s"),
    ),
    "queue": (
        ("delay_ms", "Time to drain the data waiting at the first bottleneck", "ms"),
        ("packets", "Data waiting at the first bottleneck", "packets"),
    ),
    "intervals": (
        ("sent_mbps", "Data sent by the applications, sum of the flows", "Mbit/s"),
        ("retransmits", "Retransmitted in the reporting interval, sum of the flows", "segments"),
        ("rtt_ms", "Smoothed RTT at the end of the reporting interval, mean of the flows", "ms"),
        ("cwnd_bytes", "Congestion window at the end of the reporting interval, mean of the flows", "bytes"),
    ),
}  # fmt: skip
SUMMED = {"pacing_mbps", "delivery_mbps", "sent_mbps", "retransmits"}
#: Maximum total number of values in all lines, and maximum and minimum number of points per line. If there are too many lines, the last
#: lines are omitted.
MOST_VALUES, MOST_POINTS, LEAST_POINTS = 200_000, 400, 30
DIGITS = 5


def series_of(runs: pd.DataFrame, flows: pd.DataFrame, **samples: pd.DataFrame) -> list[dict]:
    """Return the lines of the page's time series.

    Flows with different CCAs or directions are not combined in a line.

    Parameters
    ----------
    runs, flows : pandas.DataFrame
        Rows of ``tidy/runs.csv`` and ``tidy/flows.csv``.
    **samples : pandas.DataFrame
        The tables named in `MEASURES`.

    Returns
    -------
    list of dict
        The keys of a line are ``run``, the index of the run in ``runs``; ``words`` and ``unit`` of the measure; ``cca``, the CCA of the
        flows if it isn't the run's CCA (in a mix, or in a group with its own CCA), otherwise empty; ``t`` and ``v``, the times in s since
        the traffic's origin and the values of every k-th sample.
    """
    first = runs.reset_index(drop=True)
    first = first[first["valid"]].groupby(list(CELL), sort=False).head(1)
    first = first[[*RUN]].assign(run=first.index, all_flows=first["flows"])
    flows = flows[[*RUN, "flow", "flow_cca", "direction", "start_offset_ms"]]
    lines = [line for name, table in samples.items() for line in _lines(name, table, first, flows)]
    points = MOST_VALUES // max(2 * len(lines), 1)
    if points < LEAST_POINTS:
        lines, points = lines[: MOST_VALUES // (2 * LEAST_POINTS)], LEAST_POINTS
    return [_thinned(line, min(points, MOST_POINTS)) for line in lines]


def _lines(name, table, first, flows):
    """Yield the lines for a table of samples, before thinning; if there are several bottlenecks, only the first is included."""
    rows = table.merge(first, on=list(RUN))
    if "bottleneck" in rows:
        rows = rows[rows["bottleneck"] == 1].assign(flow_cca=rows["cca"], direction="forward")
    else:
        rows = rows.drop(columns="flow_cca", errors="ignore").merge(flows, on=[*RUN, "flow"])
    for (run, flow_cca, direction), of_run in rows.groupby(["run", "flow_cca", "direction"], sort=False):
        seen = of_run["flow"].nunique() if name == "sockets" else 0
        # If there are thousands of flows, the testbed samples only some of them.
        of_all = rows.loc[rows["run"] == run, "flow"].nunique() if seen else 0
        kind = "reverse flows" if direction == "reverse" else "flows"
        kind = f"{seen} sampled {kind}" if of_all < of_run["all_flows"].iloc[0] and seen else kind
        times = of_run.groupby(_times_s(name, of_run))
        for column, words, unit in MEASURES[name]:
            if of_run[column].notna().any():
                values = times[column].sum(min_count=1) if column in SUMMED else times[column].mean()
                yield {
                    "run": int(run), "words": words.replace("of the flows", f"of the {kind}"), "unit": unit,
                    "cca": "" if flow_cca == of_run["cca"].iloc[0] else flow_cca, "values": values.dropna(),
                }  # fmt: skip


def _times_s(name, rows) -> pd.Series:
    """Return the time of each sample in s since the traffic's origin.

    Times in reporting intervals are measured from the flow's own start, and flows don't start together. Their ends are therefore rounded to
    whole intervals, so that values of all flows can be added up.
    """
    if name != "intervals":
        return rows["time_s"].round(3)
    step_s = float((rows["end_s"] - rows["start_s"]).round(3).median())
    place = (rows["start_offset_ms"] / 1000 / step_s).round() + (rows["start_s"] / step_s).round() + 1
    return (place * step_s).round(3)


def _thinned(line, points):
    """Return a line thinned to at most `points` samples."""
    values = line.pop("values")
    values = values.iloc[:: max(1, -(-len(values) // points))]
    return line | {
        "t": [round(float(time), 3) for time in values.index],
        "v": [float(f"{value:.{DIGITS}g}") for value in values],
    }
