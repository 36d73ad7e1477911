"""Plot the empirical distribution function of web objects' completion times, with one line per CCA of the competing long flows."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis, log_axis
from figure_parts.category_panels import CategoryPanels, none_to_draw, panel_names
from figure_parts.figure_style import SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import unit_below, value_axis
from figure_parts.tooltips import tell_line
from inference.censored_times import ended_shares
from topics.short_flows.beside import LINE, lines_of
from wording.number_format import number
from wording.sentence_words import cca_name

#: Largest number of steps that are plotted. If there are more objects, the steps are evenly spaced in rank.
STEPS_AT_MOST = 200
SHARES = Axis("linear", 0.0, 1.0, (0, 0.25, 0.5, 0.75, 0.95))
TITLE = "Completion times of web objects"


def _steps(objects):
    """Return the steps of the completion times' distribution function: times, and the share of objects completed by each time.

    The steps are evenly spaced in rank. The last share is the share of objects that were ever completed.
    """
    times, shares = ended_shares(objects["watched_ms"].fillna(np.inf), objects["completion_ms"].notna())
    ranks = np.unique(np.linspace(0, len(times) - 1, min(len(times), STEPS_AT_MOST)).round().astype(int))
    return times[ranks], shares[ranks]


def reached(line, share) -> str:
    """Return, in words, the time after which a given share of the objects was complete.

    ``line`` contains the steps of the distribution function.
    """
    times = line.loc[line["share"] >= share - 1e-9, "completion_ms"]
    return (
        f"{number(times.iloc[0])} ms"
        if len(times)
        else f"not reached ({number(100 * line['share'].max(), 0)} % complete)"
    )


def _figure_rows(objects):
    """Return the figure's data: one row per step of each line."""
    keys = ["setting", "conditions", *LINE, "scenario_label", "ip_version", "group", "group_cca", "beside"]
    rows = []
    for key, of_line in objects.groupby(keys, sort=False):
        if of_line["completion_ms"].notna().any():
            steps = zip(*_steps(of_line), strict=True)
            rows += [(*key, len(of_line), float(value), float(share)) for value, share in steps]
    return pd.DataFrame(rows, columns=[*keys, "n", "completion_ms", "share"])


def _draw(data):
    """Return the figure: one panel per set of conditions, IP version, group and CCA of the group."""
    apply_style()
    if data.empty:
        return none_to_draw(TITLE, "no object of a valid run was complete")
    panels = list(data.groupby(["setting", "conditions", "ip_version", "group", "group_cca"], sort=False))
    lines, names = max(len(lines_of(group)) for _, group in panels), panel_names(data)
    drawn = CategoryPanels(TITLE, len(panels), lines, columns=2)
    axis = log_axis(data["completion_ms"].min(), data["completion_ms"].max())
    for (_, conditions, ip_version, group, cca), here in panels:
        place = names[conditions, ip_version]
        axes = drawn.add(f"{group} ({cca_name(cca)}), share of objects", place, SHARES)
        value_axis(axes, "x", axis, spaced=True)
        axes.tick_params(axis="x", labelsize=SMALL_SIZE_PT)
        unit_below(axes, axis, "completion time, ms")
        words, key = [], []
        named = lines_of(here)
        for of_line, line in here.groupby(LINE, sort=False):
            name, look = named[of_line].name, named[of_line].look
            # The line begins at a share of 0, so that a line of equal times is drawn as well.
            line = pd.concat([line.head(1).assign(share=0.0), line])
            (drawn_line,) = axes.step(line["completion_ms"], line["share"], where="post", lw=1.1, zorder=2, **look)
            tell_line(drawn_line, name, "ms", "of the objects")
            key.append(Line2D([], [], lw=1.2, label=name, **look))
            words.append(f"{name}: median {reached(line, 0.5)}, 95th percentile {reached(line, 0.95)}")
        drawn.finish(axes, f"Completion times of group {group}, {place}. {'; '.join(words)}.", key)
    return drawn


def plot_completion_times(short_flows, short_flow_cells) -> Drawing:
    """Return the figure and its data."""
    of_scenario = short_flow_cells[["scenario", "scenario_label", "setting", "conditions"]].drop_duplicates()
    data = _figure_rows(pd.read_parquet(short_flows).query("valid").merge(of_scenario, on="scenario"))
    return _draw(data).drawing(TITLE, data)
