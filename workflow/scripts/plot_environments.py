"""Draw the goodput of each CCA in each environment over most paths, by application: the paper's figure 2."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots, step
from figure_parts.figure_svg import save_figure
from number_format import count
from path_environments import environments_of, with_conditions, with_platform
from report_parts.multipath_columns import AGGREGATION
from run_tables.tidy_columns import read_table
from scenario_words import rate_words

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "application", "rate_mbps", "conditions", "paths", "n",
    "goodput_mbps", "goodput_low", "goodput_high", "ceiling_mbps",
]  # fmt: skip


def shown_rows(table):
    """Return the rows that are drawn: over as many paths of equal delay as there are."""
    joined = table[(table["by"] != "none") & (table["even"] == "True")]
    return joined[joined["paths"] == joined["paths"].max()]


def draw_environments(table):
    """Draw the figure: a panel for each application, rate, further conditions and distribution over the tunnels.

    Parameters
    ----------
    table : pandas.DataFrame
        As `shown_rows` gives.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """

    def panel(drawn, ccas, mine):
        first = mine.iloc[0]
        environments = environments_of(mine["environment"])
        name = f"{'FTP' if first['application'] == 'ftp' else first['application']}, {count(int(first['paths']), 'path')}"
        tops = mine[["goodput_mbps", "ceiling_mbps"]].max().fillna(0)
        second = with_conditions(f"{rate_words(first['rate_mbps'])} each", first["conditions"])
        named = with_platform(name, first["platform"], table["platform"])
        axes = drawn.add(named, second, linear_axis(0, max(1.0, *tops)))
        rows = by_slot(mine, lambda row: environments.index(row["environment"]))
        names = [environment.replace("_", "\n") for environment in environments]
        words = draw_slots(axes, names, ccas, rows, "goodput_mbps", "goodput_low", "goodput_high")
        for slot, environment in enumerate(environments):
            step(axes, slot, mine.loc[mine["environment"] == environment, "ceiling_mbps"].mean())
        which = with_conditions(name, first["conditions"])
        drawn.finish(axes, f"Goodput in Mbit/s, {which}. {words or 'No data.'}", cca_entries(ccas))

    title = "Goodput of each CCA by environment, Mbit/s"
    return draw_groups(title, table, ["application", "rate_mbps", "platform", "conditions", "distribution"], panel)


def main(inputs, outputs):
    """Read the aggregation, write figure and data."""
    table = shown_rows(read_table(inputs.aggregation, AGGREGATION))
    figure, views = draw_environments(table)
    save_figure(figure, views, "Goodput of each CCA by environment", table[SHOWN], outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
