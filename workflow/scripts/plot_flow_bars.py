"""Draw the goodput of each flow as a bar, from the highest down, for each buffer or for each platform."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import (
    CategoryPanels,
    bars,
    buffer_names,
    level,
    nothing,
    slots,
    upright,
    with_ip_version,
)
from figure_parts.figure_style import apply_style, cca_colour
from figure_parts.figure_svg import save_figure
from figure_parts.flow_ranks import flow_ranks, ranks_in_words, shown_by_buffer, shown_by_platform
from number_format import count, is_missing
from report_parts.sentence_words import cca_name
from run_tables.tidy_columns import FLOW_GOODPUTS, SCENARIOS, read_runs, read_table
from scenario_series import platform_name, setting_words, with_series

FILLED = 0.84  # of a slot


def panels_by_buffer(runs, table, cca):
    """Return the panels of one CCA: title, second line, scenarios of the slots, names of the slots, what they are."""
    series, buffers = shown_by_buffer(table)
    names, below = buffer_names(buffers)
    ip_versions = list(runs["ip_version"].unique())
    for name in series:
        mine = table[table["series"] == name]
        scenarios = [next(iter(mine.loc[mine["buffer"] == buffer, "scenario"]), None) for buffer in buffers["buffer"]]
        for ip_version in ip_versions:
            title = with_ip_version(f"{cca_name(cca)}, {mine['platform_name'].iloc[0]}", ip_version, ip_versions)
            yield (
                title,
                setting_words(mine.iloc[0]),
                [(scenario, cca, ip_version) for scenario in scenarios],
                names,
                below,
            )


def panels_by_platform(runs, table):
    """Return a panel for each CCA, as `panels_by_buffer`, with a slot for each platform."""
    here, platforms = shown_by_platform(table)
    scenarios = [here.loc[here["platform"] == platform, "scenario"].iloc[0] for platform in platforms]
    names = [platform_name(platform).removeprefix("ns-3 ") for platform in platforms]
    below = "version of ns-3" if any(":" in platform for platform in platforms) else "platform"
    ip_versions = list(runs["ip_version"].unique())
    for cca in runs["cca"].unique():
        for ip_version in ip_versions:
            title = with_ip_version(f"{cca_name(cca)}, buffer {here['buffer'].iloc[0]}", ip_version, ip_versions)
            yield title, setting_words(here.iloc[0]), [(name, cca, ip_version) for name in scenarios], names, below


def draw_flow_bars(ranks, runs, panels):
    """Draw the figure.

    Parameters
    ----------
    ranks : pandas.DataFrame
        As `flow_ranks` gives.
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    panels : list of tuple
        As `panels_by_buffer` gives.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    drawn = CategoryPanels("Goodput of each flow, Mbit/s", len(panels))
    cells = {cell: group for cell, group in ranks.groupby(["scenario", "cca", "ip_version"], sort=False)}
    shown = [cells[cell] for panel in panels for cell in panel[2] if cell in cells]
    axis = linear_axis(0, max([float(cell["highest_mbps"].max()) for cell in shown], default=1.0) or 1.0)
    for title, second, members, names, below in panels:
        axes = drawn.add(title, second, axis)
        slots(axes, names, below)
        words = []
        for place, cell in enumerate(members):
            if cell[0] is None:
                continue
            if cell not in cells:
                nothing(axes, place)
                words.append(f"{names[place]}: no valid run")
                continue
            _slot(axes, place, cells[cell], cca_colour(cell[1]))
            words.append(f"{names[place]}: {ranks_in_words(cells[cell])}")
        level(axes, fair_share(runs, members))
        order = f"Highest, middle and lowest by {below.split(',')[0]}"
        drawn.finish(axes, f"Goodput of each flow in Mbit/s, {title}. {order}: {'; '.join(words)}.")
    return drawn.figure, drawn.panels


def fair_share(runs, members):
    """Return a flow's fair share of the link in Mbit/s, None if the cells differ in it or have no rate."""
    mine = runs[runs["scenario"].isin([cell[0] for cell in members])]
    shares = (mine["rate_mbps"] / mine["flows"]).unique()
    return float(shares[0]) if len(shares) == 1 and not is_missing(float(shares[0])) else None


def _slot(axes, place, cell, colour):
    width = FILLED / len(cell)
    lefts = [place - FILLED / 2 + width * number for number in range(len(cell))]
    bars(axes, lefts, cell["goodput_mbps"], 0.86 * width, colour)
    if cell["replications"].max() > 1:
        upright(axes, [left + 0.43 * width for left in lefts], cell["lowest_mbps"], cell["highest_mbps"])


def main(inputs, outputs, params):
    """Read runs, flows and scenarios, write figure and data."""
    runs, table = read_runs(inputs.runs), with_series(read_table(inputs.scenarios, SCENARIOS))
    flows = read_table(inputs.flows, FLOW_GOODPUTS).astype({"replication": int, "flow": int})
    panels = list(panels_by_buffer(runs, table, params.cca) if params.cca else panels_by_platform(runs, table))
    wanted = {cell for panel in panels for cell in panel[2]}
    ranks = flow_ranks(flows, runs[runs["valid"]], table)
    ranks = ranks[[cell in wanted for cell in zip(ranks["scenario"], ranks["cca"], ranks["ip_version"], strict=True)]]
    figure, views = draw_flow_bars(ranks, runs, panels)
    what = f"{cca_name(params.cca)} by buffer" if params.cca else "by platform"
    save_figure(figure, views, f"Goodput of each of {count(int(runs['flows'].max()), 'flow')}, {what}", ranks, outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
