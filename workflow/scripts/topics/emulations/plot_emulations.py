"""Plot goodput, round-trip time and retransmissions of a nominal path by implementation."""

import textwrap

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import panel_names
from figure_parts.cca_slots import by_slot, cca_entries, draw_groups, draw_slots
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import PanelFigure

TITLE = "One path, implemented in several ways"
#: Measure -> its panel's title and unit.
PANELS = {
    "goodput_mbps": ("Goodput", "Mbit/s"),
    "rtt_mean_ms": ("Mean round-trip time", "ms"),
    "retransmit_percent": ("Retransmitted segments", "%"),
}
#: Maximum number of characters in a line below a slot.
LINE = 9


def draw_emulations(table) -> PanelFigure:
    """Draw three panels for each path and IP version, with one slot per implementation.

    ``table`` is `EMULATION_CELLS`.
    """

    place_names = panel_names(table)

    def panels(drawn, ccas, group):
        place = place_names[group["conditions"].iloc[0], group["ip_version"].iloc[0]]
        labels = list(dict.fromkeys(group["scenario_label"]))
        names = [textwrap.fill(label, LINE) for label in labels]
        for measure, (title, unit) in PANELS.items():
            low, high = f"{measure}_low", f"{measure}_high"
            top = max(group[[measure, high]].max().fillna(0))
            axes = drawn.add(title, f"{unit}; {place}", linear_axis(0, top or 1.0))
            rows = by_slot(group, lambda row: labels.index(row["scenario_label"]))
            words = draw_slots(axes, names, ccas, rows, measure, low, high)
            drawn.finish(axes, f"{title}, {unit}, {place}. {words or 'No data.'}", cca_entries(ccas))

    return draw_groups(TITLE, table, ["setting", "ip_version"], panels, panels_each=len(PANELS))


def plot_emulations(emulation_cells) -> Drawing:
    """Return the figure and its data."""
    return draw_emulations(emulation_cells).drawing(TITLE, emulation_cells)
