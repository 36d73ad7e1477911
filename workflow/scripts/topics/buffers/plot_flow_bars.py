"""Plot each flow's goodput as a bar, in descending order, for each buffer or for each platform."""

import pandas as pd

from figure_parts.category_panels import bars, upright
from figure_parts.figure_svg import Drawing
from figure_parts.tooltips import cell_name, tell, value_words
from run_tables.run_keys import CELL, RUN
from topics.buffers.compared_flows import at_centre
from topics.buffers.flow_counts import flows_words
from topics.buffers.flow_panels import draw_flows, of_panels, panels_by_buffer, panels_by_platform
from wording.number_format import number
from wording.sentence_words import cca_name

FILLED = 0.84  # the bars fill this share of a slot's width
COLUMNS = [
    *CELL, "scenario_label", "platform", "series", "buffer", "rank", "replication", "flow", "goodput_mbps",
    "lowest_mbps", "highest_mbps", "replications",
]  # fmt: skip
WORDS = "Goodput of each flow, Mbit/s", "Goodput of each flow", "Highest, median and lowest by"


def flow_ranks(flows: pd.DataFrame, valid: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rank the flows of each valid run by goodput, in descending order.

    Returns `COLUMNS`: one row per cell and rank. Each row gives the flow with this rank in the first valid replication, and the minimum and
    maximum goodput of the flows with this rank over all valid replications.
    """
    named = table[["scenario", "label", "platform", "series", "buffer"]]
    ranked = flows.merge(valid[RUN], on=RUN).merge(named, on="scenario")
    ranked = ranked.rename(columns={"label": "scenario_label"})
    ranked = ranked.sort_values("goodput_mbps", ascending=False, kind="stable")
    ranked["rank"] = ranked.groupby(RUN, sort=False).cumcount() + 1
    over = ranked.groupby([*CELL, "rank"], sort=False)["goodput_mbps"]
    ranked["lowest_mbps"], ranked["highest_mbps"] = over.transform("min"), over.transform("max")
    ranked["replications"] = over.transform("count")
    first = ranked["replication"] == ranked.groupby(CELL)["replication"].transform("min")
    order = {name: place for place, name in enumerate(table["scenario"])}
    shown = ranked[first].assign(order=ranked["scenario"].map(order))
    return shown.sort_values(["order", "cca", "ip_version", "rank"]).reset_index(drop=True)[COLUMNS]


def _slot(axes, place, cell, colour):
    """Draw the flows of a cell; return their maximum, median and minimum goodput: "8.2, 6.1, 0.02"."""
    width = FILLED / len(cell)
    lefts = [place - FILLED / 2 + width * number for number in range(len(cell))]
    texts = [
        f"flow {row['flow'] + 1:.0f}, replication {row['replication']:.0f}: {value_words(row['goodput_mbps'], row['lowest_mbps'], row['highest_mbps'], 'Mbit/s')}"
        for row in cell.to_dict("records")
    ]
    tell(bars(axes, lefts, cell["goodput_mbps"], 0.86 * width, colour), texts, cell_name(cell.to_dict("records")))
    if cell["replications"].max() > 1:
        upright(axes, [left + 0.43 * width for left in lefts], cell["lowest_mbps"], cell["highest_mbps"])
    values = cell["goodput_mbps"]
    return ", ".join(map(number, (values.max(), values.median(), values.min())))


def plot_flow_bars(runs, flows, scenarios, cca) -> Drawing:
    """Return the figure and its data."""
    runs, flows, table = at_centre(runs, flows, scenarios)
    panels = list(panels_by_buffer(runs, table, cca) if cca else panels_by_platform(runs, table))
    ranks = of_panels(flow_ranks(flows, runs[runs["valid"]], table), panels)
    cells = dict(iter(ranks.groupby(CELL, sort=False)))
    drawn = draw_flows(WORDS, ranks["highest_mbps"], panels, runs, cells, _slot)
    what = f"{cca_name(cca)} by buffer" if cca else "by platform"
    title = f"Goodput of each of {flows_words(runs)}, {what}"
    return drawn.drawing(title, ranks)
