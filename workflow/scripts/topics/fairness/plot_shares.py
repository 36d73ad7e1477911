"""Plot heat maps of CCA against CCA: shares of the link, or Jain's index."""

import pandas as pd

from figure_parts.category_panels import with_ip_version
from figure_parts.figure_svg import Drawing
from topics.fairness.flow_shares import PLACE, ccas_of, matrix_cells, mix_sizes, numbered
from topics.fairness.matrix_figure import Scale, draw_matrices
from topics.fairness.share_words import scenario_name
from wording.scenario_words import conditions

#: Columns of the table to draw.
DRAWN = [
    "scenario", "scenario_label", "ip_version", "row_cca", "column_cca", "orders", "note", "replications", "runs",
    "share", "share_low", "share_high", "share_mean", "jain", "jain_low", "jain_high", "jain_min",
]  # fmt: skip
SCALES = {
    "share": Scale("Share of the row's CCA against the column's", "share", (0.1, 0.25, 0.4, 0.6, 0.75, 0.9), True),
    "jain": Scale("Jain's fairness index of row and column", "index", (0.55, 0.6, 0.7, 0.8, 0.9, 0.95), False),
}


def _whole_matrix(pairs, flows):
    """Return the pairs, with one row for each matrix cell that the study's mixes fill, including cells without a valid run."""
    of_pairs = flows[mix_sizes(flows) == 2]
    mixes = [tuple(ccas_of(mix)) for mix in of_pairs["cca"].unique()]
    cells = matrix_cells(mixes, True, dict.fromkeys(cca for mix in mixes for cca in mix))
    matrix = pd.DataFrame(cells, columns=["row_cca", "column_cca"])
    matrix = flows[PLACE].drop_duplicates().merge(matrix, how="cross")
    return matrix.merge(pairs, how="left", on=list(matrix.columns)).fillna({"note": "no valid run"})


def _panels_of(scenarios, flows):
    """Return one panel per scenario and IP version."""
    ip_versions = list(flows["ip_version"].unique())
    return [
        {
            "scenario": scenario["scenario"], "ip_version": ip_version,
            "title": with_ip_version(scenario_name(scenario), ip_version, ip_versions),
            "conditions": conditions(scenario),
        }
        for scenario in scenarios.to_dict("records")
        for ip_version in ip_versions
    ]  # fmt: skip


def plot_shares(share_pairs, scenarios, flow_shares, shown) -> Drawing:
    """Return the figure and its data."""
    scale, flows = SCALES[shown], numbered(flow_shares)
    cells = _whole_matrix(share_pairs, flows)
    drawn = draw_matrices(cells.assign(value=cells[shown]), _panels_of(scenarios, flows), scale)
    return drawn.drawing(scale.title, share_pairs[DRAWN])
