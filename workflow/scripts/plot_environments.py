"""Draw the goodput of each CCA in each environment over most paths, by application: the paper's figure 2."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.axis_scales import linear_axis
from figure_parts.cca_slots import cca_entries, draw_groups, draw_slots, step
from figure_parts.figure_svg import save_figure
from number_format import count
from path_environments import environments_of, with_platform
from report_parts.multipath_columns import AGGREGATION
from run_tables.tidy_columns import read_table
from scenario_words import rate_words

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "application", "rate_mbps", "paths", "n", "goodput_mbps", "goodput_low",
    "goodput_high", "ceiling_mbps",
]  # fmt: skip


def shown_rows(table):
    """Return the rows that are drawn: over as many paths of equal delay as there are."""
    joined = table[(table["by"] != "none") & (table["even"] == "True")]
    return joined[joined["paths"] == joined["paths"].max()]


def draw_environments(table):
    """Draw the figure, a panel for each application and rate of the paths; ``table`` as `shown_rows` gives."""

    def panel(drawn, ccas, mine):
        first = mine.iloc[0]
        environments = environments_of(mine["environment"])
        name = f"{'FTP' if first['application'] == 'ftp' else first['application']}, {count(int(first['paths']), 'path')}"
        tops = mine[["goodput_mbps", "ceiling_mbps"]].max().fillna(0)
        titles = with_platform(name, first["platform"], table["platform"]), f"{rate_words(first['rate_mbps'])} each"
        axes = drawn.add(*titles, linear_axis(0, max(1.0, *tops)))
        rows = {(environments.index(row["environment"]), row["cca"]): row for row in mine.to_dict("records")}
        names = [environment.replace("_", "\n") for environment in environments]
        words = draw_slots(axes, names, ccas, rows, "goodput_mbps", "goodput_low", "goodput_high")
        for slot, environment in enumerate(environments):
            step(axes, slot, mine.loc[mine["environment"] == environment, "ceiling_mbps"].mean())
        drawn.finish(axes, f"Goodput in Mbit/s, {name}. {words or 'No data.'}", cca_entries(ccas))

    title = "Goodput of each CCA by environment, Mbit/s"
    return draw_groups(title, table, ["application", "rate_mbps", "platform"], panel)


def main(inputs, outputs):
    """Read the aggregation, write figure and data."""
    table = shown_rows(read_table(inputs.aggregation, AGGREGATION))
    figure, views = draw_environments(table)
    save_figure(figure, views, "Goodput of each CCA by environment", table[SHOWN], outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
