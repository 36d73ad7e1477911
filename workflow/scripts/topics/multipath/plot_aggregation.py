"""Plot the goodput over several paths, relative to the goodput over a single path, against the number of paths."""

import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots, step
from figure_parts.figure_style import LIGHT
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import PanelFigure
from topics.multipath.path_environments import with_conditions, with_platform
from wording.scenario_words import rate_words

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "joined", "rate_mbps", "platform", "conditions", "paths", "n",
    "factor", "factor_low", "factor_high", "ceiling_factor",
]  # fmt: skip
TITLE = "Goodput relative to a single path"


def shown_rows(table) -> pd.DataFrame:
    """Return the rows to plot: iperf3 over paths that are alike, provided that the study varies the number of paths."""
    joined = table[(table["by"] != "none") & table["even"] & (table["application"] == "iperf3")]
    alike = ["joined", "rate_mbps", "platform", "conditions"]
    numbers = joined.groupby(alike, dropna=False)["paths"].transform("nunique")
    return joined[numbers > 1]


def draw_aggregation(table) -> PanelFigure:
    """Draw one panel per aggregation technique, rate, platform, set of further conditions and IP version.

    ``table`` comes from `shown_rows`.
    """

    def panel(drawn, ccas, group):
        first = group.iloc[0]
        numbers = sorted(int(paths) for paths in group["paths"].unique())
        name = f"{first['joined']} ({first['environment']})"
        second = with_conditions(f"paths of {rate_words(first['rate_mbps'])}", first["conditions"])
        named = with_platform(name, first["platform"], table["platform"])
        axes = drawn.add(named, second, linear_axis(0, max(numbers)))
        rows = by_slot(group, lambda row: numbers.index(int(row["paths"])))
        words = draw_slots(
            axes, [str(paths) for paths in numbers], ccas, rows, "factor", "factor_low", "factor_high", "paths"
        )
        axes.plot(range(len(numbers)), numbers, color=LIGHT.line, lw=1.2, zorder=0.5)
        for slot, paths in enumerate(numbers):
            step(axes, slot, group.loc[group["paths"] == paths, "ceiling_factor"].mean())
        which = with_conditions(name, first["conditions"])
        drawn.finish(axes, f"{TITLE}, {which}, by number of paths. {words or 'No data.'}", cca_entries(ccas))

    return draw_groups(TITLE, table, ["joined", "rate_mbps", "platform", "conditions", "ip_version"], panel)


def plot_aggregation(aggregation) -> Drawing:
    """Return the figure and its data."""
    table = shown_rows(aggregation)
    return draw_aggregation(table).drawing(f"{TITLE}, by number of paths", table[SHOWN])
