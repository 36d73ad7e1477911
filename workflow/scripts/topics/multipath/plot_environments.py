"""Plot the goodput of each CCA in each environment, with one panel per application: figure 2 of the paper.

Only cells with the largest number of paths are plotted.
"""

import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots, step
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import PanelFigure
from topics.multipath.path_environments import environments_of, with_conditions, with_platform
from wording.number_format import count
from wording.scenario_words import rate_words

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "application", "rate_mbps", "conditions", "paths", "n",
    "goodput_mbps", "goodput_low", "goodput_high", "ceiling_mbps",
]  # fmt: skip


def shown_rows(table) -> pd.DataFrame:
    """Return the rows to plot: multipath cells in which all paths are alike and the number of paths is largest."""
    joined = table[(table["by"] != "none") & table["even"]]
    return joined[joined["paths"] == joined["paths"].max()]


def draw_environments(table) -> PanelFigure:
    """Draw one panel per application, rate, platform, set of further conditions and method of distributing traffic over tunnels.

    ``table`` comes from `shown_rows`.
    """

    def panel(drawn, ccas, group):
        first = group.iloc[0]
        environments = environments_of(group["environment"])
        application = "FTP" if first["application"] == "ftp" else first["application"]
        name = f"{application}, {count(int(first['paths']), 'path')}"
        tops = group[["goodput_mbps", "ceiling_mbps"]].max().fillna(0)
        second = with_conditions(f"{rate_words(first['rate_mbps'])} each", first["conditions"])
        named = with_platform(name, first["platform"], table["platform"])
        axes = drawn.add(named, second, linear_axis(0, max(1.0, *tops)))
        rows = by_slot(group, lambda row: environments.index(row["environment"]))
        names = [environment.replace("_", "\n") for environment in environments]
        words = draw_slots(axes, names, ccas, rows, "goodput_mbps", "goodput_low", "goodput_high")
        for slot, environment in enumerate(environments):
            step(axes, slot, group.loc[group["environment"] == environment, "ceiling_mbps"].mean())
        which = with_conditions(name, first["conditions"])
        drawn.finish(axes, f"Goodput in Mbit/s, {which}. {words or 'No data.'}", cca_entries(ccas))

    title = "Goodput of each CCA by environment, Mbit/s"
    return draw_groups(title, table, ["application", "rate_mbps", "platform", "conditions", "distribution"], panel)


def plot_environments(aggregation) -> Drawing:
    """Return the figure and its data."""
    table = shown_rows(aggregation)
    return draw_environments(table).drawing("Goodput of each CCA by environment", table[SHOWN])
