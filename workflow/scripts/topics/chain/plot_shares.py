"""Draw the share of the flows over all bottlenecks by their number: marks by CCA, and theory's shares at equal round-trip times."""

from figure_parts.figure_svg import save_figure
from figure_parts.scenario_panels import DASHES
from figure_parts.share_panels import Shares, draw_shares
from rule_script import run_rule
from run_tables.reading import read_table
from topics.chain.tables import CHAIN_CELLS

SHARES = Shares(
    "Share of the flows over all bottlenecks", "the long flows", "long_share_percent", "bottlenecks", 60,
    {
        "minimum_delay_percent": ("1/(\N{SQUARE ROOT}n + 1): minimum potential delay", "-"),
        "proportional_percent": ("1/(n + 1): proportional", DASHES),
    },
)  # fmt: skip


def main(inputs, outputs, params) -> None:
    """Read the cells, write figure and data."""
    cells = read_table(inputs.chain_cells, CHAIN_CELLS)
    figure, views = draw_shares(cells, SHARES)
    save_figure(figure, views, "Shares by number of bottlenecks", cells[SHARES.columns()], outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
