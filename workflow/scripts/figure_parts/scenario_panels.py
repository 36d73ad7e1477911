"""Lay out figures: a header, a grid of panels, and the title, axes and rows of each panel.

All lengths are in points. Panels are self-contained, so that a page can reflow them: all contents of a
panel, including the title, are in the panel's axes. Only the header belongs to the figure.
"""

import math
import textwrap
from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figure_parts.figure_style import DASHES, FONT_SIZE_PT, LIGHT, SMALL_SIZE_PT
from figure_parts.figure_svg import Drawing, Panel
from study_files.study_design import MIX
from wording.number_format import tick
from wording.scenario_words import conditions, heading, ip_words

INCH_PT = 72
# Panel width by number of columns: text stays legible on a phone, where a panel fills the width.
WIDTHS_PT = {1: 260, 2: 260, 3: 200}
TITLE_PT, GAP_PT, HEADER_PT, INDENT_PT = 32, 14, 48, 5
# Space for the names of rows, most of which are the kernel's CCAs.
ROW_LABELS_PT = 56
# If the space to the left of a plot is wider than this, three panels side by side would leave too little space for the plots.
MOST_BESIDE_PT = 90
MINUS = "\N{MINUS SIGN}"
#: Text of a figure without panels.
NOTHING = "No valid run has values for this figure."
# Approximate ratio of a letter's width to the font size in DejaVu Sans, the widest font that text may be set in.
LETTER_SHARE = 0.62


@dataclass(frozen=True)
class Grid:
    """Panels of equal size in rows below a header."""

    panels: int
    columns: int
    panel_width: float  # in points, title and axis labels included
    panel_height: float  # in points, title and axis labels included
    header: float = HEADER_PT  # height above the first row, in points

    @property
    def width(self) -> float:
        """Width of the figure in points."""
        return self.columns * self.panel_width + (self.columns - 1) * GAP_PT + GAP_PT

    @property
    def height(self) -> float:
        """Height of the figure in points."""
        lines = math.ceil(max(1, self.panels) / self.columns)
        return self.header + lines * (self.panel_height + GAP_PT)

    def figure(self) -> Figure:
        """Return an empty figure of this size."""
        return plt.figure(figsize=(self.width / INCH_PT, self.height / INCH_PT))

    def corner(self, position) -> tuple[float, float]:
        """Return the distances of panel number `position` from the left and top edges of the figure, in points."""
        left = GAP_PT / 2 + (position % self.columns) * (self.panel_width + GAP_PT)
        return left, self.header + (position // self.columns) * (self.panel_height + GAP_PT)

    def axes(self, figure, position, left, right, top, bottom) -> Axes:
        """Add the axes of panel number `position`; the other arguments are the distances of the axes from the panel's edges, in points."""
        x, y = self.corner(position)
        box = (
            (x + left) / self.width,
            1 - (y + self.panel_height - bottom) / self.height,
            (self.panel_width - left - right) / self.width,
            (self.panel_height - top - bottom) / self.height,
        )
        return figure.add_axes(box, gid=f"panel-{position + 1}")

    def panel(self, position, description) -> Panel:
        """Return the `Panel` with the rectangle of panel number `position` and the panel's description in words."""
        left, top = self.corner(position)
        return Panel(
            f"panel-{position + 1}", left + INDENT_PT, top, self.panel_width - INDENT_PT,
            self.panel_height, description,
        )  # fmt: skip


class PanelFigure:
    """A figure whose panels are drawn in sequence.

    ``margins`` are the distances between a panel's edges and its plot, in points: left, right, top, bottom. ``key`` is the list of
    the key's entries, each with a label.
    """

    def __init__(self, title, grid, margins, key=()):
        self.grid, self.margins = grid, margins
        self.figure, self.panels = grid.figure(), []
        header(self.figure, title, key)

    def next_axes(self, right=None) -> Axes:
        """Begin the next panel; return its axes. ``right`` replaces the right margin for this panel."""
        self.panels.append(None)
        left, usual, top, bottom = self.margins
        return self.grid.axes(self.figure, len(self.panels) - 1, left, usual if right is None else right, top, bottom)

    def finish(self, axes, description) -> None:
        """Complete the latest panel after everything is drawn; ``description`` describes the panel in words."""
        unclipped(axes)
        self.panels[-1] = self.grid.panel(len(self.panels) - 1, description)

    def drawing(self, title, data, digits=None) -> Drawing:
        """Return the figure as a `Drawing` with a title and the rows of data that the figure shows.

        A figure without panels gets one, with a sentence instead of a plot.
        """
        if not self.panels:
            axes = self.next_axes()
            axes.set_axis_off()
            axes.text(0, 1, NOTHING, transform=axes.transAxes, va="top", size=SMALL_SIZE_PT, color=LIGHT.muted)
            self.finish(axes, NOTHING)
        return Drawing(self.figure, self.panels, title, data, digits)


def columns_for(panels) -> int:
    """Return the number of panels per row."""
    return 1 if panels <= 1 else 2 if panels in (2, 4) else 3


def parts_of(ccas, most) -> list[list[str]]:
    """Split CCAs into as few lists of at most `most` CCAs as possible; only the last list may be shorter than the others.

    >>> parts_of(["reno", "cubic", "bbr"], 2), parts_of([], 2)
    ([['reno', 'cubic'], ['bbr']], [])
    """
    parts = math.ceil(len(ccas) / most)
    size = math.ceil(len(ccas) / max(1, parts))
    return [ccas[size * part : size * (part + 1)] for part in range(parts)]


def scenario_grid(panels, panel_height, left=0) -> Grid:
    """Return the grid of a figure with one panel per scenario; ``left`` is the space to the left of each plot, in points."""
    columns = columns_for(panels) if left <= MOST_BESIDE_PT else min(columns_for(panels), 2)
    return Grid(panels, columns, WIDTHS_PT[columns], panel_height)


def row_labels_pt(ccas) -> float:
    """Return the width that the row labels need, in points; it is at least `ROW_LABELS_PT`."""
    # A plus is a third wider than a letter; 5 points are free beside the axis.
    longest = max((len(cca) + cca.count(MIX) / 3 for cca in ccas), default=0)
    return max(ROW_LABELS_PT, INDENT_PT + 5 + LETTER_SHARE * FONT_SIZE_PT * longest)


def header(figure, title, entries) -> None:
    """Write the figure's title and key; each of the key's entries has a label."""
    height, width = figure.get_figheight() * INCH_PT, figure.get_figwidth() * INCH_PT
    left = (GAP_PT / 2 + INDENT_PT) / width
    figure.text(left, 1 - 19 / height, title, size=10.5, weight="bold", va="baseline")
    figure.legend(
        handles=entries, loc="upper left", bbox_to_anchor=(left, 1 - 24 / height), frameon=False,
        ncols=_key_columns([str(entry.get_label()) for entry in entries], width), fontsize=SMALL_SIZE_PT, borderpad=0,
        borderaxespad=0, handletextpad=0.5, columnspacing=1.6, labelcolor=LIGHT.muted,
        labelspacing=0.2,
    )  # fmt: skip


def _key_columns(labels, width) -> int:
    """Return the largest number of columns with which a figure's key fits the figure's width; at least 2 if there are several entries."""
    # A handle is two letters wide, followed by half a letter; columns are 1.6 letters apart.
    widths = [SMALL_SIZE_PT * (LETTER_SHARE * len(label) + 4.1) for label in labels]
    for columns in range(len(labels), 2, -1):
        rows = math.ceil(len(labels) / columns)
        if sum(max(widths[at : at + rows]) for at in range(0, len(labels), rows)) <= width - GAP_PT - INDENT_PT:
            return columns
    return min(2, max(1, len(labels)))


def replication_entries(ip_versions) -> list[Line2D]:
    """Return the key's entries for replications: filled dots for IPv4, open dots for IPv6; a single IP version isn't named."""
    only = len(ip_versions) == 1
    return [
        Line2D([], [], ls="none", marker="o", ms=4, mec=LIGHT.ink,
               mfc="none" if ip_version == "ipv6" else LIGHT.ink,
               label="a replication" if only else f"{ip_words(ip_version)}, a replication")
        for ip_version in ip_versions
    ]  # fmt: skip


def reference_entry(label) -> Line2D:
    """Return the key's entry for a dashed line."""
    return Line2D([], [], color=LIGHT.muted, lw=0.9, ls=DASHES, label=label)


def value_axis(axes, direction, axis, spaced=False) -> None:
    """Set the scale, limits and ticks of one axis ("x" or "y") from an `axis_scales.Axis`.

    If `spaced` is true, a label that would touch its neighbour is omitted, but its tick stays.
    """
    set_scale = getattr(axes, f"set_{direction}scale")
    if axis.kind == "symlog":
        set_scale("symlog", linthresh=axis.linear_below, linscale=axis.linear_decades)
    else:
        set_scale(axis.kind)
    getattr(axes, f"set_{direction}lim")(axis.low, axis.high)
    set_ticks = getattr(axes, f"set_{direction}ticks")
    labels = [tick(value).replace("-", MINUS) for value in axis.ticks]
    set_ticks(axis.ticks, _apart(axes, axis.ticks, labels) if spaced else labels)
    set_ticks([], minor=True)
    axes.tick_params(axis=direction, length=2.5 if direction == "x" else 0, pad=2)


def _apart(axes, ticks, labels):
    # Zero comes first, so that its label is never omitted.
    width, _ = size_pt(axes)
    to_share = axes.transScale + axes.transLimits
    kept = {}
    for number in sorted(range(len(ticks)), key=lambda number: (ticks[number] != 0, number)):
        middle = width * to_share.transform((ticks[number], 1.0))[0]
        half = LETTER_SHARE * SMALL_SIZE_PT * len(labels[number]) / 2
        if all(abs(middle - there) > half + room for there, room in kept.values()):
            kept[number] = (middle, half)
    return [label if number in kept else "" for number, label in enumerate(labels)]


def unit_below(axes, axis, unit) -> None:
    """Write the unit below the right end of the value axis, followed by "logarithmic" if the axis isn't linear."""
    text = unit if axis.kind == "linear" else f"{unit}, logarithmic"
    axes.set_xlabel(text, size=SMALL_SIZE_PT, labelpad=1, loc="right")


def lines_behind(axes, directions="x") -> None:
    """Draw grid lines behind the data, and hide the frame except for the bottom axis."""
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.set_axisbelow(True)
    for direction in directions:
        axes.grid(axis=direction, color=LIGHT.line, lw=0.6)


def rows_of(axes, names) -> None:
    """Divide the vertical axis into one row per name, in order from the top, with lines between the rows."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, pad=5)
    lines_behind(axes)
    axes.hlines(
        [row + 0.5 for row in range(-1, len(names) - 1)], *axes.get_xlim(),
        color=LIGHT.line, lw=0.6, zorder=0.5,
    )  # fmt: skip


def size_pt(axes) -> tuple[float, float]:
    """Return the width and the height of axes in points."""
    box, figure = axes.get_position(), axes.figure
    return box.width * figure.get_figwidth() * INCH_PT, box.height * figure.get_figheight() * INCH_PT


def scenario_title(axes, scenario, left, raised=0) -> None:
    """Write a scenario's name and conditions above its panel. The other arguments are the same as in `panel_title`."""
    panel_title(axes, heading(scenario), conditions(scenario), left, raised)


def panel_title(axes, first, second, left, raised=0, right=0) -> None:
    """Write a bold title and a second line above a panel; each is shortened if it is wider than the panel.

    `left` and `right` are the distances between the panel's edges and its axes. `raised` is the free space between the second line
    and the axes.
    """
    width, height = size_pt(axes)
    for text, y, weight, size, colour in (
        (first, 17 + raised, "bold", FONT_SIZE_PT, LIGHT.ink),
        (second, 6 + raised, "normal", SMALL_SIZE_PT, LIGHT.muted),
    ):
        axes.text(
            -(left - INDENT_PT) / width, 1 + y / height, fitting(text, width + left + right, size),
            transform=axes.transAxes, weight=weight, size=size, color=colour, va="baseline",
        )  # fmt: skip


def fitting(text, width, size) -> str:
    """Return a text, shortened with an ellipsis if it is wider than `width` points."""
    room = int(width / (LETTER_SHARE * size))
    return text if len(text) <= room else textwrap.shorten(text[: room - 1], room) + "…"


def interval_line(axes, low, high, y, width=1.0, colour=LIGHT.ink) -> None:
    """Draw an interval, with an arrowhead at each end that lies beyond the axis."""
    left, right = axes.get_xlim()
    ends = [max(low, left), min(high, right)]
    axes.plot(ends, [y, y], color=colour, lw=width, zorder=3)
    for end, beyond, arrow in ((left, low < left, "<"), (right, high > right, ">")):
        if beyond:
            axes.plot([end], [y], ls="none", marker=arrow, ms=3, mew=0, color=colour, zorder=3)


def reference_line(axes, value) -> None:
    """Draw a dashed line at a value; draw nothing if the value is None or lies beyond the axis."""
    if value is not None and min(axes.get_xlim()) <= value <= max(axes.get_xlim()):
        axes.axvline(value, color=LIGHT.muted, lw=0.9, ls=DASHES, zorder=1)


def remark(axes, y, text) -> None:
    """Write the reason for a missing mark in the mark's row."""
    axes.text(
        0.01, y, text, size=SMALL_SIZE_PT - 1, style="italic", color=LIGHT.muted,
        va="center_baseline", transform=axes.get_yaxis_transform(),
        bbox={"facecolor": LIGHT.paper, "edgecolor": "none", "pad": 1},
    )  # fmt: skip


def unclipped(axes) -> None:
    """Disable clipping in the axes: the limits enclose all values, so clip paths would only enlarge the file."""
    for artist in axes.findobj():
        artist.set_clip_on(False)
