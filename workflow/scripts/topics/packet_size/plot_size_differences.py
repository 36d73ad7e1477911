"""Plot differences by message size: between IPv6 and IPv4, and between the real and the virtual clock.

The effect of IPv6's longer header is shown for comparison.
"""

import math
from dataclasses import dataclass

import pandas as pd

from figure_parts.axis_scales import difference_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.figure_style import LIGHT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import DASHES
from topics.packet_size.size_panels import COLOURS, by_traffic, draw_cells, draw_line, entry, look, size_slots
from topics.packet_size.traffic import ENVIRONMENTS, IP_VERSION, PLATFORM, TRAFFIC, is_round_trip
from wording.scenario_words import ip_words

TITLE = "Differences by message size"
#: Column of the calculated difference, which doesn't exist for comparisons of platforms.
CALCULATED = "expected_percent"
# An interval that extends beyond this multiple of the largest value ends in an arrowhead.
REACH = 3


@dataclass(frozen=True)
class SizePanel:
    """A panel: the two lines of the title, the rows of `SIZE_DIFFERENCES` to show, and the column with the marks' values."""

    name: str
    second_line: str
    rows: pd.DataFrame
    value: str


def _panels_of(table):
    """Yield the panels for each kind of traffic: first those that compare IP versions, then those that compare platforms."""
    ip_versions, platforms = (table[table["question"] == question] for question in (IP_VERSION, PLATFORM))
    percent = {name: 100 * ip_versions[name] / ip_versions["mean_first"] for name in ("ci_low", "ci_high")}
    for traffic, network, rows in by_traffic(ip_versions.assign(**percent)):
        name = ", ".join(filter(None, (TRAFFIC[traffic].name, network)))
        yield SizePanel(name, "IPv6 compared with IPv4, %", rows, "percent")
    for traffic, network, rows in by_traffic(platforms[platforms["background"] == "none"]):
        name = ", ".join(filter(None, (TRAFFIC[traffic].name, network)))
        unit = TRAFFIC[traffic].quantity.unit
        if is_round_trip(traffic):
            # This time doesn't include transmission: under a real clock, packets cross the cable instantly.
            yield SizePanel(name, f"time in the kernel, {unit}", rows.assign(ci_low=math.nan), "mean_second")
        else:
            first, second = (rows[side].iloc[0] for side in ("first", "second"))
            yield SizePanel(name, f"{second} minus {first}, {unit}", rows, "difference")


def _axis_of(panel):
    """Return an axis that includes a panel's values and interval ends.

    Interval ends beyond `REACH` times the largest value may lie outside the axis.
    """
    rows = panel.rows
    values = [float(value) for name in (panel.value, CALCULATED) for value in rows[name].dropna()]
    reach = REACH * max(map(abs, values), default=0.0)
    ends = [float(end) for name in ("ci_low", "ci_high") for end in rows[name].dropna() if abs(end) <= reach]
    return difference_axis([*values, *(ends if rows["ci_low"].notna().any() else [])])


def draw_differences(table) -> CategoryPanels:
    """Draw the figure of ``analysis/size_differences.csv``."""
    apply_style()
    plan, sizes = list(_panels_of(table)), sorted(table["message_bytes"].unique())
    drawn = CategoryPanels(TITLE, len(plan), 3, columns=min(3, len(plan)) or 1)
    for panel in plan:
        axes = drawn.add(panel.name, panel.second_line, _axis_of(panel))
        size_slots(axes, sizes)
        axes.axhline(0, color=LIGHT.muted, lw=0.7, zorder=1)
        lines, key = _draw_panel(axes, panel, sizes)
        drawn.finish(axes, f"{panel.name}: {panel.second_line}. {'; '.join(lines)}.", key)
    return drawn


def _draw_panel(axes, panel, sizes):
    """Draw the lines of a panel; return their descriptions and the entries of the panel's key."""
    lines, key = [], []
    for name, look_of, platform, rows in _lines_of(panel.rows):
        draw_line(axes, rows, sizes, look_of, CALCULATED)
        shown = draw_cells(axes, rows, sizes, look_of, platform, panel.value)
        lines.append(f"{name}{shown[shown.index(':') :]}")
        key.append(entry(name, COLOURS[look_of], *look(platform)))
    if panel.rows[CALCULATED].notna().any():
        key.append(entry("header", LIGHT.muted, line=DASHES, width=0.9))
    return lines, key


def _lines_of(rows):
    """Yield (name, IP version, platform, rows) for each line of a panel; IP version and platform determine the line's style.

    The rows are ordered by size. A comparison of platforms is shown as one line per IP version. A comparison of IP versions is shown as one
    line per environment, in the style of an IP version.
    """
    of_platforms = rows["question"].iloc[0] == PLATFORM
    for level, line in rows.groupby("ip_version" if of_platforms else "background", sort=False):
        records = line.sort_values("message_bytes").to_dict("records")
        if of_platforms:
            yield ip_words(level), level, rows["second"].iloc[0], records
        else:
            yield ENVIRONMENTS[level], dict(zip(ENVIRONMENTS, COLOURS, strict=True))[level], "uml", records


def plot_size_differences(size_differences) -> Drawing:
    """Return the figure and its data."""
    drawn = draw_differences(size_differences)
    asked = size_differences["question"].isin((IP_VERSION, PLATFORM))
    return drawn.drawing(TITLE, size_differences[asked])
