"""Draw MPTCP's share of a bottleneck by its number of subflows: marks by CCA, and the shares of coupled and of uncoupled subflows."""

from figure_parts.figure_svg import save_figure
from figure_parts.scenario_panels import DASHES
from figure_parts.share_panels import Shares, draw_shares
from rule_script import run_rule
from run_tables.reading import read_table
from topics.subflows.tables import SUBFLOW_SHARES

SHARES = Shares(
    "Share of MPTCP by its number of subflows", "MPTCP", "share_percent", "subflows", 100,
    {"uncoupled_percent": ("uncoupled", "-"), "coupled_percent": ("coupled (RFC 6356)", DASHES)},
)  # fmt: skip


def main(inputs, outputs, params) -> None:
    """Read the cells, write figure and data."""
    cells = read_table(inputs.subflow_shares, SUBFLOW_SHARES)
    figure, views = draw_shares(cells, SHARES)
    save_figure(figure, views, "Shares by number of subflows", cells[SHARES.columns()], outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
