"""Plot the goodput, congestion window and RTT of one run's flows over time."""

import math

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import DASHES, TITLE_PT, Grid, PanelFigure, lines_behind, panel_title, remark, size_pt
from figure_parts.tooltips import tell_line
from run_tables.series_of_runs import series_of_runs
from topics.fairness.flow_shares import numbered, two_sided_runs
from wording.number_format import rounded
from wording.scenario_words import conditions

# Column of the data -> title of the panel.
PANELS = {
    "goodput_mbps": "Goodput, Mbit/s, averaged over {bin_s:g} s",
    "cwnd_packets": "Congestion window, packets",
    "rtt_ms": "Smoothed RTT, ms",
}
PANEL_PT, PLOT_PT, LEFT_PT, RIGHT_PT, BELOW_PT = 260, 104, 34, 10, 28
# Maximum number of points per line; longer lines are thinned.
MOST_POINTS = 800
GOODPUT_BINS = 60
DATA = ["flow", "flow_cca", "time_s", *PANELS]


def middle_run(runs, scenario, mix) -> tuple | None:
    """Return the key `RUN` of the valid run in which the share of a mix's first position is the median; None if there are no valid runs.

    Only runs with the mix's first IP version are considered. If two runs are in the middle, the run with the lower share is chosen.
    ``runs`` come from `two_sided_runs`.
    """
    of_mix = runs[(runs["scenario"] == scenario) & (runs["cca"] == mix)]
    if of_mix.empty:
        return None
    of_version = of_mix[of_mix["ip_version"] == of_mix["ip_version"].iloc[0]]
    row = of_version.sort_values(["balance", "replication"], kind="stable").iloc[(len(of_version) - 1) // 2]
    return scenario, mix, row["ip_version"], int(row["replication"])


def goodput_over_time(rows, bin_s) -> tuple[np.ndarray, np.ndarray]:
    """Return the midpoint of each bin in s, and the goodput in each bin in Mbit/s (acknowledged bytes divided by the bin's length)."""
    known = rows[["time_s", "bytes_acked"]].dropna().to_numpy()
    if len(known) < 2:
        return np.empty(0), np.empty(0)
    edges = np.arange(math.floor(known[0, 0] / bin_s), math.floor(known[-1, 0] / bin_s) + 1) * bin_s
    acked = np.interp(edges, known[:, 0], known[:, 1])
    return (edges[1:] + edges[:-1]) / 2, np.diff(acked) * 8 / bin_s / 1e6


def thinned(time_s, values) -> tuple[np.ndarray, np.ndarray]:
    """Return a line with at most `MOST_POINTS` points.

    A longer line is divided into parts with equal numbers of points. The lowest and the highest point of each part are kept.
    """
    known = np.flatnonzero(~np.isnan(values))
    if len(known) > MOST_POINTS:
        parts = np.array_split(known, MOST_POINTS // 2)
        known = np.unique(
            [place for part in parts for place in (part[values[part].argmin()], part[values[part].argmax()])]
        )
    return time_s[known], values[known]


def _lines_of_run(rows, bin_s):
    """Return the points to draw, with the columns `DATA`; each row contains only one of the quantities."""
    parts = [pd.DataFrame(columns=DATA)]
    for (flow, cca), of_flow in rows.groupby(["flow", "flow_cca"], sort=True, observed=True):
        lines = {"goodput_mbps": goodput_over_time(of_flow, bin_s)}
        for name in ("cwnd_packets", "rtt_ms"):
            lines[name] = thinned(of_flow["time_s"].to_numpy(float), of_flow[name].to_numpy(float))
        parts += [
            pd.DataFrame({"flow": flow, "flow_cca": cca, "time_s": time_s.round(4), name: values})
            for name, (time_s, values) in lines.items()
        ]
    return pd.concat(parts[1:] or parts).reindex(columns=DATA)


def _draw(data, title, conditions, bin_s):
    """Return the figure with the lines of a run; goodput is averaged over bins of ``bin_s`` seconds."""
    apply_style()
    grid = Grid(len(PANELS), 1, PANEL_PT, TITLE_PT + PLOT_PT + BELOW_PT, 32)
    drawn = PanelFigure(title, grid, (LEFT_PT, RIGHT_PT, TITLE_PT, BELOW_PT))
    flows = list(data[["flow", "flow_cca"]].drop_duplicates().itertuples(index=False))
    ccas = [cca for _, cca in flows]
    # Solid, or dashed if an earlier flow uses the same CCA.
    styles = [DASHES if cca in ccas[:number] else "-" for number, cca in enumerate(ccas)]
    end = data["time_s"].max() if len(data) else 1.0
    for name, words in PANELS.items():
        axes = drawn.next_axes()
        words = words.format(bin_s=bin_s)
        panel_title(axes, words, "", LEFT_PT)
        _key(axes, flows, styles)
        axes.set_xlim(0, math.ceil(end))
        for (flow, cca), style in zip(flows, styles, strict=True):
            line = data[(data["flow"] == flow) & data[name].notna()]
            look = {"color": cca_colour(cca), "lw": 1.0, "ls": style, "zorder": 3 - 0.1 * flow}
            (mark,) = axes.plot(line["time_s"], line[name], **look)
            tell_line(mark, f"{cca}, flow {flow + 1}", "s", words.split(", ")[1])
        axes.set_ylim(0, max(1e-9, data[name].max()) * 1.05 if data[name].notna().any() else 1)
        _frame(axes)
        if not flows:
            remark(axes, axes.get_ylim()[1] / 2, "no valid run")
        drawn.finish(axes, _describe(data, name, words, conditions))
    return drawn


def _frame(axes):
    lines_behind(axes, "y")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.tick_params(axis="y", length=0, pad=3, labelsize=SMALL_SIZE_PT)
    axes.tick_params(axis="x", length=2.5, pad=2)
    axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")


def _key(axes, flows, styles):
    width, height = size_pt(axes)
    x = 5 - LEFT_PT
    for (flow, cca), style in list(zip(flows, styles, strict=True))[:4]:
        axes.plot(
            [x / width, (x + 16) / width], [1 + 9 / height] * 2, transform=axes.transAxes, color=cca_colour(cca),
            lw=1.4, ls=style,
        )  # fmt: skip
        text = f"{cca}, flow {flow + 1}"
        axes.text((x + 20) / width, 1 + 6 / height, text, transform=axes.transAxes, size=SMALL_SIZE_PT, color=LIGHT.ink)
        x += 34 + 0.58 * SMALL_SIZE_PT * len(text)


def _describe(data, name, words, conditions):
    means = "; ".join(
        f"flow {flow + 1} ({cca}) {rounded(of_flow[name].mean(), 3)} on average, up to {rounded(of_flow[name].max(), 3)}"
        for (flow, cca), of_flow in data[data[name].notna()].groupby(["flow", "flow_cca"], sort=True)
    )
    return f"{words} over time, {conditions}: {means or 'no valid run'}."


def plot_competition(scenarios, flow_shares, sockets, mix, scenario) -> Drawing:
    """Return the figure and its data."""
    scenarios = scenarios.set_index("scenario", drop=False)
    flow_shares = numbered(flow_shares)
    run = middle_run(two_sided_runs(flow_shares[flow_shares["cca"] == mix]), scenario, mix)
    columns = ["flow", "flow_cca", "time_s", "bytes_acked", "cwnd_packets", "rtt_ms"]
    series = dict(series_of_runs(sockets, columns, {run})) if run else {}
    bin_s = max(0.1, round(float(scenarios.loc[scenario, "duration_s"]) / GOODPUT_BINS, 1))
    data = _lines_of_run(series.get(run, pd.DataFrame(columns=columns)), bin_s)
    about = conditions(scenarios.loc[scenario])
    title = f"{mix}, replication {run[3]}" if run else f"{mix}: no valid run"
    drawn = _draw(data, title, f"{mix}, {about}", bin_s)
    words = f"{title}: goodput, congestion window and RTT over time, {about}"
    return drawn.drawing(words, data, digits=6)
