"""Plot the long flows' share against the number of bottlenecks, with the theoretical share for equal RTTs."""

from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import DASHES
from figure_parts.share_panels import Shares, draw_shares

SHARES = Shares(
    "Share of the flows that cross all bottlenecks", "the long flows", "long_share_percent", "bottlenecks", 60,
    {
        "minimum_delay_percent": ("minimum potential delay", "-"),
        "proportional_percent": ("proportional fairness", DASHES),
    },
)  # fmt: skip


def plot_shares(chain_cells) -> Drawing:
    """Return the figure and its data."""
    return draw_shares(chain_cells, SHARES).drawing("Shares by number of bottlenecks", chain_cells[SHARES.columns()])
