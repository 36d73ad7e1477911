"""Draw the distribution of the flows' goodput as a box for each buffer: quartiles, lowest and highest, mean."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, level, upright
from figure_parts.figure_style import LIGHT, apply_style
from figure_parts.figure_svg import Panel, save_figure
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import CELL, FLOWS, RUN, SCENARIOS
from topics.buffers.flow_panels import draw_slots, fair_share, of_panels, panels_by_buffer
from wording.number_format import number
from wording.scenario_series import with_series
from wording.sentence_words import cca_name

HALF_BOX = 0.27
COLUMNS = [
    *CELL, "scenario_label", "platform", "series", "buffer", "flows", "replications", "min_mbps", "q1_mbps",
    "median_mbps", "q3_mbps", "max_mbps", "mean_mbps",
]  # fmt: skip


def flow_boxes(flows, valid, table) -> pd.DataFrame:
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
    rows = []
    for cell, group in flows.merge(valid[RUN], on=RUN).groupby(CELL, sort=False):
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


def draw_flow_boxes(boxes, runs, panels) -> tuple[Figure, list[Panel]]:
    """Draw the figure; parameters and result as of `plot_flow_bars.draw_flow_bars`."""
    apply_style()
    drawn = CategoryPanels("Distribution of the flows' goodput, Mbit/s", len(panels))
    cells = {tuple(row[name] for name in CELL): row for row in boxes.to_dict("records")}
    axis = linear_axis(0, max([float(row["max_mbps"]) for row in cells.values()], default=1.0) or 1.0)
    for panel in panels:
        axes = drawn.add(panel.title, panel.second, axis)
        words = draw_slots(axes, panel, cells, _box)
        level(axes, fair_share(runs, panel.scenarios))
        by = panel.below.split(",")[0]
        drawn.finish(axes, f"Goodput of the flows in Mbit/s, {panel.title}. By {by}: {words}.")
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
    ends = f"{number(row['min_mbps'])} to {number(row['max_mbps'])}, median {number(row['median_mbps'])}"
    return f"{ends}, mean {number(row['mean_mbps'])}"


def main(inputs, outputs, params) -> None:
    """Read runs, flows and scenarios, write figure and data."""
    runs, table = read_runs(inputs.runs), with_series(read_table(inputs.scenarios, SCENARIOS))
    flows = read_table(inputs.flows, FLOWS).astype({"replication": int})
    panels = list(panels_by_buffer(runs, table, params.cca))
    boxes = of_panels(flow_boxes(flows, runs[runs["valid"]], table), panels)
    figure, views = draw_flow_boxes(boxes, runs, panels)
    save_figure(figure, views, f"Distribution of the flows' goodput by buffer, {cca_name(params.cca)}", boxes, outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
