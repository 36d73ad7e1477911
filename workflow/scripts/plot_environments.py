"""Draw the goodput of each CCA in each environment over most paths, by application: the paper's figure 2."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

import matplotlib.pyplot as plt
from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.cca_slots import cca_entries, draw_slots, empty_panel, step
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import save_svg
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
    """Draw the figure.

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
    groups = list(table.groupby(["application", "rate_mbps", "platform"], sort=False))
    ccas = list(dict.fromkeys(table["cca"]))
    drawn = CategoryPanels("Goodput of each CCA by environment, Mbit/s", max(1, len(groups)), len(ccas), columns=2)
    for (application, rate_mbps, platform), mine in groups:
        environments = environments_of(mine["environment"])
        tops = mine[["goodput_mbps", "ceiling_mbps"]].max()
        name = f"{'FTP' if application == 'ftp' else application}, {count(int(mine['paths'].iloc[0]), 'path')}"
        axes = drawn.add(with_platform(name, platform, table["platform"]), f"{rate_words(rate_mbps)} each", linear_axis(0, max(1.0, *tops.fillna(0))))
        rows = {(environments.index(row["environment"]), row["cca"]): row for row in mine.to_dict("records")}
        names = [environment.replace("_", "\n") for environment in environments]
        words = draw_slots(axes, names, ccas, rows, "goodput_mbps", "goodput_low", "goodput_high")
        for slot, environment in enumerate(environments):
            step(axes, slot, mine.loc[mine["environment"] == environment, "ceiling_mbps"].mean())
        drawn.finish(axes, f"Goodput in Mbit/s, {name}. {words or 'No data.'}", cca_entries(ccas))
    if not groups:
        empty_panel(drawn)
    return drawn.figure, drawn.panels


def main(inputs, outputs):
    """Read the aggregation, write figure and data."""
    table = shown_rows(read_table(inputs.aggregation, AGGREGATION))
    figure, views = draw_environments(table)
    save_svg(figure, outputs.figure, "Goodput of each CCA by environment", views)
    plt.close(figure)
    table[SHOWN].to_csv(outputs.data, index=False, lineterminator="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
