"""Panels whose horizontal axis is divided into slots, one per category (such as a buffer size), and functions that draw in the slots."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from figure_parts.axis_scales import linear_axis
from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, SMALL_SIZE_PT
from figure_parts.scenario_panels import (
    DASHES,
    INDENT_PT,
    TITLE_PT,
    WIDTHS_PT,
    Grid,
    PanelFigure,
    columns_for,
    lines_behind,
    panel_title,
    size_pt,
    value_axis,
)  # fmt: skip
from wording.number_format import plain
from wording.scenario_words import distinct_first, ip_words

LEFT_PT, RIGHT_PT, AXIS_PT, PLOT_PT, KEY_LINE_PT, KEY_COLUMNS = 34, 6, 30, 92, 11, 3


class CategoryPanels(PanelFigure):
    """A figure of panels with one slot per category.

    Parameters
    ----------
    title : str
        Title of the figure.
    panels : int
        Number of panels.
    key_entries : int
        Number of lines and marks in the key above each panel's plot.
    columns : int, optional
        Number of panels per row; the default depends on the number of panels (`columns_for`).
    """

    def __init__(self, title, panels, key_entries=0, columns=None):
        columns = columns or columns_for(panels)
        self.key_pt = KEY_LINE_PT * -(-key_entries // KEY_COLUMNS)
        height = TITLE_PT + self.key_pt + PLOT_PT + AXIS_PT
        grid = Grid(panels, columns, WIDTHS_PT.get(columns, WIDTHS_PT[3]), height, 30)
        super().__init__(title, grid, (LEFT_PT, RIGHT_PT, TITLE_PT + self.key_pt, AXIS_PT))

    def add(self, first, second, axis) -> Axes:
        """Add the next panel, with a title of two lines and the given vertical axis; return the panel's axes."""
        axes = self.next_axes()
        value_axis(axes, "y", axis)
        axes.tick_params(axis="y", labelsize=SMALL_SIZE_PT, labelcolor=LIGHT.muted)
        lines_behind(axes, "y")
        panel_title(axes, first, second, LEFT_PT, self.key_pt, RIGHT_PT)
        return axes

    def finish(self, axes, description, key=()) -> None:
        """Draw a panel's key and add the panel's description in words."""
        panel_key(axes, key, LEFT_PT)
        super().finish(axes, description)


def panel_key(axes, key, left_pt) -> None:
    """Draw a panel's key above the plot, in rows of `KEY_COLUMNS` entries.

    ``left_pt`` is the space to the left of the axes, in points.
    """
    if not key:
        return
    width, height = size_pt(axes)
    corner = (-(left_pt - INDENT_PT) / width, 1 + 2 / height)
    axes.legend(
        handles=list(key), loc="lower left", bbox_to_anchor=corner,
        frameon=False, ncols=KEY_COLUMNS, fontsize=SMALL_SIZE_PT - 0.5, borderpad=0, borderaxespad=0,
        handletextpad=0.4, handlelength=1.7, columnspacing=1.0, labelspacing=0.15, labelcolor=LIGHT.muted,
    )  # fmt: skip


def none_to_draw(title, words) -> CategoryPanels:
    """Return an empty figure that shows only ``words``, the reason why nothing is drawn."""
    drawn = CategoryPanels(title, 1, 0, columns=1)
    axes = drawn.add("", "", linear_axis(0, 1))
    axes.set_axis_off()
    axes.text(0, 0.5, words, size=SMALL_SIZE_PT, color=LIGHT.muted, transform=axes.transAxes)
    drawn.finish(axes, words)
    return drawn


def slots(axes, names, below) -> None:
    """Divide the horizontal axis into one slot per name, centred at 0, 1, 2 and so on, and label the axis with ``below``."""
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0, pad=3)
    axes.set_xlabel(below, size=SMALL_SIZE_PT, labelpad=1, loc="right")


def buffer_names(buffers) -> tuple[list[str], str]:
    """Return the labels of the slots and of the axis; if all buffers have the same unit, only the axis label contains the unit."""
    units = list(dict.fromkeys(buffers["buffer_unit"]))
    if len(units) == 1:
        return [plain(size) for size in buffers["buffer_size"]], f"buffer, {units[0]}"
    return list(buffers["buffer"]), "buffer"


def bars(axes, lefts, heights, width, colour) -> PathPatch | None:
    """Draw bars that start at 0, as one patch; return the patch, or None if there are no bars."""
    boxes = np.array(
        [[(x, 0), (x, y), (x + width, y), (x + width, 0)] for x, y in zip(lefts, heights, strict=True)], float
    )
    if not len(boxes):
        return None
    return axes.add_patch(PathPatch(Outline.make_compound_path_from_polys(boxes), fc=colour, ec="none", lw=0))


def upright(axes, places, lows, highs, width=0.6) -> None:
    """Draw a vertical line at each position, from the low to the high value; all lines form one path."""
    xs = np.repeat(np.asarray(places, float), 3)
    ys = np.column_stack([lows, highs, np.full(len(xs) // 3, np.nan)]).astype(float).ravel()
    xs[2::3] = np.nan
    axes.plot(xs, ys, color=LIGHT.ink, lw=width, solid_capstyle="butt", zorder=3)


def draw_interval(axes, place, low, high, colour) -> None:
    """Draw an interval, with an arrowhead at each end that lies beyond the axis."""
    bottom, top = axes.get_ylim()
    axes.plot([place] * 2, [max(low, bottom), min(high, top)], color=colour, lw=1.0, zorder=2.5)
    for end, beyond, arrow in ((bottom, low < bottom, "v"), (top, high > top, "^")):
        if beyond:
            axes.plot([place], [end], ls="none", marker=arrow, ms=3, mew=0, color=colour, zorder=2.5)


def level(axes, value) -> None:
    """Draw a dashed horizontal line at a value; draw nothing if the value is None or lies beyond the axis."""
    if value is not None and axes.get_ylim()[0] <= value <= axes.get_ylim()[1]:
        axes.plot(axes.get_xlim(), [value] * 2, color=LIGHT.muted, lw=0.9, ls=DASHES, zorder=1)


def draw_nothing(axes, place, text="none valid") -> None:
    """Mark a slot in which nothing can be drawn."""
    bottom, top = axes.get_ylim()
    y = bottom + 0.06 * (top - bottom) if axes.get_yscale() == "linear" else bottom * 1.2
    axes.text(
        place, y, text, size=FONT_SIZE_PT - 2.5, style="italic", color=LIGHT.muted, ha="center", rotation=90,
        bbox={"facecolor": LIGHT.paper, "edgecolor": "none", "pad": 1},
    )  # fmt: skip


def with_ip_version(name, ip_version, ip_versions) -> str:
    """Return a panel's name, preceded by the IP version if the study has several; the end of a long title is cut off."""
    return f"{ip_words(ip_version)}, {name}" if len(ip_versions) > 1 else name


def panel_names(cells) -> dict[tuple[str, str], str]:
    """Return the name of each panel of a figure: (conditions, IP version) -> name, which begins with what distinguishes the panels.

    ``cells`` has the columns ``conditions`` and ``ip_version``, with one combination for each panel or group of panels.
    """
    versions, words = cells["ip_version"].unique(), distinct_first(cells["conditions"].unique())
    places = cells[["conditions", "ip_version"]].drop_duplicates().itertuples(index=False, name=None)
    return {
        (conditions, ip_version): with_ip_version(words[conditions], ip_version, versions)
        for conditions, ip_version in places
    }
