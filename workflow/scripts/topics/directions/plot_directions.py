"""Plot transfers in both directions over time, like flent's RRUL plot: one panel each for download, upload and round-trip time."""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import KEY_COLUMNS, KEY_LINE_PT, panel_key
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import Grid, PanelFigure, panel_title
from figure_parts.tooltips import tell_line
from run_tables.run_keys import RUN
from wording.number_format import number, tick
from wording.sentence_words import cca_name

TITLE = "Both directions, over time"
WIDTH_PT, HEIGHT_PT, COLUMNS = 260, 160, 3
LEFT_PT, RIGHT_PT, TITLE_PT, AXIS_PT = 46, 8, 34, 26
#: Series -> title of its panel, and its unit.
KINDS = {
    "forward": ("download", "all flows together, Mbit/s"),
    "reverse": ("upload", "all flows together, Mbit/s"),
    "rtt": ("round-trip time", "smoothed, mean of all flows, ms"),
}
#: Unit of the round-trip times in scenarios in which some flows report none, such as those of programs over UDP without a log.
SOME_RTTS = "smoothed, mean of the flows that report it, ms"
COLUMNS_OF_DATA = ["scenario", "cca", "series", "time_s", "value", "n"]


def lines_of(runs, flows, intervals) -> pd.DataFrame:
    """Return the lines as a table: scenario, cca, series (a key of `KINDS`), time_s, value and n (number of averaged runs)."""
    reverse = flows.loc[flows["direction"] == "reverse", "scenario"].unique()
    valid = runs.loc[runs["valid"] & runs["scenario"].isin(reverse), list(RUN)]
    keys = [*RUN, "flow"]
    named = intervals.merge(valid, on=list(RUN)).merge(
        flows[[*keys, "direction", "start_offset_ms"]], on=keys, validate="many_to_one"
    )
    # All flows begin within one round trip, so the midpoints of their report intervals are rounded to the scenario's common times.
    begin_s = named["start_offset_ms"] / 1e3 + named["start_s"]
    length_s, scenario = named["end_s"] - named["start_s"], named["scenario"]
    first_s, step_s = begin_s.groupby(scenario).transform("min"), length_s.groupby(scenario).transform("median")
    place = (begin_s + length_s / 2 - first_s) // step_s
    named = named.assign(time_s=first_s + (place + 0.5) * step_s, length_s=length_s, mbit=named["sent_mbps"] * length_s)
    # A short last interval may have the same time as the flow's interval before it.
    of_flow = named.groupby([*keys, "direction", "time_s"], sort=False)
    of_flow = of_flow.agg({"mbit": "sum", "length_s": "sum", "rtt_ms": "mean"}).reset_index()
    of_flow["value"] = of_flow["mbit"] / of_flow["length_s"]
    sent = of_flow.groupby([*RUN, "direction", "time_s"], sort=False)["value"].sum().reset_index()
    sent = sent.rename(columns={"direction": "series"})
    rtt = of_flow.groupby([*RUN, "time_s"], sort=False)["rtt_ms"].mean().reset_index()
    rtt = rtt.rename(columns={"rtt_ms": "value"}).assign(series="rtt")
    both = pd.concat([sent, rtt], ignore_index=True)
    # Some protocols have no round-trip times.
    both = both.dropna(subset="value")
    lines = both.groupby(["scenario", "cca", "series", "time_s"], sort=False)["value"].agg(value="mean", n="count")
    return lines.reset_index().sort_values("time_s", kind="stable")[COLUMNS_OF_DATA]


def without_some_rtts(intervals) -> set[str]:
    """Return the scenarios in which some flows, but not all, report round-trip times."""
    known = intervals.groupby([*RUN, "flow"], sort=False)["rtt_ms"].count().gt(0).groupby("scenario")
    return set(known.any().index[known.any() & ~known.all()])


def plot_directions(runs, scenarios, flows, intervals) -> Drawing:
    """Return the figure and its data.

    Series without data have no panel, such as the RTT if no flow reports one. ``intervals`` is the path of ``tidy/intervals.parquet``. The
    other parameters are tidy tables.
    """
    table = pd.read_parquet(intervals)
    data, partly = lines_of(runs, flows, table), without_some_rtts(table)
    labels = dict(zip(scenarios["scenario"], scenarios["label"], strict=True))
    ccas = [cca for cca in dict.fromkeys(runs["cca"]) if cca in set(data["cca"])]
    apply_style()
    key = [Line2D([], [], color=cca_colour(cca), lw=1.6, label=cca_name(cca)) for cca in ccas]
    key_pt = KEY_LINE_PT * -(-len(key) // KEY_COLUMNS)
    drawn_series = set(zip(data["scenario"], data["series"], strict=True))
    shown = [(scenario, kind) for scenario in labels for kind in KINDS if (scenario, kind) in drawn_series]
    grid = Grid(len(shown), COLUMNS, WIDTH_PT, HEIGHT_PT + key_pt)
    drawn = PanelFigure(TITLE, grid, (LEFT_PT, RIGHT_PT, TITLE_PT + key_pt, AXIS_PT), [])
    for scenario, kind in shown:
        own, (name, unit) = data[data["scenario"] == scenario], KINDS[kind]
        unit = SOME_RTTS if kind == "rtt" and scenario in partly else unit
        axes, lines = drawn.next_axes(), own[own["series"] == kind]
        # Both directions use the same scale, so that they can be compared.
        scaled = lines if kind == "rtt" else own[own["series"] != "rtt"]
        words = _panel(axes, lines, ccas, float(scaled["value"].max() or 1.0), kind)
        panel_key(axes, key, LEFT_PT)
        panel_title(axes, f"{labels[scenario]}: {name}", unit, LEFT_PT, key_pt, RIGHT_PT)
        drawn.finish(axes, f"{labels[scenario]}, {name}, {unit}. {words}")
    return drawn.drawing(TITLE, data, digits=6)


def _panel(axes, lines, ccas, most, kind):
    """Draw the lines of one series of a scenario on an axis up to ``most``; return a description of the lines in words."""
    scale, end = linear_axis(0.0, most), float(lines["time_s"].max())
    ticks = [value for value in scale.ticks if 0 <= value <= scale.high]
    seconds = [value for value in linear_axis(0.0, end).ticks if 0 <= value <= end]
    axes.set_ylim(0, scale.high)
    axes.set_xlim(0, end)
    axes.set_yticks(ticks, [tick(value) for value in ticks])
    axes.set_xticks(seconds, [tick(value) for value in seconds])
    axes.tick_params(axis="both", length=2.5, pad=2, labelsize=SMALL_SIZE_PT)
    axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.hlines(ticks, 0, end, color=LIGHT.line, lw=0.6, zorder=0.5)
    words, unit = [], "ms" if kind == "rtt" else "Mbit/s"
    for cca in ccas:
        line = lines[lines["cca"] == cca]
        if line.empty:
            continue
        (drawn,) = axes.plot(line["time_s"], line["value"], color=cca_colour(cca), lw=1.2, zorder=3)
        tell_line(drawn, f"{cca_name(cca)}, {KINDS[kind][0]}", "s", unit)
        words.append(f"{cca_name(cca)}: mean {number(line['value'].mean())} {unit}")
    return "; ".join(words) + "."
