"""Plot CPU use over time, with one line per number of paths: figures 5 and 6 of the paper."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.cca_slots import empty_panel
from figure_parts.figure_style import HUES, LIGHT, SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import value_axis
from figure_parts.tooltips import tell_line
from run_tables.run_keys import RUN
from topics.multipath.drawn_runs import first_runs, series_of
from topics.multipath.path_environments import with_conditions, with_paths
from wording.number_format import count, number
from wording.scenario_words import ip_words, rate_words
from wording.sentence_words import cca_name

#: Averaging interval. Individual readings, taken every 0.1 s in units of 0.01 s, are too coarse.
WINDOW_S = 0.5
COLUMNS = [
    *RUN, "environment", "joined", "by", "rate_mbps", "conditions", "paths", "baseline", "time_s", "busy_percent",
]  # fmt: skip


def shown_runs(runs, scenarios, cca) -> pd.DataFrame:
    """Return the runs to plot: the first valid iperf3 run of each cell.

    A cell is included if its paths are alike and its platform measures CPU time.
    """
    measured = (scenarios["application"] == "iperf3") & scenarios["even"] & (scenarios["platform"] == "host")
    return first_runs(runs, scenarios[measured], cca)


def _busy_over_time(samples):
    """Return the mean busy share of the cores, in %, in each interval of `WINDOW_S`; ``time_s`` is the end of the interval."""
    window = np.ceil(samples["time_s"] / WINDOW_S) * WINDOW_S
    return samples.groupby(window)["busy_percent"].mean().rename_axis("time_s").reset_index()


def busy_of(shown, path) -> pd.DataFrame:
    """Return the busy shares in all runs that are plotted, with the columns `COLUMNS`."""
    return series_of(shown, path, ["time_s", "busy_percent"], _busy_over_time, COLUMNS)


def draw_cpu_time(busy, cca) -> CategoryPanels:
    """Draw one panel per aggregation technique, rate, set of further conditions and IP version; each panel also shows plain TCP."""
    apply_style()
    joined, single = busy[busy["by"] != "none"], busy[busy["by"] == "none"]
    groups = list(joined.groupby(["joined", "rate_mbps", "conditions", "ip_version"], sort=False, dropna=False))
    most = max((group["paths"].nunique() for _, group in groups), default=0)
    drawn = CategoryPanels(
        f"Busy share of the cores over time with {cca_name(cca)}, %", len(groups), most + 1, columns=2
    )
    axis = linear_axis(0, max(10.0, busy["busy_percent"].max() if len(busy) else 10.0))
    for (name, rate_mbps, conditions, ip_version), group in groups:
        second = with_conditions(f"one run each, paths of {rate_words(rate_mbps)}", conditions)
        axes = drawn.add(f"{name} ({group['environment'].iloc[0]})", second, axis)
        value_axis(axes, "x", linear_axis(0, busy["time_s"].max()), spaced=True)
        axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        alike = single[single["scenario"].isin(group["baseline"]) & (single["ip_version"] == ip_version)]
        lines = [("TCP, 1 path", LIGHT.ink, alike)]
        lines += [
            (count(int(paths), "path"), getattr(LIGHT, hue), group[group["paths"] == paths])
            for paths, hue in zip(sorted(group["paths"].unique()), HUES, strict=False)
        ]
        entries, words = [], []
        for label, ink, line in lines:
            if line.empty:
                continue
            (drawn_line,) = axes.plot(line["time_s"], line["busy_percent"], color=ink, lw=1.1, zorder=3)
            tell_line(drawn_line, label, "s", "%")
            entries.append(Line2D([], [], color=ink, lw=1.3, label=label))
            words.append(f"{label}: mean {number(line['busy_percent'].mean(), 1)} %.")
        which = f"{with_conditions(name, conditions)}, {ip_words(ip_version)}"
        drawn.finish(axes, f"Busy share of the cores over time, {which}. {' '.join(words)}", entries)
    if not groups:
        empty_panel(drawn)
    return drawn


def plot_cpu_time(scenarios, runs, cpu, cca_shown) -> Drawing:
    """Return the figure and its data."""
    scenarios = with_paths(scenarios)
    busy = busy_of(shown_runs(runs, scenarios, cca_shown), cpu)
    return draw_cpu_time(busy, cca_shown).drawing(f"Busy share of the cores over time with {cca_name(cca_shown)}", busy)
