"""Draw the distribution of the flows' goodput as a box for each buffer: quartiles, lowest and highest, mean."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

import pandas as pd
from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, level, nothing, slots, upright
from figure_parts.figure_style import LIGHT, apply_style, cca_colour
from figure_parts.figure_svg import save_figure
from matplotlib.patches import Rectangle
from number_format import number
from plot_flow_bars import fair_share, panels_by_buffer
from report_parts.sentence_words import cca_name
from run_tables.tidy_columns import CELL, FLOW_GOODPUTS, SCENARIOS, read_runs, read_table
from scenario_series import with_series

HALF_BOX = 0.27
COLUMNS = [
    *CELL, "scenario_label", "platform", "series", "buffer", "flows", "replications", "min_mbps", "q1_mbps",
    "median_mbps", "q3_mbps", "max_mbps", "mean_mbps",
]  # fmt: skip


def flow_boxes(flows, valid, table):
    """Describe all flows of a cell's valid runs together, as a box shows them.

    Parameters
    ----------
    flows, valid, table : pandas.DataFrame
        As for `flow_ranks.flow_ranks`.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`, a row a cell; `flows` are those of all its valid replications.
    """
    named = table.set_index("scenario")
    mine = flows.merge(valid[[*CELL, "replication"]], on=[*CELL, "replication"])
    rows = []
    for cell, group in mine.groupby(CELL, sort=False):
        values = group["goodput_mbps"]
        place, quartiles = named.loc[cell[0]], values.quantile([0.25, 0.5, 0.75])
        rows.append(
            {
                **dict(zip(CELL, cell, strict=True)), "scenario_label": place["label"],
                **{name: place[name] for name in ("platform", "series", "buffer")},
                "flows": len(values), "replications": group["replication"].nunique(),
                "min_mbps": values.min(), "max_mbps": values.max(), "mean_mbps": values.mean(),
                **dict(zip(("q1_mbps", "median_mbps", "q3_mbps"), quartiles, strict=True)),
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def draw_flow_boxes(boxes, runs, panels):
    """Draw the figure; parameters and result as of `plot_flow_bars.draw_flow_bars`."""
    apply_style()
    drawn = CategoryPanels("Distribution of the flows' goodput, Mbit/s", len(panels))
    cells = {tuple(row[name] for name in CELL): row for row in boxes.to_dict("records")}
    axis = linear_axis(0, max([float(row["max_mbps"]) for row in cells.values()], default=1.0) or 1.0)
    for title, second, members, names, below in panels:
        axes = drawn.add(title, second, axis)
        slots(axes, names, below)
        words = []
        for place, cell in enumerate(members):
            if cell[0] is None:
                continue
            row = cells.get(cell)
            if row is None:
                nothing(axes, place)
                words.append(f"{names[place]}: no valid run")
                continue
            _box(axes, place, row, cca_colour(cell[1]))
            ends = f"{number(row['min_mbps'])} to {number(row['max_mbps'])}, median {number(row['median_mbps'])}"
            words.append(f"{names[place]}: {ends}, mean {number(row['mean_mbps'])}")
        level(axes, fair_share(runs, members))
        drawn.finish(axes, f"Goodput of the flows in Mbit/s, {title}. By {below.split(',')[0]}: {'; '.join(words)}.")
    return drawn.figure, drawn.panels


def _box(axes, place, row, colour):
    upright(axes, [place] * 2, [row["min_mbps"], row["q3_mbps"]], [row["q1_mbps"], row["max_mbps"]], width=0.9)
    for end in ("min_mbps", "max_mbps"):
        axes.plot([place - 0.12, place + 0.12], [row[end]] * 2, color=LIGHT.ink, lw=0.9, zorder=3)
    axes.add_patch(
        Rectangle(
            (place - HALF_BOX, row["q1_mbps"]), 2 * HALF_BOX, row["q3_mbps"] - row["q1_mbps"],
            fc=LIGHT.paper, ec=colour, lw=1.1, zorder=3,
        )
    )  # fmt: skip
    axes.plot([place - HALF_BOX, place + HALF_BOX], [row["median_mbps"]] * 2, color=colour, lw=2, zorder=3.5)
    axes.plot([place], [row["mean_mbps"]], ls="none", marker="x", ms=5, mew=1.3, mec=LIGHT.ink, zorder=4)


def main(inputs, outputs, params):
    """Read runs, flows and scenarios, write figure and data."""
    runs, table = read_runs(inputs.runs), with_series(read_table(inputs.scenarios, SCENARIOS))
    flows = read_table(inputs.flows, FLOW_GOODPUTS).astype({"replication": int})
    panels = list(panels_by_buffer(runs, table, params.cca))
    wanted = {cell for panel in panels for cell in panel[2]}
    boxes = flow_boxes(flows, runs[runs["valid"]], table)
    boxes = boxes[[tuple(row[name] for name in CELL) in wanted for row in boxes.to_dict("records")]]
    figure, views = draw_flow_boxes(boxes, runs, panels)
    save_figure(figure, views, f"Distribution of the flows' goodput by buffer, {cca_name(params.cca)}", boxes, outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
