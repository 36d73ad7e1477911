"""Plot the price of goodput: goodput against the share of retransmitted segments."""

from figure_parts.figure_svg import Drawing
from topics.speed.goodput_scatter import Quantity, scatter

RETRANSMITTED = Quantity("retransmit_percent", "retransmitted segments", "%")


def plot_price(runs, scenarios) -> Drawing:
    """Return the figure and its data."""
    return scatter(runs, scenarios, RETRANSMITTED)
