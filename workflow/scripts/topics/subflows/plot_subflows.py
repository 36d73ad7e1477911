"""Plot MPTCP's share of a bottleneck against the number of subflows.

The theoretical shares of coupled and of uncoupled subflows are shown for comparison.
"""

from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import DASHES
from figure_parts.share_panels import Shares, draw_shares

SHARES = Shares(
    "MPTCP's share by number of subflows", "MPTCP", "share_percent", "subflows", 100,
    {"uncoupled_percent": ("uncoupled", "-"), "coupled_percent": ("coupled (RFC 6356)", DASHES)},
)  # fmt: skip


def plot_subflows(subflow_shares) -> Drawing:
    """Return the figure and its data."""
    return draw_shares(subflow_shares, SHARES).drawing("Shares by number of subflows", subflow_shares[SHARES.columns()])
