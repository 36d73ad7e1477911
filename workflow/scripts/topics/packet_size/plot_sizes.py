"""Plot throughput or round-trip time against message size: measured, calculated, and as printed in a paper."""

import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import Drawing
from topics.packet_size.size_panels import (
    ASIDE,
    COLOURS,
    SHIFTS,
    by_traffic,
    draw_cells,
    draw_line,
    keys_of,
    size_slots,
)
from topics.packet_size.traffic import ENVIRONMENTS, THROUGHPUT, TRAFFIC
from wording.number_format import is_missing


def draw_sizes(cells, title) -> CategoryPanels:
    """Draw the figure for the cells of one or both platforms, by traffic, environment and network."""
    apply_style()
    sizes = sorted(cells["message_bytes"].unique())
    plan = list(_plan(cells))
    ip_versions, platforms = list(cells["ip_version"].unique()), sorted(cells["platform"].unique(), reverse=True)
    # Of the printed values, only throughput is plotted: the paper's round-trip times are about a hundred times as long as ours.
    printed = cells["printed_mean"].where(cells["metric"] == THROUGHPUT.metric)
    key = keys_of(ip_versions, platforms, cells["calculated"].notna().any(), printed.notna().any())
    drawn = CategoryPanels(title, len(plan), len(key), columns=min(2, len(plan)) or 1)
    values = pd.concat([cells["mean"], cells["calculated"], printed]).dropna()
    low, high = (values.min(), values.max()) if len(values) else (0, 1)
    axis = linear_axis(0 if low < 0.4 * high else low, high)
    for traffic, where, panel in plan:
        unit = TRAFFIC[traffic].quantity.unit
        axes = drawn.add(f"{TRAFFIC[traffic].name}, {where}", unit, axis)
        size_slots(axes, sizes)
        lines = []
        for place, platform in enumerate(platforms):
            for ip_version in ip_versions:
                line = panel[(panel["platform"] == platform) & (panel["ip_version"] == ip_version)]
                rows = line.sort_values("message_bytes").to_dict("records")
                draw_line(axes, rows, sizes, ip_version, "calculated")
                lines.append(f"{platform}, {draw_cells(axes, rows, sizes, ip_version, platform, aside=place * ASIDE)}")
                if place == 0 and printed.notna().any():
                    _mark_printed(axes, rows, sizes, ip_version)
        what = f"{title} in {unit} for {', '.join(f'{size:g}' for size in sizes)} bytes"
        drawn.finish(axes, f"{what}, {where}. {'; '.join(lines)}.", key)
    return drawn


def _plan(cells):
    """Yield (traffic, title, cells) for each panel; the title names the environment, and the network if there are several."""
    for traffic, network, rows in by_traffic(cells):
        for background, environment in ENVIRONMENTS.items():
            of_environment = rows[rows["background"] == background]
            if len(of_environment):
                yield traffic, ", ".join(filter(None, (environment, network))), of_environment


def _mark_printed(axes, rows, sizes, ip_version):
    """Draw the means that a paper prints, slightly to the side of the measured means."""
    look = {"ls": "none", "marker": "x", "ms": 4.2, "mew": 1.1, "color": COLOURS[ip_version], "zorder": 3}
    for row in rows:
        if not is_missing(row["printed_mean"]):
            axes.plot([sizes.index(row["message_bytes"]) + 2 * SHIFTS[ip_version]], [row["printed_mean"]], **look)


def plot_sizes(size_cells, other_size_cells, traffics, what) -> Drawing:
    """Return the figure and its data."""
    cells = pd.concat([size_cells, *other_size_cells], ignore_index=True)
    cells = cells[cells["traffic"].isin(traffics)]
    title = f"{what[0].upper()}{what[1:]}"
    return draw_sizes(cells, title).drawing(title, cells)
