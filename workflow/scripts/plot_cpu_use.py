"""Draw how busy the cores are against the number of paths, by CCA: the paper's figure 7, and the number of paths of its figures 5 and 6."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

import matplotlib.pyplot as plt
from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.cca_slots import cca_entries, draw_slots, empty_panel
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import save_svg
from path_environments import with_platform
from report_parts.multipath_columns import AGGREGATION
from run_tables.tidy_columns import read_table
from scenario_words import rate_words

#: Value -> its interval, and what it is.
SHOWN = {
    "cpu_busy_percent": ("cpu_busy_low", "cpu_busy_high", "Busy, % of the cores"),
    "cpu_seconds_per_gbyte": ("", "", "CPU seconds a GB"),
}
COLUMNS = [
    "scenario", "cca", "ip_version", "environment", "joined", "rate_mbps", "platform", "paths", "n", "goodput_mbps",
    "cpu_busy_percent", "cpu_busy_low", "cpu_busy_high", "cpu_seconds_per_gbyte",
]  # fmt: skip
SINGLE = "TCP"


def shown_rows(table):
    """Return the rows that are drawn: iperf3 over paths of equal delay on platforms where CPU time is measured."""
    return table[(table["platform"] == "host") & (table["even"] == "True") & (table["application"] == "iperf3")]


def draw_cpu_use(table):
    """Draw the figure: for what joins the paths and each IP version a panel for each of `SHOWN`.

    Parameters
    ----------
    table : pandas.DataFrame
        As `shown_rows` gives.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    joined, single = table[table["by"] != "none"], table[table["by"] == "none"]
    groups = list(joined.groupby(["joined", "rate_mbps", "ip_version"], sort=False))
    ccas = list(dict.fromkeys(table["cca"]))
    drawn = CategoryPanels("CPU time, by number of paths", max(1, len(SHOWN) * len(groups)), len(ccas), columns=2)
    for (_, rate_mbps, ip_version), mine in groups:
        numbers = sorted(int(paths) for paths in mine["paths"].unique())
        rows = {(1 + numbers.index(int(row["paths"])), row["cca"]): row for row in mine.to_dict("records")}
        alike = single[(single["ip_version"] == ip_version) & (single["rate_mbps"] == rate_mbps)]
        rows |= {(0, row["cca"]): row for row in alike.to_dict("records")}
        for value, (low, high, what) in SHOWN.items():
            axis = linear_axis(0, max(0.1, table[value].max() if table[value].notna().any() else 0.1))
            name = f"{mine['joined'].iloc[0]} ({mine['environment'].iloc[0]})"
            axes = drawn.add(with_platform(name, "host", table["platform"]), f"{what}; paths of {rate_words(rate_mbps)}", axis)
            names = [SINGLE, *map(str, numbers)]
            words = draw_slots(axes, names, ccas, rows, value, low, high, "paths")
            drawn.finish(axes, f"{what}, {name}, by number of paths. {words or 'No data.'}", cca_entries(ccas))
    if not groups:
        empty_panel(drawn)
    return drawn.figure, drawn.panels


def main(inputs, outputs):
    """Read the aggregation, write figure and data."""
    table = shown_rows(read_table(inputs.aggregation, AGGREGATION))
    figure, views = draw_cpu_use(table)
    save_svg(figure, outputs.figure, "CPU time by number of paths", views)
    plt.close(figure)
    table[COLUMNS].to_csv(outputs.data, index=False, lineterminator="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
