"""Plot pacing rates over time for two flows of a run: the flow with the highest goodput and the flow with the lowest."""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis, log_axis
from figure_parts.category_panels import CategoryPanels, draw_nothing, level, with_ip_version
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import value_axis
from figure_parts.tooltips import tell_line
from run_tables.run_keys import CELL, RUN
from topics.buffers.compared_flows import at_centre
from topics.buffers.flow_counts import flows_words
from topics.buffers.flow_panels import fair_share
from wording.number_format import number
from wording.scenario_series import buffers_of, platform_name, platforms_of
from wording.sentence_words import cca_name

# A panel is a few hundred points wide, so more samples than this wouldn't be visible.
MOST_SAMPLES = 600
HIGHEST, LOWEST = "highest goodput", "lowest goodput"
COLUMNS = [
    "scenario", "scenario_label", "platform", "buffer", "cca", "ip_version", "replication", "which", "flow",
    "goodput_mbps", "time_s", "pacing_mbps",
]  # fmt: skip


def _chosen_runs(runs, table, cca):
    """Return the run shown for each platform and IP version: the first valid run with the smallest buffer.

    The result is a list of (IP version, row of `table`, row of `runs`), in which the row of `runs` is None if no run is valid.
    """
    chosen = []
    for platform in platforms_of(table):
        scenarios = table[table["platform"] == platform]
        scenario = scenarios[scenarios["buffer"] == buffers_of(scenarios)["buffer"].iloc[0]].iloc[0]
        for ip_version in runs["ip_version"].unique():
            of_cell = (runs[CELL] == [scenario["scenario"], cca, ip_version]).all(axis=1)
            valid = runs[of_cell & runs["valid"]].sort_values("replication")
            chosen.append((ip_version, scenario, None if valid.empty else valid.iloc[0]))
    return chosen


def _chosen_series(chosen, flows, path):
    """Return a table with the columns `COLUMNS`: the pacing rates of two flows over time, for each run shown."""
    parts = []
    for _, scenario, run in chosen:
        if run is None:
            continue
        of_run = flows[(flows[RUN] == [run[key] for key in RUN]).all(axis=1)].sort_values("goodput_mbps", kind="stable")
        for which, flow in ((HIGHEST, of_run.iloc[-1]), (LOWEST, of_run.iloc[0])):
            filters = [(key, "==", run[key]) for key in RUN] + [("flow", "==", int(flow["flow"]))]
            samples = pd.read_parquet(path, columns=["time_s", "pacing_mbps"], filters=filters).sort_values("time_s")
            samples = samples[samples["time_s"] <= run["duration_s"]]
            samples = samples.iloc[:: -(-len(samples) // MOST_SAMPLES) or 1]
            about = {"scenario_label": scenario["label"], **scenario[["platform", "buffer"]], **run[RUN]}
            about |= {"which": which, "flow": int(flow["flow"]), "goodput_mbps": flow["goodput_mbps"]}
            parts.append(samples.assign(**about))
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def _draw(series, chosen, runs, cca):
    """Return the figure."""
    apply_style()
    drawn = CategoryPanels("Pacing rate of two flows, Mbit/s", len(chosen), key_entries=2)
    positive = series["pacing_mbps"][series["pacing_mbps"] > 0]
    axis = Axis("log", 0.01, 100, (0.01, 1, 100))
    if len(positive):
        axis = log_axis(min(positive.min(), 0.1), positive.max())
    ip_versions = list(runs["ip_version"].unique())
    for ip_version, scenario, run in chosen:
        name = with_ip_version(f"{cca_name(cca)}, {platform_name(scenario['platform'])}", ip_version, ip_versions)
        rates = series[(series["platform"] == scenario["platform"]) & (series["ip_version"] == ip_version)]
        replication = "" if run is None else f", replication {run['replication']}"
        axes = drawn.add(name, f"buffer {scenario['buffer']}{replication}", axis)
        duration_s = float(scenario["duration_s"])
        ticks = tuple(duration_s * part / 5 for part in range(6))
        value_axis(axes, "x", Axis("linear", 0, duration_s, ticks), spaced=True)
        axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        if rates["pacing_mbps"].notna().sum() == 0:
            draw_nothing(axes, duration_s / 2, "no valid run" if run is None else "not known")
        entries, words = _lines(axes, rates, cca_colour(cca))
        level(axes, fair_share(runs, [scenario["scenario"]]))
        drawn.finish(axes, f"Pacing rate over time in Mbit/s, {name}. {' '.join(words) or 'No data.'}", entries)
    return drawn


def _lines(axes, rates, colour):
    entries, words = [], []
    for which, ink, width, order in ((LOWEST, LIGHT.ink, 0.8, 2.5), (HIGHEST, colour, 1.0, 3)):
        flow = rates[(rates["which"] == which) & (rates["pacing_mbps"] > 0)]
        if flow.empty:
            continue
        # A rate applies until the next rate is set.
        look = {"color": ink, "lw": width, "drawstyle": "steps-post", "zorder": order}
        (line,) = axes.plot(flow["time_s"], flow["pacing_mbps"], **look)
        name = f"flow {flow['flow'].iloc[0] + 1}"
        tell_line(line, f"{name}, {which}", "s", "Mbit/s")
        entries.append(Line2D([], [], color=ink, lw=1.2, label=f"{which.split()[0]}: {name}"))
        middle = flow["pacing_mbps"].median()
        words.append(f"{name.capitalize()} ({which}, {number(flow['goodput_mbps'].iloc[0])}): median {number(middle)}.")
    return entries[::-1], words


def plot_pacing(runs, flows, scenarios, sockets, cca) -> Drawing:
    """Return the figure and its data."""
    runs, flows, table = at_centre(runs, flows, scenarios)
    chosen = _chosen_runs(runs, table, cca)
    series = _chosen_series(chosen, flows, sockets)
    drawn = _draw(series, chosen, runs, cca)
    title = f"Pacing rate over time of two of {flows_words(runs)}, {cca_name(cca)}"
    return drawn.drawing(title, series)
