"""A figure with one panel per scenario; the panel's title names the scenario, and the value axis is below the plot."""

from matplotlib.axes import Axes

from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style
from figure_parts.scenario_panels import (
    INDENT_PT,
    TITLE_PT,
    PanelFigure,
    lines_behind,
    rows_of,
    scenario_grid,
    scenario_title,
    size_pt,
    unit_below,
    value_axis,
)  # fmt: skip

AXIS_PT, NAME_PT, PLOT_PT = 32, 13, 128


class ScenarioFigure(PanelFigure):
    """A figure to which panels are added one at a time.

    Parameters
    ----------
    title : str
        Title of the figure.
    key : list of matplotlib.artist.Artist
        Entries of the key, each with a label.
    panels : int
        Number of panels.
    plot_pt : float
        Height of each plot, in points.
    left, right : float
        Margins between a panel's edges and its plot, in points.
    above : float
        Free space between titles and plot, in points.
    """

    def __init__(self, title, key, panels, plot_pt, left, right=10, above=0):
        apply_style()
        self.left, self.above = left, above
        grid = scenario_grid(panels, TITLE_PT + above + plot_pt + AXIS_PT, left)
        super().__init__(title, grid, (left, right, TITLE_PT + above, AXIS_PT), key)

    def add(self, scenario, axis, unit) -> Axes:
        """Add a panel for a scenario (a row of ``tidy/scenarios.csv``) with the given value axis; return the panel's axes."""
        axes = self.next_axes()
        value_axis(axes, "x", axis, spaced=True)
        unit_below(axes, axis, unit)
        scenario_title(axes, scenario, self.left, self.above)
        return axes

    def add_rows(self, scenario, axis, unit, names) -> Axes:
        """Add a panel with one row per name, in order from the top; return the panel's axes."""
        axes = self.add(scenario, axis, unit)
        rows_of(axes, names)
        return axes

    def add_plot(self, scenario, x_axis, x_words, y_axis, y_words, better="") -> Axes:
        """Add a panel that plots y against x; return the panel's axes.

        Two texts are written above the plot: the label of y, and ``better``, which names the better direction.
        """
        axes = self.add(scenario, x_axis, x_words)
        value_axis(axes, "y", y_axis)
        lines_behind(axes, "xy")
        axes.tick_params(axis="y", labelcolor=LIGHT.muted, labelsize=SMALL_SIZE_PT)
        width, height = size_pt(axes)
        named = (y_words, -(self.left - INDENT_PT) / width, "left", "normal"), (better, 1.0, "right", "italic")
        for text, place, side, style in named:
            if text:
                axes.text(
                    place, 1 + 5 / height, text, size=SMALL_SIZE_PT, color=LIGHT.muted, ha=side, style=style,
                    va="baseline", transform=axes.transAxes,
                )  # fmt: skip
        return axes
