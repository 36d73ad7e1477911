"""Choose axes that make the values legible.

A panel's axis is logarithmic if the panel's values span more than a factor of 10; if some of the values are zero, the axis is linear near
zero. Panels share an axis if the values of each panel fill a good part of the axis, because panels with the same axis can be compared. RTT
axes cover the same multiples of the base RTT in every panel. An axis of differences always includes zero.
"""

import math
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

LOG_FROM_RATIO = 10
MAX_DECADES = 6
# A linear axis begins at zero if the smallest value is less than this share of the largest.
ZERO_BELOW_SHARE = 0.4
# Minimum share of a common axis that each panel must fill.
FILLED_SHARE = 0.3
MARGIN = 0.06
# If a difference is larger than this multiple of the margin, the margin would be too narrow to see on a linear axis.
LINEAR_MARGINS = 8


@dataclass(frozen=True)
class Axis:
    """A value axis."""

    kind: str  # "linear", "log" or "symlog" (linear below `linear_below`, logarithmic above)
    low: float  # ends of the axis, in the unit of the values
    high: float
    ticks: tuple  # values that are labelled
    linear_below: float | None = None  # for "symlog"
    linear_decades: float = 0.4  # for "symlog": length of the linear part on each side of zero, in decades

    def length(self) -> float:
        """Return the axis's length: in the unit of the values if the axis is linear, otherwise in decades."""
        if self.kind == "linear":
            return self.high - self.low
        return math.log10(self.high / (self.low if self.kind == "log" else self.linear_below))


def panel_axes(panels, build=None) -> list[Axis]:
    """Return an axis for each panel; panels whose values fill enough of a common axis share this axis.

    `panels` contains one list per panel: the values and the reference lines to draw. A list may be empty; values must not be negative.
    `build` makes an axis from such a list; the default is `axis_for`.
    """
    build = build or axis_for
    groups = []  # lists of positions in `panels`
    for position in range(len(panels)):
        for group in groups:
            if _share([panels[member] for member in (*group, position)], build):
                group.append(position)
                break
        else:
            groups.append([position])
    axes = {}
    for group in groups:
        axis = build([value for member in group for value in panels[member]])
        axes |= dict.fromkeys(group, axis)
    return [axes[position] for position in range(len(panels))]


def _share(panels, build):
    together = build([value for panel in panels for value in panel])
    return all(
        axis.kind == together.kind and axis.length() >= FILLED_SHARE * together.length()
        for axis in (build(panel) for panel in panels if panel)
    )


def axis_for(values) -> Axis:
    """Return an axis that covers all values; raise `ValueError` if a value is negative. The list may be empty."""
    if values and min(values) < 0:
        raise ValueError(f"a value to be drawn is below 0: {min(values)}")
    positive = [value for value in values if value > 0]
    if not positive:
        return Axis("linear", -0.04, 1.06, (0, 1))
    low, top = min(values), max(positive)
    if top / min(positive) <= LOG_FROM_RATIO:
        return linear_axis(0 if low < ZERO_BELOW_SHARE * top or low == top else low, top)
    if low > 0:
        return log_axis(low, top)
    threshold = 10.0 ** max(_decade(min(positive)), _decade(top) - MAX_DECADES + 1)
    decades = range(_decade(threshold), math.ceil(math.log10(top)) + 1)
    ticks = (0, *(10.0**power for power in decades if 10.0**power <= top * 1.3))
    return Axis("symlog", -0.6 * threshold, top * 1.6, _thinned(ticks), threshold)


def linear_axis(low, high) -> Axis:
    """Return a linear axis with round ticks; it starts just below 0 if `low` is 0."""
    room = (high - low) * MARGIN
    start = -room / 2 if low == 0 else low - room
    ticks = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    end = high + room
    return Axis("linear", start, end, tuple(float(t) for t in ticks if start <= t <= end))


def log_axis(low, high) -> Axis:
    """Return a logarithmic axis with ticks at the decades and, if it spans at most two decades, also at 2 and 5 times each decade."""
    room = (high / low) ** MARGIN
    low, high = low / room, high * room
    steps = (1,) if math.log10(high / low) > 2 else (1, 2, 5)
    ticks = tuple(
        step * 10.0**power
        for power in range(_decade(low), _decade(high) + 1)
        for step in steps
        if low <= step * 10.0**power <= high
    )
    return Axis("log", low, high, _thinned(ticks))


def relative_axes(values, paths) -> list[Axis]:
    """Return an axis for each panel; all axes cover the same multiples of the panels' reference values.

    `paths` contains the reference value of each panel, such as the base RTT of its path. If a reference value is 0 or unknown, the result
    is the same as from `panel_axes`. Otherwise, the axes are logarithmic if the multiples span more than a factor of 10, else linear.
    """
    if not all(path and path > 0 for path in paths):
        return panel_axes(values)
    ratios = [value / path for panel, path in zip(values, paths, strict=True) for value in panel]
    low, high = min([1.0, *ratios]), max([1.1, *ratios])
    if high / low > LOG_FROM_RATIO:
        return [log_axis(low * path, high * path) for path in paths]
    return [linear_axis(low * path, high * path) for path in paths]


def difference_axis(values, margin=None, least=0.0) -> Axis:
    """Return an axis for differences, which may have either sign: zero is always on the axis.

    Parameters
    ----------
    values : list of float
        Differences; may be empty.
    margin : float, optional
        Range that must stay legible, from -margin to +margin. If some values are much larger, the axis is
        linear in this range and logarithmic outside.
    least : float, optional
        Minimum extent of the axis on each side of zero.
    """
    reach = max(margin or 0.0, least)
    low, high = min([-reach, 0.0, *values]), max([reach, 0.0, *values])
    if low == high:
        return Axis("linear", -1.06, 1.06, (-1, 0, 1))
    if not margin or max(-low, high) <= LINEAR_MARGINS * margin:
        return linear_axis(low, high) if low < 0 else linear_axis(-MARGIN * high, high)
    reach = max(-low, high)
    outside = [10.0**p for p in range(_decade(margin), _decade(reach) + 1) if 10.0**p >= 4 * margin]
    # If no decade is far enough from the margin for a label, label the largest value.
    outside = outside or [float(f"{reach:.0e}")]
    ticks = [*(-value for value in reversed(outside)), -margin, 0.0, margin, *outside]
    low, high = (end * 1.3 for end in (low, high))
    return Axis("symlog", low, high, tuple(t for t in ticks if low <= t <= high), margin, 1.0)


def _decade(value):
    return math.floor(math.log10(value))


def _thinned(ticks):
    # At most about six labels fit below a panel; zero always stays.
    zero, rest = [t for t in ticks if t == 0], [t for t in ticks if t != 0]
    step = math.ceil(len(rest) / (5 if zero else 6))
    return (*zero, *rest[:: max(1, step)])
