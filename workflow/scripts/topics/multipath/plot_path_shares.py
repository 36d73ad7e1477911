"""Plot the share of packets that each path carried, by CCA."""

import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import level
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import PanelFigure
from topics.multipath.path_environments import longer_words, with_conditions, with_platform

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "rate_mbps", "conditions", "paths", "path_delay_ms", "path", "n",
    "packets", "share_percent", "share_lowest", "share_highest",
]  # fmt: skip


def shown_rows(table) -> pd.DataFrame:
    """Return the rows to plot: iperf3 over the largest number of paths."""
    joined = table[(table["by"] != "none") & (table["application"] == "iperf3")]
    return joined[joined["paths"] == joined["paths"].max()]


def draw_path_shares(table) -> PanelFigure:
    """Draw the figure, one panel per scenario and IP version; ``table`` comes from `shown_rows`."""
    axis = linear_axis(0, max(50.0, table["share_highest"].max() if len(table) else 0))

    def panel(drawn, ccas, group):
        first, paths = group.iloc[0], int(group["paths"].iloc[0])
        delay = with_conditions(longer_words(first["path_delay_ms"]) or "all paths alike", first["conditions"])
        axes = drawn.add(with_platform(first["environment"], first["platform"], table["platform"]), delay, axis)
        rows = by_slot(group, lambda row: int(row["path"]) - 1)
        names = [str(path + 1) for path in range(paths)]
        words = draw_slots(axes, names, ccas, rows, "share_percent", "share_lowest", "share_highest", "path")
        level(axes, 100 / paths)
        drawn.finish(
            axes, f"Share of the packets on each path in %, {first['environment']}, {delay}. {words}", cca_entries(ccas)
        )

    return draw_groups("Share of the packets on each path, %", table, ["scenario", "ip_version"], panel)


def plot_path_shares(path_shares) -> Drawing:
    """Return the figure and its data."""
    table = shown_rows(path_shares)
    return draw_path_shares(table).drawing("Share of the packets on each path, by CCA", table[SHOWN])
