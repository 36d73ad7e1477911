"""Plot the rate of file transfers over time: figures 3 and 4 of the paper.

Transfers over the largest number of paths are compared with transfers over a single path.
"""

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, draw_nothing
from figure_parts.cca_slots import empty_panel
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import value_axis
from figure_parts.tooltips import tell_line
from run_tables.run_keys import RUN
from topics.multipath.drawn_runs import first_runs, series_of
from topics.multipath.path_environments import environments_of, with_conditions, with_paths, with_platform
from wording.number_format import count, number
from wording.sentence_words import cca_name

COLUMNS = [*RUN, "environment", "rate_mbps", "conditions", "paths", "platform", "time_s", "acked_mbps"]


def shown_runs(runs, scenarios, cca) -> pd.DataFrame:
    """Return the runs to plot: the first valid run of each cell that transfers files over one path or over the largest number of paths."""
    sampled = scenarios["sample_interval_ms"].notna()
    transfers = scenarios[(scenarios["application"] == "ftp") & scenarios["even"] & sampled]
    most = transfers["paths"].max()
    return first_runs(runs, transfers[(transfers["by"] == "none") | (transfers["paths"] == most)], cca)


def _rate_over_time(samples):
    """Return the rate in Mbit/s at which data is acknowledged, summed over all sockets.

    The rate at a sample is the mean since the previous sample or, for the first sample, since the start. The amount of
    data acknowledged on a socket stays constant after the socket is closed.
    """
    by_socket = samples.assign(path=samples["path"].fillna(0)).pivot_table(
        index="time_s", columns=["flow", "path"], values="bytes_acked", aggfunc="last"
    )
    total = by_socket.sort_index().ffill().fillna(0).sum(axis=1)
    total = pd.concat([pd.Series({0.0: 0.0}), total[total.index > 0]])
    times = total.index.to_series()
    rates = pd.DataFrame({"time_s": times, "acked_mbps": 8e-6 * total.diff() / times.diff()})
    return rates[1:].reset_index(drop=True)


def rates_of(shown, path) -> pd.DataFrame:
    """Return the rates in all runs that are plotted, with the columns `COLUMNS`."""
    return series_of(shown, path, ["flow", "path", "time_s", "bytes_acked"], _rate_over_time, COLUMNS)


def draw_transfer_rate(rates, shown, cca) -> CategoryPanels:
    """Draw one panel per rate, platform, set of further conditions and environment; each panel also shows a single-path run."""
    apply_style()
    joined = shown[shown["by"] != "none"]
    groups = [
        (key, group[group["environment"] == environment].iloc[0])
        for key, group in joined.groupby(["rate_mbps", "platform", "conditions"], sort=False)
        for environment in environments_of(group["environment"])
    ]
    drawn = CategoryPanels(f"File transfer over time with {cca_name(cca)}, Mbit/s", len(groups), 2)
    axis = linear_axis(0, max(1.0, rates["acked_mbps"].max() if len(rates) else 1.0))
    for (_, platform, conditions), run in groups:
        of_both = rates["scenario"].isin([run["scenario"], run["baseline"]])
        both = rates[of_both & (rates["ip_version"] == run["ip_version"])]
        environment, baseline = run["environment"], f"baseline{run['ip_version'].removeprefix('ipv')}"
        second = with_conditions(f"{count(int(run['paths']), 'path')}, and a single path", conditions)
        axes = drawn.add(with_platform(environment, platform, joined["platform"]), second, axis)
        end = max(1e-9, both["time_s"].max())
        value_axis(axes, "x", linear_axis(0, end), spaced=True)
        axes.set_xlabel("s", size=SMALL_SIZE_PT, labelpad=1, loc="right")
        entries, words = [], []
        for name, ink, width in ((baseline, LIGHT.ink, 0.9), (environment, cca_colour(cca), 1.1)):
            line = both[both["environment"] == name]
            if line.empty:
                draw_nothing(axes, end / 2, f"{name}: none valid")
                continue
            # A sample's rate is the mean since the previous sample or, for the first sample, since the beginning.
            times, values = (
                [first, *line[column]]
                for column, first in (("time_s", 0.0), ("acked_mbps", line["acked_mbps"].iloc[0]))
            )
            (drawn_line,) = axes.plot(times, values, color=ink, lw=width, drawstyle="steps-pre", zorder=3)
            tell_line(drawn_line, name, "s", "Mbit/s")
            entries.append(Line2D([], [], color=ink, lw=1.3, label=name))
            words.append(
                f"{name}: {number(line['time_s'].iloc[-1], 1)} s, median {number(line['acked_mbps'].median(), 1)} Mbit/s."
            )
        which = with_conditions(f"{environment} and {baseline}", conditions)
        drawn.finish(axes, f"Rate of a file transfer over time, {which}. {' '.join(words)}", entries[::-1])
    if not groups:
        empty_panel(drawn)
    return drawn


def plot_transfer_rate(scenarios, runs, sockets, cca_shown) -> Drawing:
    """Return the figure and its data."""
    scenarios = with_paths(scenarios)
    shown = shown_runs(runs, scenarios, cca_shown)
    rates = rates_of(shown, sockets)
    drawn = draw_transfer_rate(rates, shown, cca_shown)
    return drawn.drawing(f"File transfer over time with {cca_name(cca_shown)}", rates)
