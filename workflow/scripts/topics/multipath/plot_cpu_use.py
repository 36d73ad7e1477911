"""Plot CPU use against the number of paths, by CCA.

This is the paper's figure 7, with the path counts of the paper's figures 5 and 6.
"""

import pandas as pd

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import PanelFigure
from topics.multipath.path_environments import with_conditions, with_platform
from wording.scenario_words import rate_words

#: Column of a value -> columns of its interval, and its description.
SHOWN = {
    "cpu_busy_percent": ("cpu_busy_low", "cpu_busy_high", "Busy, % of the cores"),
    "cpu_seconds_per_gbyte": ("", "", "CPU seconds per GB"),
}
COLUMNS = [
    "scenario", "cca", "ip_version", "environment", "joined", "rate_mbps", "platform", "conditions", "paths", "n",
    "goodput_mbps", "cpu_busy_percent", "cpu_busy_low", "cpu_busy_high", "cpu_seconds_per_gbyte",
]  # fmt: skip


def shown_rows(table) -> pd.DataFrame:
    """Return the rows to plot: iperf3 over paths that are alike, on platforms that measure CPU time."""
    return table[(table["platform"] == "host") & table["even"] & (table["application"] == "iperf3")]


def draw_cpu_use(table) -> PanelFigure:
    """Draw one panel per aggregation technique, rate, set of further conditions, IP version and entry of `SHOWN`.

    ``table`` comes from `shown_rows`.
    """
    joined, single = table[table["by"] != "none"], table[table["by"] == "none"]

    def panels(drawn, ccas, group):
        first = group.iloc[0]
        numbers = sorted(int(paths) for paths in group["paths"].unique())
        alike = single[single["scenario"].isin(group["baseline"]) & (single["ip_version"] == first["ip_version"])]
        rows = by_slot(group, lambda row: 1 + numbers.index(int(row["paths"]))) | by_slot(alike, lambda row: 0)
        name = f"{first['joined']} ({first['environment']})"
        for value, (low, high, what) in SHOWN.items():
            axis = linear_axis(0, max(0.1, table[value].max() if table[value].notna().any() else 0.1))
            second = with_conditions(f"{what}; paths of {rate_words(first['rate_mbps'])}", first["conditions"])
            axes = drawn.add(with_platform(name, "host", table["platform"]), second, axis)
            words = draw_slots(axes, ["TCP", *map(str, numbers)], ccas, rows, value, low, high, "paths")
            which = with_conditions(name, first["conditions"])
            drawn.finish(axes, f"{what}, {which}, by number of paths. {words or 'No data.'}", cca_entries(ccas))

    by = ["joined", "rate_mbps", "conditions", "ip_version"]
    return draw_groups("CPU time, by number of paths", joined, by, panels, panels_each=len(SHOWN))


def plot_cpu_use(aggregation) -> Drawing:
    """Return the figure and its data."""
    table = shown_rows(aggregation)
    return draw_cpu_use(table).drawing("CPU time by number of paths", table[COLUMNS])
