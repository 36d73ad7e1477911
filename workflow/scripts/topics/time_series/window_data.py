"""What a figure of a run over time shows, as a table: lines that are thinned, spells and marks."""

import numpy as np
import pandas as pd

from topics.time_series.time_lines import grown, thinned

#: Columns of lines: two for each point of a panel's width.
LINE_COLUMNS = 372
#: Of the figure's data.
COLUMNS = ["flow", "flow_cca", "series", "time_s", "end_s", "value", "value_text"]


def run_data(samples, queue, phases, columns=LINE_COLUMNS) -> pd.DataFrame:
    """Collect what the figure of a run shows.

    Parameters
    ----------
    samples : pandas.DataFrame
        Of the run: flow, flow_cca, time_s, cwnd_packets, ssthresh_packets, rtt_ms, retransmits.
    queue : pandas.DataFrame
        Of the run: time_s, packets, drops, delay_ms.
    phases : pandas.DataFrame
        Of the run: flow, flow_cca, phase, begin_s, end_s.
    columns : int
        As for `thinned`.

    Returns
    -------
    pandas.DataFrame
        With `COLUMNS`; series is cwnd, ssthresh (packets), rtt (ms), queue_delay (ms; queue_packets where the rate isn't known):
        lines; phase: a spell, with its name as value_text; retransmission, drop: a mark, with their number since
        the sample before.
    """
    parts = []
    for (flow, cca), rows in samples.groupby(["flow", "flow_cca"], sort=False, observed=True):
        for series, column in (("cwnd", "cwnd_packets"), ("ssthresh", "ssthresh_packets"), ("rtt", "rtt_ms")):
            parts.append(_line(rows, column, columns, flow=flow, flow_cca=str(cca), series=series))
        parts.append(_marks(rows, "retransmits", flow=flow, flow_cca=str(cca), series="retransmission"))
    spells = phases.rename(columns={"begin_s": "time_s", "phase": "value_text"})
    parts.append(spells.assign(series="phase").reindex(columns=COLUMNS))
    known = queue["delay_ms"].notna().any()
    name, column = ("queue_delay", "delay_ms") if known else ("queue_packets", "packets")
    parts += [_line(queue, column, columns, series=name), _marks(queue, "drops", series="drop")]
    rows = [row for part in parts for row in part.reindex(columns=COLUMNS).itertuples(index=False, name=None)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.assign(**{name: table[name].astype(float) for name in ("flow", "time_s", "end_s", "value")}).astype(
        {"flow": "Int64"}
    )


def _line(rows, column, columns, **names):
    chosen = thinned(rows["time_s"], rows[column], columns)
    if not rows[column].notna().any():
        chosen = chosen[:0]
    return pd.DataFrame(
        {"time_s": rows["time_s"].to_numpy()[chosen], "value": rows[column].to_numpy(float)[chosen]}
    ).assign(**names)


def _marks(rows, column, **names):
    counter = np.nan_to_num(rows[column].to_numpy(float))
    steps = np.diff(counter, prepend=0.0)
    return pd.DataFrame({"time_s": grown(rows["time_s"], counter), "value": steps[steps > 0]}).assign(**names)
