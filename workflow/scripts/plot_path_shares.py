"""Draw what share of the packets each path carried, by CCA."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import level
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots
from figure_parts.figure_svg import save_figure
from path_environments import longer_words, with_conditions, with_platform
from report_parts.multipath_columns import PATH_SHARES
from run_tables.tidy_columns import read_table

SHOWN = [
    "scenario", "cca", "ip_version", "environment", "rate_mbps", "conditions", "paths", "path_delay_ms", "path", "n",
    "packets", "share_percent", "share_lowest", "share_highest",
]  # fmt: skip


def shown_rows(table):
    """Return the rows that are drawn: iperf3 over as many paths as there are."""
    mine = table[(table["by"] != "none") & (table["application"] == "iperf3")]
    return mine[mine["paths"] == mine["paths"].max()]


def draw_path_shares(table):
    """Draw the figure, a panel for each scenario and IP version; ``table`` as `shown_rows` gives."""
    axis = linear_axis(0, max(50.0, table["share_highest"].max() if len(table) else 0))

    def panel(drawn, ccas, mine):
        first, paths = mine.iloc[0], int(mine["paths"].iloc[0])
        delay = with_conditions(longer_words(first["path_delay_ms"]) or "all paths alike", first["conditions"])
        axes = drawn.add(with_platform(first["environment"], first["platform"], table["platform"]), delay, axis)
        rows = by_slot(mine, lambda row: int(row["path"]) - 1)
        names = [str(path + 1) for path in range(paths)]
        words = draw_slots(axes, names, ccas, rows, "share_percent", "share_lowest", "share_highest", "path")
        level(axes, 100 / paths)
        drawn.finish(axes, f"Share of each path in the packets in %, {first['environment']}, {delay}. {words}", cca_entries(ccas))

    return draw_groups("Share of each path in the packets, %", table, ["scenario", "ip_version"], panel)


def main(inputs, outputs):
    """Read the shares, write figure and data."""
    table = shown_rows(read_table(inputs.path_shares, PATH_SHARES))
    figure, views = draw_path_shares(table)
    save_figure(figure, views, "Share of each path in the packets, by CCA", table[SHOWN], outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
