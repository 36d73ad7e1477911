"""Plot the slowdown of web objects by size, with one line per CCA of the competing long flows."""

from matplotlib.lines import Line2D

from figure_parts.axis_scales import log_axis
from figure_parts.category_panels import CategoryPanels, none_to_draw, panel_names
from figure_parts.figure_style import SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import unit_below, value_axis
from figure_parts.tooltips import tell, value_words
from topics.short_flows.beside import LINE, lines_of
from wording.number_format import count, number
from wording.sentence_words import cca_name

TITLE = "Slowdown of web objects by size"
#: Column to plot -> its name.
SHOWN = {"slowdown_p50": "median", "slowdown_p95": "95th percentile"}
#: Minimum number of objects for which a size class is plotted.
LEAST = 5


def _draw(sizes):
    """Return the figure: for each set of conditions, IP version, group and CCA of the group, one panel per percentile."""
    apply_style()
    if sizes.empty:
        return none_to_draw(TITLE, f"no size class with {LEAST} objects that have a slowdown")
    groups = list(sizes.groupby(["setting", "conditions", "ip_version", "group", "group_cca"], sort=False))
    lines, names = max(len(lines_of(group)) for _, group in groups), panel_names(sizes)
    drawn = CategoryPanels(TITLE, len(SHOWN) * len(groups), lines, columns=2)
    middles = (sizes["from_bytes"] * sizes["to_bytes"]) ** 0.5 / 1e3
    across, up = (
        log_axis(middles.min(), middles.max()),
        log_axis(min(1.0, sizes[list(SHOWN)].min().min()), max(2.0, sizes[list(SHOWN)].max().max())),
    )
    for (_, conditions, ip_version, group, cca), here in groups:
        named = lines_of(here)
        for column, name in SHOWN.items():
            place = names[conditions, ip_version]
            axes = drawn.add(f"{group} ({cca_name(cca)}), {name} of slowdown", place, up)
            value_axis(axes, "x", across, spaced=True)
            axes.tick_params(axis="x", labelsize=SMALL_SIZE_PT)
            unit_below(axes, across, "size, kB")
            words, key = [], []
            for of_line, line in here.groupby(LINE, sort=False):
                name_of_line, look = named[of_line].name, named[of_line].look
                known = line[line[column].notna()].sort_values("from_bytes")
                (line_drawn,) = axes.plot(
                    middles[known.index], known[column], lw=1.1, marker=".", ms=4, zorder=2, **look
                )
                texts = [
                    f"{number(row['from_bytes'] / 1e3)} to {number(row['to_bytes'] / 1e3)} kB: "
                    f"{value_words(row[column])}, {count(int(row['n']), 'object')}"
                    for row in known.to_dict("records")
                ]
                tell(line_drawn, texts, name_of_line)
                key.append(Line2D([], [], lw=1.2, label=name_of_line, **look))
                ends = [number(known[column].iloc[end]) for end in (0, -1)] if len(known) else ["-", "-"]
                words.append(f"{name_of_line}: {ends[0]} for the smallest, {ends[1]} for the largest")
            drawn.finish(
                axes, f"{name.capitalize()} of the slowdown of group {group}, {place}. {'; '.join(words)}.", key
            )
    return drawn


def plot_slowdown(short_flow_sizes) -> Drawing:
    """Return the figure and its data."""
    sizes = short_flow_sizes[short_flow_sizes["n"] >= LEAST].reset_index(drop=True)
    return _draw(sizes).drawing(TITLE, sizes)
