"""Plot the examined CCA's first valid run in each case over time: queueing delay, and the flows' congestion windows or goodput.

If a program sends any of the flows, congestion windows aren't known for all flows, so goodput is plotted instead.
"""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import KEY_LINE_PT, panel_key, with_ip_version
from figure_parts.figure_style import LIGHT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import Grid, PanelFigure, lines_behind, panel_title, unit_below, value_axis
from figure_parts.tooltips import tell_line
from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs
from wording.number_format import number
from wording.sentence_words import cca_name

#: Number of points per line, and largest number of flows per panel; if a run has more flows, only the first ones are plotted.
POINTS, MOST_FLOWS = 100, 4
WIDTH_PT, HEIGHT_PT, COLUMNS, LEFT_PT, RIGHT_PT, TITLE_PT, AXIS_PT = 230, 130, 2, 40, 10, 30, 26
KINDS = {"cwnd": "cwnd, packets", "goodput": "goodput, Mbit/s", "queueing": "queueing delay, ms"}
DATA = ["scenario", "ip_version", "replication", "series", "flow", "flow_cca", "time_s", "value"]


def thinned(times, values, how) -> pd.DataFrame:
    """Return a line (time_s, value) with one point for each of `POINTS` intervals of equal duration.

    ``how`` says how the values in an interval are aggregated: ``mean`` or ``max``.
    """
    edges = np.linspace(times.min(), times.max() + 1e-9, POINTS + 1)
    parts = pd.Series(values.to_numpy(float)).groupby(np.digitize(times, edges)).agg(how).dropna()
    return pd.DataFrame({"time_s": (edges[parts.index - 1] + edges[parts.index]) / 2, "value": parts.to_numpy()})


def lines_of(sockets, queue) -> pd.DataFrame:
    """Return a run's lines as a table with the columns series (a key of `KINDS`), flow, flow_cca, time_s and value."""
    parts, has_program = [], not sockets.groupby("flow")["cwnd_packets"].any().all()
    for (flow, cca, _), rows in sockets.groupby(["flow", "flow_cca", sockets["path"].fillna(0)], observed=True):
        if flow < MOST_FLOWS and has_program and len(rows) > 1:
            rate = 8e-6 * rows["bytes_acked"].astype(float).diff() / rows["time_s"].diff()
            parts.append(thinned(rows["time_s"], rate, "mean").assign(series="goodput", flow=flow, flow_cca=str(cca)))
        elif flow < MOST_FLOWS and rows["cwnd_packets"].notna().any():
            line = thinned(rows["time_s"], rows["cwnd_packets"], "mean")
            parts.append(line.assign(series="cwnd", flow=flow, flow_cca=str(cca)))
    if len(queue) and queue["delay_ms"].notna().any():
        parts.append(thinned(queue["time_s"], queue["delay_ms"], "max").assign(series="queueing", flow=-1, flow_cca=""))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=DATA[3:])


def figure_data(runs, sockets, queues, cca) -> pd.DataFrame:
    """Return `DATA` for the first valid run of a CCA in each scenario; ``sockets`` and ``queues`` are files of time series."""
    first = runs[runs["valid"] & (runs["cca"] == cca)].groupby("scenario", sort=False).head(1)
    wanted = {(*key[:3], int(key[3])) for key in first[RUN].itertuples(index=False, name=None)}
    queue_of = dict(series_of_runs(queues, ["time_s", "delay_ms"], wanted))
    parts = [
        lines_of(samples, queue_of[key]).assign(scenario=key[0], ip_version=key[2], replication=key[3])
        for key, samples in series_of_runs(
            sockets, ["flow", "flow_cca", "path", "time_s", "cwnd_packets", "bytes_acked"], wanted
        )
        if key in wanted
    ]
    return pd.concat(parts, ignore_index=True)[DATA] if parts else pd.DataFrame(columns=DATA)


def _draw(data, scenarios, title, ip_versions):
    apply_style()
    shown = [
        (row, kind)
        for row in scenarios.to_dict("records")
        for kind in KINDS
        if ((data["scenario"] == row["scenario"]) & (data["series"] == kind)).any()
    ]
    grid = Grid(len(shown), COLUMNS, WIDTH_PT, HEIGHT_PT + KEY_LINE_PT)
    drawn = PanelFigure(title, grid, (LEFT_PT, RIGHT_PT, TITLE_PT + KEY_LINE_PT, AXIS_PT))
    for row, kind in shown:
        axes = drawn.next_axes()
        here = data[(data["scenario"] == row["scenario"]) & (data["series"] == kind)]
        x_axis, y_axis = (
            linear_axis(0.0, float(here["time_s"].max())),
            linear_axis(0.0, float(here["value"].max()) or 1.0),
        )
        value_axis(axes, "x", x_axis)
        value_axis(axes, "y", y_axis)
        lines_behind(axes, "y")
        unit_below(axes, x_axis, "s")
        for (flow, name), line in here.groupby(["flow", "flow_cca"], sort=False):
            colour = cca_colour(name) if name else LIGHT.muted
            (mark,) = axes.plot(line["time_s"], line["value"], lw=0.8, color=colour)
            whose = f"flow {flow + 1}, {name}" if name else "bottleneck"
            run = f"{row['scenario']}, replication {line['replication'].iloc[0]}"
            tell_line(mark, f"{run}: {whose}", "s", KINDS[kind].rpartition(", ")[2])
        what = with_ip_version(KINDS[kind], here["ip_version"].iloc[0], ip_versions)
        panel_title(axes, row["label"], what, LEFT_PT, KEY_LINE_PT)
        names = [name for name in dict.fromkeys(here["flow_cca"]) if name]
        panel_key(axes, [Line2D([], [], color=cca_colour(n), lw=1.2, label=cca_name(n)) for n in names], LEFT_PT)
        drawn.finish(axes, f"{row['label']}, {what}: up to {number(here['value'].max())}.")
    return drawn


def plot_cases(runs, sockets, queue, scenarios, cca) -> Drawing:
    """Return the figure and its data."""
    data = figure_data(runs, sockets, queue, cca)
    title = f"Every case of {cca_name(cca)} over time"
    return _draw(data, scenarios, title, runs["ip_version"].unique()).drawing(title, data, digits=5)
