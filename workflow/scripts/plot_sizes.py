"""Draw throughput or round-trip time against the size of messages: measured, calculated, and as printed in a paper."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

import pandas as pd
from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import save_figure
from figure_parts.size_panels import ASIDE, COLOURS, SHIFTS, draw_cells, draw_line, keys_of, size_slots
from number_format import is_missing
from run_tables.tidy_columns import read_table
from size_tables.size_columns import SIZE_CELLS
from size_tables.size_words import ENVIRONMENTS, TRAFFIC_NAMES, network_words, of_network

#: Figure -> the traffic of its rows of panels, and title. The paper's round-trip times are a hundred times ours, and not drawn.
FIGURES = {
    "size-tcp-throughput": (("tcp", "tcp-segments"), "Throughput of TCP"),
    "size-udp-throughput": (("udp",), "Throughput of UDP"),
    "size-tcp-rtt": (("tcp-rtt",), "Round-trip time of TCP"),
    "size-udp-rtt": (("udp-rtt",), "Round-trip time of UDP"),
}


def draw_sizes(cells, traffics, title):
    """Draw the figure of cells of one or both platforms, by traffic, environment, network; return it and its panels."""
    apply_style()
    sizes = sorted(cells["message_bytes"].unique())
    plan = list(_plan(cells, traffics))
    ip_versions, platforms = list(cells["ip_version"].unique()), sorted(cells["platform"].unique(), reverse=True)
    calculated, printed = cells["calculated"].notna().any(), _prints(cells).notna().any()
    key = keys_of(ip_versions, platforms, calculated, printed)
    drawn = CategoryPanels(title, len(plan), len(key), columns=min(2, len(plan)) or 1)
    known = pd.concat([cells["mean"], cells["calculated"], _prints(cells)]).dropna()
    axis = linear_axis(0 if known.min() < 0.4 * known.max() else known.min(), known.max()) if len(known) else linear_axis(0, 1)
    for traffic, where, mine in plan:
        unit = mine["unit"].iloc[0]
        axes = drawn.add(f"{TRAFFIC_NAMES[traffic]}, {where}", unit, axis)
        size_slots(axes, sizes)
        words = []
        for number_of, platform in enumerate(platforms):
            for ip_version in ip_versions:
                rows = mine[(mine["platform"] == platform) & (mine["ip_version"] == ip_version)].sort_values("message_bytes").to_dict("records")
                draw_line(axes, rows, sizes, ip_version, "calculated")
                words.append(f"{platform}, {draw_cells(axes, rows, sizes, ip_version, platform, aside=number_of * ASIDE)}")
                if platform == platforms[0] and printed:
                    _printed(axes, rows, sizes, ip_version)
        what = f"{title} in {unit} for {', '.join(f'{size:g}' for size in sizes)} bytes"
        drawn.finish(axes, f"{what}, {where}. {'; '.join(words)}.", key)
    return drawn.figure, drawn.panels


def _plan(cells, traffics):
    """Yield each panel's traffic, environment (and network, where there are several) in words, and cells."""
    networks = network_words(cells)
    for traffic in traffics:
        for network, name in networks.items():
            for background, environment in ENVIRONMENTS.items():
                rows = of_network(cells[(cells["traffic"] == traffic) & (cells["background"] == background)], network)
                if len(rows):
                    yield traffic, f"{environment}, {name}" if name else environment, rows


def _prints(cells):
    """Return what is printed and drawn: throughput."""
    return cells["printed_mean"].where(cells["metric"] == "goodput_mbps")


def _printed(axes, rows, sizes, ip_version):
    """Mark a paper's means, a little outside of ours."""
    for row in rows:
        if not is_missing(row["printed_mean"]):
            place = sizes.index(row["message_bytes"]) + 2 * SHIFTS[ip_version]
            axes.plot([place], [row["printed_mean"]], ls="none", marker="x", ms=4.2, mew=1.1, color=COLOURS[ip_version], zorder=3)


def main(inputs, outputs, params):
    """Read cells of this study, and of that on the other platform if it is there; write figure and data."""
    traffics, title = FIGURES[params.shown]
    tables = [read_table(path, SIZE_CELLS) for path in (inputs.size_cells, *inputs.other)]
    cells = pd.concat(tables, ignore_index=True)
    cells = cells[cells["traffic"].isin(traffics)]
    figure, panels = draw_sizes(cells, traffics, title)
    save_figure(figure, panels, title, cells, outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
