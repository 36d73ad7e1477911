"""Draw a box plot of the flows' goodputs for each buffer: quartiles, minimum, maximum and mean."""

import pandas as pd
from matplotlib.patches import Rectangle

from figure_parts.category_panels import upright
from figure_parts.figure_style import LIGHT
from figure_parts.figure_svg import Drawing
from figure_parts.tooltips import cell_name, tell
from run_tables.run_keys import CELL, RUN
from topics.buffers.compared_flows import at_centre
from topics.buffers.flow_panels import draw_flows, of_panels, panels_by_buffer
from wording.number_format import number
from wording.sentence_words import cca_name

HALF_BOX = 0.27
COLUMNS = [
    *CELL, "scenario_label", "platform", "series", "buffer", "flows", "replications", "min_mbps", "q1_mbps",
    "median_mbps", "q3_mbps", "max_mbps", "mean_mbps",
]  # fmt: skip
WORDS = "Distribution of the flows' goodput, Mbit/s", "Goodput of the flows", "By"


def _flow_boxes(flows, valid, table):
    """Return `COLUMNS`: the statistics of each cell's box, over all flows of all valid replications."""
    named = table.set_index("scenario")[["label", "platform", "series", "buffer"]]
    rows = []
    for cell, group in flows.merge(valid[RUN], on=RUN).groupby(CELL, sort=False):
        values, replications = group["goodput_mbps"], group["replication"].nunique()
        quartiles = values.quantile([0, 0.25, 0.5, 0.75, 1])
        rows.append([*cell, *named.loc[cell[0]], len(values), replications, *quartiles, values.mean()])
    return pd.DataFrame(rows, columns=COLUMNS)


def _box(axes, place, row, colour):
    upright(axes, [place] * 2, [row["min_mbps"], row["q3_mbps"]], [row["q1_mbps"], row["max_mbps"]], width=0.9)
    for end in ("min_mbps", "max_mbps"):
        axes.plot([place - 0.12, place + 0.12], [row[end]] * 2, color=LIGHT.ink, lw=0.9, zorder=3)
    box = axes.add_patch(
        Rectangle(
            (place - HALF_BOX, row["q1_mbps"]), 2 * HALF_BOX, row["q3_mbps"] - row["q1_mbps"],
            fc=LIGHT.paper, ec=colour, lw=1.1, zorder=3,
        )
    )  # fmt: skip
    axes.plot([place - HALF_BOX, place + HALF_BOX], [row["median_mbps"]] * 2, color=colour, lw=2, zorder=3.5)
    axes.plot([place], [row["mean_mbps"]], ls="none", marker="x", ms=5, mew=1.3, mec=LIGHT.ink, zorder=4)
    ends = f"{number(row['min_mbps'])} to {number(row['max_mbps'])}, median {number(row['median_mbps'])}"
    words = f"{ends}, mean {number(row['mean_mbps'])}"
    tell(box, [f"{words} Mbit/s, middle half {number(row['q1_mbps'])} to {number(row['q3_mbps'])}"], cell_name([row]))
    return words


def plot_flow_boxes(runs, flows, scenarios, cca) -> Drawing:
    """Return the figure and its data."""
    runs, flows, table = at_centre(runs, flows, scenarios)
    panels = list(panels_by_buffer(runs, table, cca))
    boxes = of_panels(_flow_boxes(flows, runs[runs["valid"]], table), panels)
    cells = {tuple(row[name] for name in CELL): row for row in boxes.to_dict("records")}
    drawn = draw_flows(WORDS, boxes["max_mbps"], panels, runs, cells, _box)
    return drawn.drawing(f"Distribution of the flows' goodput by buffer, {cca_name(cca)}", boxes)
