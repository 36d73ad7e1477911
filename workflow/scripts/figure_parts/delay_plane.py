"""Plots of throughput against queueing delay: delay decreases to the right, and an ellipse shows the scatter of the runs.

The plots follow Winstein and Balakrishnan (SIGCOMM 2013, figure 4), with the axes of the Pantheon (Yan et al., USENIX ATC 2018):
up and to the right is better.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D

from figure_parts.axis_scales import Axis, axis_for, linear_axis, log_axis
from figure_parts.figure_style import LIGHT, cca_colour

#: Minimum ratio between the ends of a logarithmic delay axis, so that at least two ticks are labelled.
LEAST_RATIO = 5.0
#: Minimum number of dots for an ellipse: the ellipse of two dots is a line, which doesn't show the scatter.
LEAST_DOTS = 3


def half_axes(x, y) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre and the semi-axes of the one-sigma ellipse of paired values.

    The ellipse is the contour, at one standard deviation, of the two-dimensional normal distribution with the values' means and
    covariances; for a single pair it has no extent. The centre has shape (2,); the semi-axes are the columns of an array of shape (2, 2).
    """
    centre = np.array([np.mean(x), np.mean(y)])
    if len(x) < 2:
        return centre, np.zeros((2, 2))
    sizes, axes = np.linalg.eigh(np.cov(x, y))
    return centre, axes * np.sqrt(np.maximum(sizes, 0))


def ellipse(x, y, points=60) -> tuple[np.ndarray, np.ndarray]:
    """Return the x and y coordinates of the one-sigma ellipse of paired values, each with shape (points,).

    For a single pair, all points are this pair.
    """
    centre, axes = half_axes(x, y)
    angles = np.linspace(0, 2 * np.pi, points)
    return tuple(centre[:, None] + axes @ np.array([np.cos(angles), np.sin(angles)]))


def draw_ellipse(axes, x, y, cca) -> None:
    """Draw a CCA's one-sigma ellipse in axes whose scales are already final; draw nothing for fewer than `LEAST_DOTS` pairs.

    The ellipse is computed on the scales of the axes: from logarithms if an axis is logarithmic.
    """
    if len(x) < LEAST_DOTS:
        return
    shown = axes.transScale.transform(np.column_stack([x, y]).astype(float))
    centre, half = half_axes(*shown.T)
    place = Affine2D(np.vstack([np.column_stack([half, centre]), [0, 0, 1]])) + axes.transLimits + axes.transAxes
    look = {"ec": cca_colour(cca), "fc": "none", "lw": 1.0, "alpha": 0.9, "zorder": 2.2}
    axes.add_patch(PathPatch(Outline.unit_circle(), transform=place, **look))


def ellipse_entry() -> Line2D:
    """Return the key's entry for the ellipses."""
    return Line2D(
        [], [], ls="none", marker="o", ms=7, mec=LIGHT.ink, mfc="none", mew=0.9, label="one standard deviation"
    )


def reach(values, kind) -> list[float]:
    """Return the two ends of a one-sigma ellipse along one axis.

    ``values`` are the coordinates along this axis, and ``kind`` is the axis's scale, "linear" or "log". The list is empty for other
    scales and for fewer than `LEAST_DOTS` values.
    """
    values = np.asarray(values, float)
    if len(values) < LEAST_DOTS or kind not in ("linear", "log"):
        return []
    shown = np.log10(values) if kind == "log" else values
    ends = shown.mean() + np.std(shown, ddof=1) * np.array([-1, 1])
    return [float(end) for end in (10**ends if kind == "log" else np.maximum(ends, 0) if min(values) >= 0 else ends)]


def delay_axis(values) -> Axis:
    """Return an axis for a list of delays, which may be empty; the axis is logarithmic if all delays are above 0."""
    if not values or min(values) == 0:
        return axis_for(values)
    if min(values) < 0:
        # A real clock can measure less than the path's delay.
        return linear_axis(min(values), max(values))
    low, high = min(values), max(values)
    room = max(1.0, LEAST_RATIO * low / high) ** 0.5
    return log_axis(low / room, high * room)
