"""Plot the total goodput over unequal paths, relative to the goodput over the best single path."""

import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots
from figure_parts.figure_style import LIGHT
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import PanelFigure
from topics.multipath.path_environments import environments_of, with_platform

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "joined", "platform", "paths", "n", "goodput_mbps", "best_path", "best_mbps",
    "sum_mbps", "best_factor", "best_factor_low", "best_factor_high",
]  # fmt: skip
TITLE = "Goodput relative to the best single path"


def shown_rows(table) -> pd.DataFrame:
    """Return the rows to plot: cells with unequal paths for which there are also results over each of these paths alone."""
    return table[(table["by"] != "none") & table["best_factor"].notna()]


def draw_unlike_paths(table) -> PanelFigure:
    """Draw the figure, with one panel per scenario and one slot per environment; ``table`` comes from `shown_rows`."""
    top = max(1.0, *(table[name].max() for name in ("best_factor", "best_factor_high"))) if len(table) else 1.0

    def panel(drawn, ccas, group):
        environments = environments_of(group["environment"])
        named = with_platform(group["scenario_label"].iloc[0], group["platform"].iloc[0], table["platform"])
        axes = drawn.add(named, f"{group['joined'].iloc[0]}, times the best single path", linear_axis(0, top))
        rows = by_slot(group, lambda row: environments.index(row["environment"]))
        ends = ("best_factor", "best_factor_low", "best_factor_high")
        words = draw_slots(axes, [name.replace("_", "\n") for name in environments], ccas, rows, *ends)
        axes.axhline(1, color=LIGHT.line, lw=1.2, zorder=0.5)
        drawn.finish(axes, f"{TITLE}, {named}. {words or 'No data.'}", cca_entries(ccas))

    return draw_groups(TITLE, table, ["scenario", "platform"], panel)


def plot_unlike_paths(aggregation) -> Drawing:
    """Return the figure and its data."""
    table = shown_rows(aggregation)
    return draw_unlike_paths(table).drawing(TITLE, table[SHOWN])
