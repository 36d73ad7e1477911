"""What a figure of a run over time shows, as a table: which run it is, lines that are thinned, spells and marks."""

import numpy as np
import pandas as pd

#: Columns of lines: two for each point of a panel's width.
LINE_COLUMNS = 372
#: Columns of the figure's data.
COLUMNS = ["flow", "flow_cca", "series", "time_s", "end_s", "value", "value_text"]


def cell_runs(runs, scenario, cca, ip_version) -> pd.DataFrame:
    """Return the rows of ``tidy/runs.csv`` of a cell."""
    return runs[(runs["scenario"] == scenario) & (runs["cca"] == cca) & (runs["ip_version"] == ip_version)]


def first_valid(cell) -> int:
    """Return the replication that is drawn: the first valid one of a cell's runs, the first if none is valid."""
    valid = cell[cell["valid"]]
    return int((valid if len(valid) else cell)["replication"].min())


def run_data(samples, queue, phases) -> pd.DataFrame:
    """Collect what the figure of a run shows.

    Returns `COLUMNS`; series is cwnd, ssthresh (packets), rtt (ms), queue_delay (ms; queue_packets where the rate isn't
    known): lines; phase: a spell, with its name as value_text; retransmission, drop, mark: a tick, with their number
    since the sample before.

    Parameters
    ----------
    samples : pandas.DataFrame
        Of the run: flow, flow_cca, time_s, cwnd_packets, ssthresh_packets, rtt_ms, retransmits.
    queue : pandas.DataFrame
        Of the run: time_s, packets, drops, delay_ms; marks, if its queue has any.
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
    if "marks" in queue:  # of a queue that marks
        parts.append(_marks(queue, "marks").assign(series="mark"))
    rows = [row for part in parts for row in part.reindex(columns=COLUMNS).itertuples(index=False, name=None)]
    numbers = dict.fromkeys(("flow", "time_s", "end_s", "value"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers).astype({"flow": "Int64"})


def with_changes(data, moments) -> pd.DataFrame:
    """Return what `run_data` does with a row of the series ``change`` for each of some moments: its time in s, its words as value_text."""
    rows = pd.DataFrame(moments, columns=["time_s", "value_text"]).assign(series="change").reindex(columns=COLUMNS)
    return pd.concat([data, rows.astype(data.dtypes)], ignore_index=True) if len(data) and len(rows) else data


def _line(rows, column):
    if rows[column].isna().all():
        rows = rows[:0]
    chosen = thinned(rows["time_s"], rows[column], LINE_COLUMNS)
    return pd.DataFrame({"time_s": rows["time_s"].to_numpy()[chosen], "value": rows[column].to_numpy(float)[chosen]})


def _marks(rows, column):
    """Return the samples in which a counter is higher than in the one before, and by how much; it begins at 0."""
    steps = np.diff(np.nan_to_num(rows[column].to_numpy(float)), prepend=0.0)
    return pd.DataFrame({"time_s": rows["time_s"].to_numpy(float), "value": steps})[steps > 0]


def thinned(time, values, columns) -> np.ndarray:
    """Return which samples of a line are to be drawn so that it looks the same.

    The time is cut into columns; the first, the last, the lowest and the highest sample of each stay, and the first
    and the last of equal values in a row.

    Returns their positions, ascending.

    Parameters
    ----------
    time : array_like of float, shape (n,)
        Ascending.
    values : array_like of float, shape (n,)
        Where one is missing the line is broken: of missing ones in a row the first stays.
    columns : int
        Two for each point of the figure's width are as fine as one sees.
    """
    time, values = np.asarray(time, float), np.asarray(values, float)
    if len(time) == 0:
        return np.empty(0, int)
    span = time[-1] - time[0] or 1.0
    column = np.minimum((columns * (time - time[0]) / span).astype(int), columns - 1)
    missing = np.isnan(values)
    # The ends of columns and of gaps.
    edge = (column[1:] != column[:-1]) | (missing[1:] != missing[:-1])
    kept = np.r_[True, edge] | np.r_[edge, True]
    known = pd.Series(values[~missing], np.flatnonzero(~missing)).groupby(column[~missing])
    kept[[*known.idxmin(), *known.idxmax()]] = True
    chosen = np.flatnonzero(kept)
    shown, gap = values[chosen], missing[chosen]
    same = (shown[1:] == shown[:-1]) | (gap[1:] & gap[:-1])
    after_same, before_same = np.r_[False, same], np.r_[same, False]
    return chosen[~(after_same & (before_same | gap))]
