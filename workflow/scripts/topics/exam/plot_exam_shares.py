"""Plot heat maps of the shares of two competing flows: each CCA of the exam against every other CCA."""

import pandas as pd

from figure_parts.figure_svg import Drawing
from run_tables.run_keys import RUN
from topics.fairness.matrix_figure import Scale, draw_matrices

SCALE = Scale("Share of the row's CCA against the column's", "share", (0.1, 0.25, 0.4, 0.6, 0.75, 0.9), True)
#: Word after the section in a scenario's name -> title and conditions of the panel.
PANELS = {
    "beside": ("Both begin simultaneously", "on the same path"),
    "before": ("The row's CCA begins", "the column's flow starts 2 s later"),
    "after": ("The column's CCA begins", "the row's flow starts 2 s later"),
    "near": ("The row's RTT is a quarter", "of the column's"),
    "far": ("The row's RTT is four times", "the column's"),
}
SECTION = "5.2.1-"


def shares(flows) -> pd.DataFrame:
    """Return the cells of the heat maps: the mean share, over the valid runs of all IP versions, of the flow in group ``own``.

    The columns are scenario (a key of `PANELS`), row_cca, column_cca, value, runs and note.
    """
    here = flows[flows["valid"] & flows["group"].isin(["own", "other"]) & flows["scenario"].str.startswith(SECTION)]
    rows = []
    for (scenario, *_), of_run in here.groupby(RUN, sort=False):
        kind = scenario.removeprefix(SECTION).split("-")[0]
        if kind in PANELS and len(of_run) == 2:
            of_group = of_run.set_index("group")
            if kind in ("near", "far") and of_group["rtt_path_ms"].nunique() == 1:
                kind = "beside"  # the RTTs are equal, so this pair belongs in the panel of flows on the same path
            goodput = of_group["goodput_lifetime_mbps"]
            ccas = of_group["flow_cca"]
            rows.append((kind, ccas["own"], ccas["other"], goodput["own"] / goodput.sum()))
    of_flows = pd.DataFrame(rows, columns=["scenario", "row_cca", "column_cca", "value"])
    cells = of_flows.groupby(["scenario", "row_cca", "column_cca"], sort=False)["value"]
    return cells.agg(value="mean", runs="size").reset_index().assign(note="")


def plot_exam_shares(flows) -> Drawing:
    """Return the figure and its data."""
    cells = shares(flows)
    panels = [
        {"scenario": kind, "title": title, "conditions": conditions}
        for kind, (title, conditions) in PANELS.items()
        if (cells["scenario"] == kind).any()
    ]
    return draw_matrices(cells, panels, SCALE, by=["scenario"]).drawing(SCALE.title, cells)
