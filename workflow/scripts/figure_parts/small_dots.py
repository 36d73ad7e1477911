"""Draw the replications of a cell as dots: markers if they are few, one thin path if they are many."""

from matplotlib.patches import PathPatch
from matplotlib.path import Path

from figure_parts.figure_style import cca_colour, cca_marker

# Up to here each dot has the CCA's shape; above, a cloud of small dots says more in fewer bytes.
MARKERS_AT_MOST = 20
# Of more replications in a cell the first ones are drawn.
DOTS_AT_MOST = 100


def draw_dots(axes, points, cca, is_open) -> None:
    """Draw the dots of one cell.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    points : list of (float, float)
        At most `DOTS_AT_MOST` of them, as values.
    cca : str
    is_open : bool
        Whether the markers are open.
    """
    colour = cca_colour(cca)
    if len(points) <= MARKERS_AT_MOST:
        axes.plot(
            [x for x, _ in points], [y for _, y in points], ls="none", marker=cca_marker(cca),
            ms=2.8, mec=colour, mew=0.7, mfc="none" if is_open else colour, alpha=0.6, zorder=2,
        )  # fmt: skip
        return
    vertices = [point for point in points for _ in range(2)]
    path = Path(vertices, [Path.MOVETO, Path.LINETO] * len(points))
    axes.add_patch(PathPatch(path, fill=False, ec=colour, lw=1.6, capstyle="round", alpha=0.45, zorder=2))


def draw_mean(axes, x, y, cca, is_open) -> None:
    """Draw the mean of one cell: larger, IPv4 filled, IPv6 open."""
    colour = cca_colour(cca)
    axes.plot(
        [x], [y], ls="none", marker=cca_marker(cca), ms=5.5, mec=colour, mew=1.3,
        mfc="none" if is_open else colour, zorder=3,
    )  # fmt: skip
