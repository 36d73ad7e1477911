"""Plot a cell's first valid run over time: congestion windows, phases, round-trip times, and the bottleneck's queue."""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.change_marks import change_key, change_list, draw_changes
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import Grid, header, panel_title, size_pt, unclipped
from figure_parts.tooltips import tell_line
from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs
from topics.path_changes.phases import marks_of, moments_of
from topics.time_series.phases import ALL_PHASES, UNTOLD
from topics.time_series.window_data import cell_runs, first_valid, run_data, with_changes
from wording.number_format import count, number, plain, tick
from wording.scenario_words import heading

SAMPLES = ["flow", "flow_cca", "time_s", "cwnd_packets", "ssthresh_packets", "rtt_ms", "retransmits"]
QUEUE = ["time_s", "packets", "drops", "delay_ms", "marks"]
WIDTH_PT, COLUMNS = 260, 2
LEFT_PT, RIGHT_PT, TITLE_PT, AXIS_PT = 66, 8, 32, 28
PLOT_PT, ROW_PT = 104, 11
DOTS = (0, (1, 1.4))
#: Shorter names for phases whose full name is too long for a row below a flow's congestion window.
ROW_NAMES = {"congestion avoidance": "avoidance", "loss recovery": "after timeout"}
#: Last row below a flow's congestion window: for TCP flows, and for a program's flows over UDP.
RETRANSMITTED, DECLARED_LOST = "retransmitted", "declared lost"
# Colours and dash patterns that the flows use in turn: lines differ both in colour and in dashes.
_LONG, _SHORT = (0, (5, 1.5)), (0, (1.5, 1))
STYLES = (
    ("own", "-"), ("ink", _LONG), ("muted", "-"), ("own", _LONG), ("ink", _SHORT), ("muted", _LONG), ("own", _SHORT), ("muted", _SHORT),
)  # fmt: skip
LINE_PT = 1.0


def _draw_windows(data, title, source, phases, programs=()):
    """Draw a table from `run_data`; return the figure and its panels.

    `source` names the replication and the sampling interval. Below each flow's congestion window there is one row for each item of
    `phases`, from top to bottom. Flows whose CCA is in `programs` are flows of declared programs over UDP.
    """
    apply_style()
    flows = list(dict.fromkeys((int(row.flow), row.flow_cca) for row in data[data["series"] == "cwnd"].itertuples()))
    rows = [*phases, RETRANSMITTED]
    kinds = ["flow"] * len(flows) + ["all"] * (len(flows) > 1) + ["rtt", "queue"]
    grid = Grid(len(kinds), COLUMNS, WIDTH_PT, TITLE_PT + PLOT_PT + ROW_PT * len(rows) + AXIS_PT)
    figure = grid.figure()
    lost = f", {DECLARED_LOST}," if {cca for _, cca in flows} & {*programs} else ""
    key = [
        Line2D([], [], color=LIGHT.ink, lw=LINE_PT, label="cwnd"),
        Line2D([], [], color=LIGHT.ink, lw=LINE_PT, ls=DOTS, label="ssthresh"),
        Line2D([], [], ls="none", marker="|", ms=5, color=LIGHT.ink, label=f"segments retransmitted{lost} or dropped"),
    ]
    changes = data[data["series"] == "change"]
    moments = list(changes[["time_s", "value_text"]].itertuples(index=False, name=None))
    header(figure, title, key + ([change_key()] if moments else []))
    # If a run has no time series, its axes stay empty.
    end = (float(data[["time_s", "end_s"]].max().max()) if len(data) else 0.0) or 1.0
    panels = []
    for position, kind in enumerate(kinds):
        axes = grid.axes(figure, position, LEFT_PT, RIGHT_PT, TITLE_PT, AXIS_PT)
        if kind == "flow":
            flow, cca = flows[position]
            of_flow = [*phases, DECLARED_LOST if cca in programs else RETRANSMITTED]
            words = _flow_panel(axes, data[data["flow"] == flow], flow, cca, of_flow, end)
        elif kind == "queue":
            words = _queue_panel(axes, data[data["flow"].isna()], end)
        else:
            words = _lines_panel(axes, data, kind, flows, end, source)
        if moments:
            draw_changes(axes, moments)
            words += f" Changes: {change_list(moments)}."
        unclipped(axes)
        panels.append(grid.panel(position, words))
    return figure, panels


def _flow_style(position, cca):
    """Return the colour and the dash pattern of the flow at `position` (from 0) of a run."""
    name, dashes = STYLES[position % len(STYLES)]
    return (cca_colour(cca) if name == "own" else getattr(LIGHT, name)), dashes


def _flow_panel(axes, data, flow, cca, rows, end):
    _frame(axes, data[data["series"].isin(["cwnd", "ssthresh"])]["value"], end, rows)
    _line(axes, data[data["series"] == "ssthresh"], LIGHT.ink, DOTS, "ssthresh", "packets")
    _line(axes, data[data["series"] == "cwnd"], cca_colour(cca), "-", "cwnd", "packets")
    spells = data[data["series"] == "phase"]
    for row, phase in enumerate(rows[:-1]):
        of_phase = spells[spells["value_text"] == phase]
        places = [_row_y(axes, row)] * len(of_phase)
        axes.hlines(places, of_phase["time_s"], of_phase["end_s"], color=cca_colour(cca), lw=5, zorder=2)
    again = data[data["series"] == "retransmission"]
    _ticks(axes, again["time_s"], len(rows) - 1)
    lost = int(again["value"].sum())
    # A QUIC stack's retransmissions are encrypted, but its log lists the packets that it declared lost.
    cwnd = data.loc[data["series"] == "cwnd", "value"]
    segments = f"{count(lost, 'packet' if rows[-1] == DECLARED_LOST else 'segment')} {rows[-1]}"
    name = f"Flow {flow + 1}, {cca}"
    panel_title(axes, name, f"cwnd, packets; {segments}", LEFT_PT, right=RIGHT_PT)
    times = ", ".join(f"{phase} {(spells['value_text'] == phase).sum()} times" for phase in rows[:-1])
    return (
        f"{name}: cwnd between {number(cwnd.min(), 0)} and {number(cwnd.max(), 0)} packets over time, ssthresh, "
        f"and {segments}. Phases: {times}."
    )


def _lines_panel(axes, data, kind, flows, end, source):
    series, name, second = {
        "all": ("cwnd", "All flows", "cwnd, packets"),
        "rtt": ("rtt", "Round-trip time", f"smoothed, ms; {source}"),
    }[kind]
    shown = data[data["series"] == series]
    # Room for the key above the lines.
    _frame(axes, shown["value"], end, [], room=1.16)
    panel_title(axes, name, second, LEFT_PT, right=RIGHT_PT)
    if shown["value"].isna().all():
        axes.text(end / 2, sum(axes.get_ylim()) / 2, "not known", size=SMALL_SIZE_PT, style="italic", color=LIGHT.muted, ha="center")  # fmt: skip
        return f"{name}, {second}: not known."
    handles = []
    for position, (flow, cca) in enumerate(flows):
        colour, dashes = _flow_style(position, cca)
        _line(
            axes,
            shown[shown["flow"] == flow],
            colour,
            dashes,
            f"flow {flow + 1}, {cca}",
            second.split(", ")[1].split(";")[0],
        )
        handles.append(Line2D([], [], color=colour, ls=dashes, lw=1.6, label=f"flow {flow + 1}"))
    axes.legend(
        handles=handles, loc="upper right", ncols=min(4, len(flows)), frameon=False, fontsize=SMALL_SIZE_PT,
        borderpad=0, borderaxespad=0.2, handlelength=1.6, handletextpad=0.4, columnspacing=1.0, labelcolor=LIGHT.muted,
    )  # fmt: skip
    highest, lowest = number(shown["value"].max()), number(shown["value"].min())
    return f"{name}, {second}, of {count(len(flows), 'flow')} over time: between {lowest} and {highest}."


def _queue_panel(axes, data, end):
    delay, drops = data[data["series"] == "queue_delay"], data[data["series"] == "drop"]
    packets = delay.empty
    shown = data[data["series"] == "queue_packets"] if packets else delay
    marks = data[data["series"] == "mark"]
    _frame(axes, shown["value"], end, ["dropped"] if marks.empty else ["dropped", "marked CE"])
    _line(axes, shown, LIGHT.ink, "-", "waiting", "packets" if packets else "ms")
    _ticks(axes, drops["time_s"], 0)
    lost, unit = f"{count(int(drops['value'].sum()), 'packet')} dropped", "packets" if packets else "ms"
    if len(marks):
        _ticks(axes, marks["time_s"], 1)
        lost += f", {int(marks['value'].sum()):,} marked CE"
    panel_title(axes, "Queue of the bottleneck", f"waiting, {unit}; {lost}", LEFT_PT, right=RIGHT_PT)
    return f"Queue of the bottleneck over time: up to {number(shown['value'].max())} {unit}, {lost}."


def _frame(axes, values, end, rows, room=1.0):
    """Set up the axes: a scale for the values, enlarged by the factor `room`, and below it one row for each name in `rows`."""
    highest = float(values.max()) if values.notna().any() else 1.0
    scale = linear_axis(0.0, highest or 1.0)
    top = scale.high * room
    _, height = size_pt(axes)
    below = (len(rows) * ROW_PT + (3 if rows else 0)) / height
    axes.set_ylim(-top * below / (1 - below), top)
    axes.set_xlim(0, end)
    ticks = [value for value in scale.ticks if 0 <= value <= scale.high]
    axes.set_yticks(
        [*ticks, *(_row_y(axes, row) for row in range(len(rows)))],
        [*(tick(value) for value in ticks), *(ROW_NAMES.get(name, name) for name in rows)],
    )
    axes.tick_params(axis="y", length=0, pad=4, labelsize=SMALL_SIZE_PT)
    seconds = [value for value in linear_axis(0.0, end).ticks if 0 <= value <= end]
    axes.set_xticks(seconds, [tick(value) for value in seconds])
    axes.tick_params(axis="x", length=2.5, pad=2)
    axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.hlines(ticks, 0, end, color=LIGHT.line, lw=0.6, zorder=0.5)
    axes.vlines(seconds, *axes.get_ylim(), color=LIGHT.line, lw=0.6, zorder=0.5)


def _row_y(axes, row):
    low, high = axes.get_ylim()
    _, height = size_pt(axes)
    return -(high - low) * (3 + (row + 0.5) * ROW_PT) / height


def _line(axes, data, colour, dashes, name, unit):
    look = {"color": colour, "ls": dashes, "lw": LINE_PT, "zorder": 3, "solid_joinstyle": "round"}
    (line,) = axes.plot(data["time_s"], data["value"], **look)
    tell_line(line, name, "s", unit)


def _ticks(axes, times, row):
    axes.plot(times, [_row_y(axes, row)] * len(times), ls="none", marker="|", ms=6, mew=0.8, color=LIGHT.ink, zorder=3)


def _run_series(path, columns, run):
    """Return the rows of a time-series file that belong to a run."""
    series = (rows for _, rows in series_of_runs(path, columns, wanted={run}))
    return next(series, pd.DataFrame(columns=columns, dtype=float))


def plot_windows(
    runs, scenarios, phases, sockets, queue, scenario, cca_shown, ip_shown, programs, changes=None
) -> Drawing:
    """Return the figure and its data; ``programs`` are the names under which the study's programs over UDP appear in tables."""
    cell = scenario, cca_shown, ip_shown
    replication = first_valid(cell_runs(runs, *cell))
    run = (*cell, replication or 0)  # 0 is no run's replication
    phases = phases[(phases[RUN] == list(run)).all(axis=1)]
    data = run_data(_run_series(sockets, SAMPLES, run), _run_series(queue, QUEUE, run), phases)
    if changes is not None:
        own = changes[(changes[RUN] == list(run)).all(axis=1)].to_dict("records")
        data = with_changes(data, marks_of(moments_of(own)))
    rows = [name for name in ALL_PHASES if name != UNTOLD and (phases["phase"] == name).any()]
    scenario = scenarios[scenarios["scenario"] == scenario].iloc[0]
    shown = f"replication {replication}" if replication else "no valid run"
    title = f"{cca_shown} in {heading(scenario)}, {shown}"
    every = f", every {plain(scenario['sample_interval_ms'])} ms" if len(data) else ", which has no time series"
    source = f"{shown}{every}" if replication else shown
    figure, panels = _draw_windows(data, title, source, rows, programs)
    return Drawing(figure, panels, title, data, digits=6)
