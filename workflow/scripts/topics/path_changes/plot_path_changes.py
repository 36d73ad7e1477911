"""Plot changing paths over time: goodput and capacity, queueing delay, and the minimum RTT that the CCAs assume."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import KEY_COLUMNS, KEY_LINE_PT, panel_key
from figure_parts.change_marks import change_key, change_list, draw_changes
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import Grid, PanelFigure, panel_title
from figure_parts.tooltips import tell_line
from run_tables.run_keys import CELL, RUN
from run_tables.series_of_runs import series_of_runs
from topics.path_changes.phases import phases_of, specification_of
from topics.path_changes.responses import LEAST_RTT, QUEUE_COLUMNS, SOCKET_COLUMNS, delivered_bytes, of_forward_flows
from wording.number_format import number, tick
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

#: Number of points per line. Goodput is averaged between successive points.
POINTS = 150
DASHES = (0, (3, 2))
#: Style of the lines by IP version, which differs from that of the path's dashed and dotted lines.
LINES = {"ipv4": "-", "ipv6": (0, (6, 1.5, 1, 1.5))}
WIDTH_PT, HEIGHT_PT, COLUMNS = 260, 172, 2
LEFT_PT, RIGHT_PT, TITLE_PT, AXIS_PT = 52, 8, 34, 26
KINDS = {
    "goodput": ("goodput", "Mbit/s; dashed: full path"),
    "queueing": ("queueing delay", "at the bottleneck, ms"),
    "least_rtt": ("smallest RTT assumed", "ms; dashed: RTT of the empty path"),
}
COLUMNS_OF_DATA = ["scenario", "cca", "ip_version", "replication", "series", "time_s", "value"]


def lines_of(phases, samples, queue) -> pd.DataFrame:
    """Return a run's lines, as a table with the columns series, time_s and value.

    ``series`` is a key of `KINDS`; the suffix `_possible` marks the value that the path allows.
    """
    edges = np.linspace(0.0, phases[-1].end_s, POINTS + 1)
    run = phases[0].run
    times, delivered = delivered_bytes(samples, run.segment_bytes)
    middles, parts = (edges[1:] + edges[:-1]) / 2, []
    goodput = 8e-6 * np.diff(np.interp(edges, times, delivered)) / np.diff(edges)
    parts.append(("goodput", middles, goodput))
    place = np.digitize(queue["time_s"], edges) - 1
    within = queue[(place >= 0) & (place < POINTS)].groupby(place[(place >= 0) & (place < POINTS)])["delay_ms"].max()
    parts.append(("queueing", middles[within.index.to_numpy(int)], within.to_numpy(float)))
    for cca, column in LEAST_RTT.items():
        own = samples[(samples["flow_cca"] == cca) & samples[column].notna()]
        if len(own) and len({phase.rtt_path_ms for phase in phases}) > 1:
            least = own.groupby("time_s")[column].min()
            parts.append(("least_rtt", least.index.to_numpy(float), least.to_numpy(float)))
    if not run.capacity.is_unlimited():
        share = run.payload_bytes / run.packet_bytes
        steps = [(at_ns / 1e9, rate * share) for at_ns, rate in run.capacity.rates() if at_ns / 1e9 < phases[-1].end_s]
        parts.append(("goodput_possible", *_stairs(steps, phases[-1].end_s)))
    parts.append(("least_rtt_possible", *_stairs([(p.begin_s, p.rtt_path_ms) for p in phases], phases[-1].end_s)))
    lines = [pd.DataFrame({"series": name, "time_s": at, "value": value}) for name, at, value in parts]
    return pd.concat(lines, ignore_index=True)


def _stairs(steps, end_s):
    """Return the coordinates of a step line, which keeps each value until the next one."""
    times = [at for at, _ in steps for _ in range(2)][1:] + [end_s]
    return np.array(times), np.array([value for _, value in steps for _ in range(2)])


def figure_data(runs, flows, changing, sockets, queues) -> tuple[pd.DataFrame, dict]:
    """Return the lines for the first valid run of each cell, and the changes to each scenario's path.

    The changes are a dict: scenario -> list of (time in s, description).
    """
    valid = runs[runs["valid"] & runs["scenario"].isin(changing)]
    shown = {
        tuple(run[name] for name in RUN): run for run in valid.groupby(CELL, sort=False).head(1).to_dict("records")
    }
    wanted = {(*key[:3], int(key[3])) for key in shown}
    queue_of, parts, moments = dict(series_of_runs(queues, QUEUE_COLUMNS, wanted)), [], {}
    flows_of = dict(list(flows.groupby(RUN)))
    for key, samples in series_of_runs(sockets, SOCKET_COLUMNS, wanted):
        if key in wanted:
            run, samples = shown[key], of_forward_flows(samples, flows_of[key])
            phases = phases_of(specification_of(run, changing))
            moments[key[0]] = [(phase.begin_s, phase.change) for phase in phases if phase.begin_s > 0]
            parts.append(lines_of(phases, samples, queue_of[key]).assign(**dict(zip(RUN, key, strict=True))))
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS_OF_DATA))[
        COLUMNS_OF_DATA
    ], moments


def _draw(data, moments, labels):
    apply_style()
    panels = [
        (scenario, kind) for scenario in moments for kind in KINDS
        if (data[data["scenario"] == scenario]["series"] == kind).any()
    ]  # fmt: skip
    ccas, versions = list(dict.fromkeys(data["cca"])), list(data["ip_version"].unique())
    key = [Line2D([], [], color=cca_colour(cca), lw=1.6, label=cca_name(cca)) for cca in ccas]
    if len(versions) > 1:
        key += [Line2D([], [], color=LIGHT.muted, lw=1.1, ls=LINES[one], label=ip_words(one)) for one in versions]
    key_pt = KEY_LINE_PT * -(-len(key) // KEY_COLUMNS)
    grid = Grid(len(panels), COLUMNS, WIDTH_PT, HEIGHT_PT + key_pt)
    margins = LEFT_PT, RIGHT_PT, TITLE_PT + key_pt, AXIS_PT
    drawn = PanelFigure("Paths that change, over time", grid, margins, [change_key()])
    for scenario, kind in panels:
        axes = drawn.next_axes()
        own = data[data["scenario"] == scenario]
        words = _panel(axes, own, kind, moments[scenario], labels[scenario], key_pt, versions)
        panel_key(axes, key, LEFT_PT)
        drawn.finish(axes, words)
    return drawn


def _panel(axes, data, kind, moments, label, key_pt, versions):
    """Draw a scenario's lines of one kind; return a description of the lines in words."""
    name, unit = KINDS[kind]
    shown, possible = data[data["series"] == kind], data[data["series"] == f"{kind}_possible"]
    end = float(data["time_s"].max())
    scale = linear_axis(
        0.0, max(float(shown["value"].max()), float(possible["value"].max()) if len(possible) else 0.0) or 1.0
    )
    axes.set_ylim(0, scale.high)
    axes.set_xlim(0, end)
    ticks = [value for value in scale.ticks if 0 <= value <= scale.high]
    axes.set_yticks(ticks, [tick(value) for value in ticks])
    seconds = [value for value in linear_axis(0.0, end).ticks if 0 <= value <= end]
    axes.set_xticks(seconds, [tick(value) for value in seconds])
    axes.tick_params(axis="both", length=2.5, pad=2, labelsize=SMALL_SIZE_PT)
    axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.hlines(ticks, 0, end, color=LIGHT.line, lw=0.6, zorder=0.5)
    draw_changes(axes, moments)
    first = possible[possible["cca"] == possible["cca"].iloc[0]] if len(possible) else possible
    first = first[first["ip_version"] == first["ip_version"].iloc[0]] if len(first) else first
    axes.plot(first["time_s"], first["value"], color=LIGHT.ink, lw=0.9, ls=DASHES, zorder=2.5)
    words = []
    for (cca, ip_version), line in shown.groupby(["cca", "ip_version"], sort=False):
        whose = f"{cca_name(cca)} over {ip_words(ip_version)}" if len(versions) > 1 else cca_name(cca)
        look = {"color": cca_colour(cca), "ls": LINES[ip_version], "lw": 1.1, "zorder": 3, "solid_joinstyle": "round"}
        (drawn,) = axes.plot(line["time_s"], line["value"], **look)
        tell_line(drawn, f"{whose}, {name}", "s", "Mbit/s" if kind == "goodput" else "ms")
        words.append(f"{whose} between {number(line['value'].min())} and {number(line['value'].max())}")
    panel_title(axes, f"{label}: {name}", unit, LEFT_PT, key_pt, RIGHT_PT)
    return f"{label}, {name}, {unit}. Changes: {change_list(moments)}. {', '.join(words)}."


def plot_path_changes(scenarios, runs, flows, changing, sockets, queue) -> Drawing:
    """Return the figure and its data."""
    data, moments = figure_data(runs, flows, changing, sockets, queue)
    labels = dict(zip(scenarios["scenario"], scenarios["label"], strict=True))
    return _draw(data, moments, labels).drawing("Paths that change, over time", data, digits=6)
