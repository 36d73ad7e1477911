"""The data for a plot of one run over time, as a table of thinned lines, phases and ticks."""

import numpy as np
import pandas as pd

#: Number of time columns to which lines are thinned: two for each point of a panel's width.
LINE_COLUMNS = 372
#: Columns of the figure's data.
COLUMNS = ["flow", "flow_cca", "series", "time_s", "end_s", "value", "value_text"]


def cell_runs(runs, scenario, cca, ip_version) -> pd.DataFrame:
    """Return a cell's rows of ``tidy/runs.csv``."""
    return runs[(runs["scenario"] == scenario) & (runs["cca"] == cca) & (runs["ip_version"] == ip_version)]


def first_valid(cell) -> int | None:
    """Return the replication to plot: the cell's first valid replication, or None if none is valid."""
    valid = cell.loc[cell["valid"], "replication"]
    return int(valid.min()) if len(valid) else None


def run_data(samples, queue, phases) -> pd.DataFrame:
    """Return the data for a run's figure.

    The result has the columns `COLUMNS`. The values of ``series`` are:

    - cwnd, ssthresh (packets), rtt and queue_delay (ms): lines; queue_packets replaces queue_delay if the rate is unknown;
    - phase: a spell in a phase, whose name is in value_text;
    - retransmission, drop and mark: ticks, whose value is the number of such events since the previous sample.

    Parameters
    ----------
    samples : pandas.DataFrame
        The run's samples: flow, flow_cca, time_s, cwnd_packets, ssthresh_packets, rtt_ms, retransmits.
    queue : pandas.DataFrame
        The run's queue: time_s, packets, drops, delay_ms, and marks if the queue marks packets.
    phases : pandas.DataFrame
        `PHASES` of the run.
    """
    parts = []
    for (flow, cca), rows in samples.groupby(["flow", "flow_cca"], sort=False, observed=True):
        names = {"flow": flow, "flow_cca": str(cca)}
        for series, column in (("cwnd", "cwnd_packets"), ("ssthresh", "ssthresh_packets"), ("rtt", "rtt_ms")):
            parts.append(_line(rows, column).assign(series=series, **names))
        parts.append(_marks(rows, "retransmits").assign(series="retransmission", **names))
    parts.append(phases.rename(columns={"begin_s": "time_s", "phase": "value_text"}).assign(series="phase"))
    known = queue["delay_ms"].notna().any()
    name, column = ("queue_delay", "delay_ms") if known else ("queue_packets", "packets")
    parts += [_line(queue, column).assign(series=name), _marks(queue, "drops").assign(series="drop")]
    if "marks" in queue:  # a queue that marks packets
        parts.append(_marks(queue, "marks").assign(series="mark"))
    rows = [row for part in parts for row in part.reindex(columns=COLUMNS).itertuples(index=False, name=None)]
    numbers = dict.fromkeys(("flow", "time_s", "end_s", "value"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers).astype({"flow": "Int64"})


def with_changes(data, moments) -> pd.DataFrame:
    """Return a table from `run_data` with additional rows of the series ``change``, one row for each of `moments`.

    `moments` are pairs (time in s, description).
    """
    rows = pd.DataFrame(moments, columns=["time_s", "value_text"]).assign(series="change").reindex(columns=COLUMNS)
    return pd.concat([data, rows.astype(data.dtypes)], ignore_index=True) if len(data) and len(rows) else data


def _line(rows, column):
    if rows[column].isna().all():
        rows = rows[:0]
    chosen = thinned(rows["time_s"], rows[column], LINE_COLUMNS)
    return pd.DataFrame({"time_s": rows["time_s"].to_numpy()[chosen], "value": rows[column].to_numpy(float)[chosen]})


def _marks(rows, column):
    """Return the increases in a counter, with the columns time_s (time of a sample) and value (increase since the previous sample).

    The counter starts at 0. Samples without an increase are left out.
    """
    steps = np.diff(np.nan_to_num(rows[column].to_numpy(float)), prepend=0.0)
    return pd.DataFrame({"time_s": rows["time_s"].to_numpy(float), "value": steps})[steps > 0]


def thinned(time, values, columns) -> np.ndarray:
    """Return the indices, in ascending order, of samples that suffice to draw a line without a visible difference.

    Time is divided into columns. The first, last, lowest and highest sample of each column are kept. Of consecutive equal values, only the
    first and the last are kept.

    Parameters
    ----------
    time : array_like of float, shape (n,)
        Ascending.
    values : array_like of float, shape (n,)
        A missing value breaks the line; of consecutive missing values, only the first is kept.
    columns : int
        Number of columns. Two columns per point of the figure's width are as fine as the eye can see.
    """
    time, values = np.asarray(time, float), np.asarray(values, float)
    if len(time) == 0:
        return np.empty(0, int)
    span = time[-1] - time[0] or 1.0
    column = np.minimum((columns * (time - time[0]) / span).astype(int), columns - 1)
    missing = np.isnan(values)
    # Ends of columns, and ends of gaps.
    edge = (column[1:] != column[:-1]) | (missing[1:] != missing[:-1])
    kept = np.r_[True, edge] | np.r_[edge, True]
    known = pd.Series(values[~missing], np.flatnonzero(~missing)).groupby(column[~missing])
    kept[[*known.idxmin(), *known.idxmax()]] = True
    chosen = np.flatnonzero(kept)
    shown, gap = values[chosen], missing[chosen]
    same = (shown[1:] == shown[:-1]) | (gap[1:] & gap[:-1])
    after_same, before_same = np.r_[False, same], np.r_[same, False]
    return chosen[~(after_same & (before_same | gap))]
