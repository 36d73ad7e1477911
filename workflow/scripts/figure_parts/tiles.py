"""Tiles of a matrix: each is a rectangle with text on it; a tile without a value has a dashed border."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT
from figure_parts.tooltips import tell


def draw_tile(axes: Axes, place, size_pt, text, colours, told, name, letters_pt=SMALL_SIZE_PT) -> None:
    """Draw a tile in axes whose unit is one tile.

    Columns begin at whole numbers from 0; rows are centred at whole numbers.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes to draw in.
    place : tuple of int
        Column and row.
    size_pt : tuple of float
        Width and height in points.
    text : str
        Text on the tile.
    colours : tuple of str or None
        Colours of the tile and of its text; None draws a dashed border.
    told, name : str
        Text of the tooltip, and the name that precedes the text.
    letters_pt : float
        Size of the text.
    """
    (column, row), (gap_x, gap_y) = place, (1 / size for size in size_pt)
    fill, ink = colours or ("none", LIGHT.muted)
    drawn = axes.add_patch(
        Rectangle(
            (column + gap_x / 2, row - 0.5 + gap_y / 2), 1 - gap_x, 1 - gap_y, fc=fill,
            ec="none" if colours else LIGHT.line, lw=0 if colours else 0.8, ls="-" if colours else (0, (2, 2)),
        )
    )  # fmt: skip
    tell(drawn, [told], name)
    axes.text(
        column + 0.5, row, text, size=letters_pt if colours else letters_pt - 0.5, ha="center",
        va="center_baseline", color=ink, style="normal" if colours else "italic",
    )  # fmt: skip
