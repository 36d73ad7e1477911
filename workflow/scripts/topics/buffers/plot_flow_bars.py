"""Draw the goodput of each flow as a bar, from the highest down, for each buffer or for each platform."""

from matplotlib.figure import Figure

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, bars, level, upright
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import Panel, save_figure
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import CELL, FLOWS, SCENARIOS
from topics.buffers.flow_panels import draw_slots, fair_share, of_panels, panels_by_buffer, panels_by_platform
from topics.buffers.flow_ranks import flow_ranks, ranks_in_words
from wording.number_format import count
from wording.scenario_series import with_series
from wording.sentence_words import cca_name

FILLED = 0.84  # of a slot


def draw_flow_bars(ranks, runs, panels) -> tuple[Figure, list[Panel]]:
    """Draw the figure.

    Parameters
    ----------
    ranks : pandas.DataFrame
        As `flow_ranks` gives.
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    panels : list of FlowPanel

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    drawn = CategoryPanels("Goodput of each flow, Mbit/s", len(panels))
    cells = dict(iter(ranks.groupby(CELL, sort=False)))
    shown = [cells[cell] for panel in panels for cell in panel.cells if cell in cells]
    axis = linear_axis(0, max([float(cell["highest_mbps"].max()) for cell in shown], default=1.0) or 1.0)
    for panel in panels:
        axes = drawn.add(panel.title, panel.second, axis)
        words = draw_slots(axes, panel, cells, _slot)
        level(axes, fair_share(runs, panel.scenarios))
        order = f"Highest, middle and lowest by {panel.below.split(',')[0]}"
        drawn.finish(axes, f"Goodput of each flow in Mbit/s, {panel.title}. {order}: {words}.")
    return drawn.figure, drawn.panels


def _slot(axes, place, cell, colour):
    width = FILLED / len(cell)
    lefts = [place - FILLED / 2 + width * number for number in range(len(cell))]
    bars(axes, lefts, cell["goodput_mbps"], 0.86 * width, colour)
    if cell["replications"].max() > 1:
        upright(axes, [left + 0.43 * width for left in lefts], cell["lowest_mbps"], cell["highest_mbps"])
    return ranks_in_words(cell)


def main(inputs, outputs, params) -> None:
    """Read runs, flows and scenarios, write figure and data."""
    runs, table = read_runs(inputs.runs), with_series(read_table(inputs.scenarios, SCENARIOS))
    flows = read_table(inputs.flows, FLOWS).astype({"replication": int, "flow": int})
    panels = list(panels_by_buffer(runs, table, params.cca) if params.cca else panels_by_platform(runs, table))
    ranks = of_panels(flow_ranks(flows, runs[runs["valid"]], table), panels)
    figure, views = draw_flow_bars(ranks, runs, panels)
    what = f"{cca_name(params.cca)} by buffer" if params.cca else "by platform"
    title = f"Goodput of each of {count(int(runs['flows'].max()), 'flow')}, {what}"
    save_figure(figure, views, title, ranks, outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
