"""Write the names of CCAs near their marks in a plot, and the names of cells without a mark."""

import numpy as np

from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, cca_colour
from figure_parts.label_placement import DOT, LINE_HEIGHT, place_labels
from figure_parts.scenario_panels import LETTER_SHARE, size_pt


def name_marks(axes, marks, dots, lines=(), dot_cost=DOT, leader_from=7.5) -> None:
    """Write each CCA's name near one of its marks.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes with their final limits.
    marks : dict of str to list of (float, float)
        Positions of each CCA's means, in the units of the axes.
    dots : list of (float, float)
        Points that names should preferably not cover, in the units of the axes.
    lines : sequence of float, optional
        Positions of vertical lines that names should also avoid, in the unit of the horizontal axis.
    dot_cost : float
        As in `label_placement.place_labels`.
    leader_from : float
        Minimum distance in points at which a line connects the name to its mark.
    """
    size = np.array(size_pt(axes))
    bottom, top = axes.get_ylim()
    dots = _in_points(axes, dots)
    for x in lines:
        upright = np.linspace(*_in_points(axes, [(x, bottom), (x, top)]), int(size[1] / 4))
        dots = np.vstack([dots, upright])
    ccas = [cca for cca, points in marks.items() if points]
    in_points = [_in_points(axes, marks[cca]) for cca in ccas]
    places = place_labels(ccas, in_points, dots, *size, SMALL_SIZE_PT, dot_cost)
    for cca, (x, y, mark_x, mark_y) in zip(ccas, places, strict=True):
        half_width, half_height = LETTER_SHARE * SMALL_SIZE_PT * len(cca) / 2, LINE_HEIGHT * SMALL_SIZE_PT / 2
        near = (min(max(mark_x, x - half_width), x + half_width), min(max(mark_y, y - half_height), y + half_height))
        gap = np.hypot(near[0] - mark_x, near[1] - mark_y)
        if gap > leader_from:
            axes.plot(
                [mark_x / size[0], near[0] / size[0]], [mark_y / size[1], near[1] / size[1]],
                color=cca_colour(cca), lw=0.7, transform=axes.transAxes, zorder=2.5,
            )  # fmt: skip
        axes.text(
            x / size[0], y / size[1], cca, size=SMALL_SIZE_PT, color=LIGHT.ink, ha="center",
            va="center_baseline", transform=axes.transAxes, zorder=4,
        )  # fmt: skip


def name_missing(axes, missing) -> None:
    """In the lower right corner, list the cells without a mark; ``missing`` contains a pair (name, reason) for each cell."""
    if not missing:
        return
    lines = [f"{name}: {reason}" for name, reason in missing]
    if len(missing) > 3:
        reasons = sorted({reason for _, reason in missing})
        lines = [f"{' or '.join(reasons)} in {len(missing)} cells"]
    axes.text(
        0.99, 0.04, "\n".join(lines), size=SMALL_SIZE_PT - 1, style="italic", color=LIGHT.muted,
        ha="right", va="bottom", transform=axes.transAxes,
    )  # fmt: skip


def _in_points(axes, values):
    if not len(values):
        return np.empty((0, 2))
    shares = (axes.transScale + axes.transLimits).transform(np.asarray(values, dtype=float))
    return shares * size_pt(axes)
