"""Draw how busy the cores are against the number of paths, by CCA: the paper's figure 7, and the number of paths of its figures 5 and 6."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots
from figure_parts.figure_svg import save_figure
from path_environments import with_conditions, with_platform
from report_parts.multipath_columns import AGGREGATION
from run_tables.tidy_columns import read_table
from scenario_words import rate_words

#: Value -> its interval, and what it is.
SHOWN = {
    "cpu_busy_percent": ("cpu_busy_low", "cpu_busy_high", "Busy, % of the cores"),
    "cpu_seconds_per_gbyte": ("", "", "CPU seconds a GB"),
}
COLUMNS = [
    "scenario", "cca", "ip_version", "environment", "joined", "rate_mbps", "platform", "conditions", "paths", "n",
    "goodput_mbps", "cpu_busy_percent", "cpu_busy_low", "cpu_busy_high", "cpu_seconds_per_gbyte",
]  # fmt: skip
SINGLE = "TCP"


def shown_rows(table):
    """Return the rows that are drawn: iperf3 over paths of equal delay on platforms where CPU time is measured."""
    return table[(table["platform"] == "host") & (table["even"] == "True") & (table["application"] == "iperf3")]


def draw_cpu_use(table):
    """Draw the figure: for what joins the paths and each IP version a panel for each of `SHOWN`, with the single path.

    Parameters
    ----------
    table : pandas.DataFrame
        As `shown_rows` gives.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    joined, single = table[table["by"] != "none"], table[table["by"] == "none"]

    def panels(drawn, ccas, mine):
        first = mine.iloc[0]
        numbers = sorted(int(paths) for paths in mine["paths"].unique())
        alike = single[single["scenario"].isin(mine["baseline"]) & (single["ip_version"] == first["ip_version"])]
        rows = by_slot(mine, lambda row: 1 + numbers.index(int(row["paths"]))) | by_slot(alike, lambda row: 0)
        name = f"{first['joined']} ({first['environment']})"
        for value, (low, high, what) in SHOWN.items():
            axis = linear_axis(0, max(0.1, table[value].max() if table[value].notna().any() else 0.1))
            second = with_conditions(f"{what}; paths of {rate_words(first['rate_mbps'])}", first["conditions"])
            axes = drawn.add(with_platform(name, "host", table["platform"]), second, axis)
            words = draw_slots(axes, [SINGLE, *map(str, numbers)], ccas, rows, value, low, high, "paths")
            which = with_conditions(name, first["conditions"])
            drawn.finish(axes, f"{what}, {which}, by number of paths. {words or 'No data.'}", cca_entries(ccas))

    title = "CPU time, by number of paths"
    by = ["joined", "rate_mbps", "conditions", "ip_version"]
    return draw_groups(title, joined, by, panels, panels_each=len(SHOWN))


def main(inputs, outputs):
    """Read the aggregation, write figure and data."""
    table = shown_rows(read_table(inputs.aggregation, AGGREGATION))
    figure, views = draw_cpu_use(table)
    save_figure(figure, views, "CPU time by number of paths", table[COLUMNS], outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
