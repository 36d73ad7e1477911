"""Draw one metric by scenario, CCA and IP version: each replication a dot, and the mean.

One panel a scenario, one row a CCA, in it one line an IP version: IPv4 filled, IPv6 open below
it. Panels stand alone, with their own title, rows and axis, so that a page can reflow them.
"""

import math
import textwrap

import matplotlib.pyplot as plt
from axis_scales import panel_axes, relative_axes
from cell_figure_data import describe_panel, figure_data
from figure_style import (
    FONT_SIZE_PT, LIGHT, SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
)  # fmt: skip
from figure_svg import Panel, save_svg
from matplotlib.lines import Line2D
from number_format import is_missing, tick
from scenario_words import conditions, heading, ip_words

INCH_PT = 72
# Panel width by number of columns: type stays legible on a phone, where a panel fills the width.
WIDTHS_PT = {1: 260, 2: 260, 3: 200}
ROW_PT, LABELS_PT, RIGHT_PT = 24, 56, 10
TITLE_PT, AXIS_PT, GAP_PT, HEADER_PT = 32, 32, 14, 48
INDENT_PT = 5
# As shares of a row: from one IP version to the other, from the line's middle up to the dots and
# down to the mean, and the height over which dots are spread.
IP_STEP, DOTS_UP, MEAN_DOWN, JITTER = 0.46, 0.10, 0.10, 0.13


def draw_cell_figure(data, scenarios, references, ccas, ip_versions, metric):
    """Draw the figure.

    Parameters
    ----------
    data : pandas.DataFrame
        As `figure_data` gives.
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``, a panel a row.
    references : dict of str to float or None
        For each scenario, where the reference line stands.
    ccas, ip_versions : list of str
        Rows, and lines of a row, from the top.
    metric : Metric

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    columns = columns_for(len(scenarios))
    width = WIDTHS_PT[columns]
    height = TITLE_PT + ROW_PT * len(ccas) + AXIS_PT
    lines = math.ceil(len(scenarios) / columns)
    total_width = columns * width + (columns - 1) * GAP_PT + GAP_PT
    total_height = HEADER_PT + lines * (height + GAP_PT)
    figure = plt.figure(figsize=(total_width / INCH_PT, total_height / INCH_PT))
    _header(figure, metric, ip_versions, any(v is not None for v in references.values()))
    panels = []
    axes_of = _axes_of_panels(data, scenarios, references, metric)
    for position, scenario in enumerate(scenarios.to_dict("records")):
        left = GAP_PT / 2 + (position % columns) * (width + GAP_PT)
        top = HEADER_PT + (position // columns) * (height + GAP_PT)
        box = (
            (left + LABELS_PT) / total_width,
            1 - (top + height - AXIS_PT) / total_height,
            (width - LABELS_PT - RIGHT_PT) / total_width,
            ROW_PT * len(ccas) / total_height,
        )
        axes = figure.add_axes(box, gid=f"panel-{position + 1}")
        cells = data[data["scenario"] == scenario["scenario"]]
        _frame(axes, axes_of[position], scenario, ccas, metric)
        _reference(axes, references.get(scenario["scenario"]))
        for row, cca in enumerate(ccas):
            for line, ip_version in enumerate(ip_versions):
                y = row + (line - (len(ip_versions) - 1) / 2) * IP_STEP
                mine = cells[(cells["cca"] == cca) & (cells["ip_version"] == ip_version)]
                _cell(axes, mine, cca, ip_version == "ipv6", y, metric)
        for artist in axes.findobj():
            artist.set_clip_on(False)  # the limits hold all values; clip paths are dead weight
        text = describe_panel(cells, scenario, metric)
        panels.append(
            Panel(f"panel-{position + 1}", left + INDENT_PT, top, width - INDENT_PT, height, text)
        )
    return figure, panels


def columns_for(scenarios):
    """Return how many panels stand side by side."""
    return 1 if scenarios == 1 else 2 if scenarios in (2, 4) else 3


def _axes_of_panels(data, scenarios, references, metric):
    panels = []
    for name in scenarios["scenario"]:
        cells = data[data["scenario"] == name]
        shown = [float(value) for value in cells[metric.column] if not is_missing(value)]
        if references.get(name) is not None and metric.reference != "rtt_path_ms":
            shown.append(references[name])
        panels.append(shown + _ends_within_reach(cells, shown))
    if metric.reference == "rtt_path_ms":
        return relative_axes(panels, [references[name] for name in scenarios["scenario"]])
    return panel_axes(panels)


def _ends_within_reach(cells, shown):
    # The t interval of two values is 13 times as wide as they are apart. Intervals may widen an
    # axis by half; what reaches further gets an arrowhead.
    if not shown:
        return []
    low, high = min(shown), max(shown)
    room = (high - low) / 2
    floor, ceiling = max(low - room, low / 2), high + room
    ends = [float(v) for name in ("ci_low", "ci_high") for v in cells[name] if not is_missing(v)]
    return [min(max(end, floor), ceiling) for end in ends]


def _header(figure, metric, ip_versions, with_reference):
    height, width = figure.get_figheight() * INCH_PT, figure.get_figwidth() * INCH_PT
    left = (GAP_PT / 2 + INDENT_PT) / width
    figure.text(
        left, 1 - 19 / height, f"{metric.name}, {metric.unit}", size=10.5, weight="bold",
        va="baseline",
    )  # fmt: skip
    entries = []
    for ip_version in ip_versions:
        face = "none" if ip_version == "ipv6" else LIGHT.ink
        entries.append(
            Line2D([], [], ls="none", marker="o", ms=4, mec=LIGHT.ink, mfc=face,
                   label=f"{ip_words(ip_version)}, a replication")
        )  # fmt: skip
    entries.append(
        Line2D([], [], color=LIGHT.ink, marker="|", ms=5.5, mew=1.3, lw=1,
               label="mean, 95 % interval")
    )  # fmt: skip
    if with_reference:
        entries.append(
            Line2D([], [], color=LIGHT.muted, lw=0.9, ls=(0, (3, 2)), label=metric.reference_name)
        )
    # Two rows on a narrow figure, so that the legend never sticks out.
    figure.legend(
        handles=entries, loc="upper left", bbox_to_anchor=(left, 1 - 24 / height), frameon=False,
        ncols=len(entries) if width > 500 else 2, fontsize=SMALL_SIZE_PT, borderpad=0,
        borderaxespad=0, handletextpad=0.5, columnspacing=1.6, labelcolor=LIGHT.muted,
        labelspacing=0.2,
    )  # fmt: skip


def _frame(axes, axis, scenario, ccas, metric):
    if axis.kind == "symlog":
        axes.set_xscale("symlog", linthresh=axis.linear_below, linscale=0.4)
    else:
        axes.set_xscale(axis.kind)
    axes.set_xlim(axis.low, axis.high)
    axes.set_xticks(axis.ticks, [tick(value) for value in axis.ticks])
    axes.set_xticks([], minor=True)
    axes.tick_params(axis="x", length=2.5, pad=2)
    axes.set_ylim(len(ccas) - 0.5, -0.5)
    axes.set_yticks(range(len(ccas)), ccas)
    axes.tick_params(axis="y", length=0, pad=5)
    unit = metric.unit if axis.kind == "linear" else f"{metric.unit}, logarithmic"
    axes.set_xlabel(unit, size=SMALL_SIZE_PT, labelpad=1, loc="right")
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=LIGHT.line, lw=0.6)
    axes.hlines(
        [row + 0.5 for row in range(-1, len(ccas) - 1)], *axes.get_xlim(),
        color=LIGHT.line, lw=0.6, zorder=0.5,
    )  # fmt: skip
    above = 1 / (ROW_PT * len(ccas))
    left = -(LABELS_PT - INDENT_PT) / (axes.get_position().width * axes.figure.get_figwidth() * INCH_PT)
    for text, y, weight, size, colour in (
        (heading(scenario), 17, "bold", FONT_SIZE_PT, LIGHT.ink),
        (conditions(scenario), 6, "normal", SMALL_SIZE_PT, LIGHT.muted),
    ):
        axes.text(
            left, 1 + y * above, _fitting(text, axes, size), transform=axes.transAxes, weight=weight,
            size=size, color=colour, va="baseline",
        )  # fmt: skip


def _fitting(text, axes, size):
    # Of DejaVu Sans, the widest type it may be set in, a letter takes about 0.62 of its size.
    width = axes.get_position().width * axes.figure.get_figwidth() * INCH_PT + LABELS_PT
    room = int(width / (0.62 * size))
    return text if len(text) <= room else textwrap.shorten(text[: room - 1], room) + "…"


def _reference(axes, value):
    if value is not None and axes.get_xlim()[0] <= value <= axes.get_xlim()[1]:
        axes.axvline(value, color=LIGHT.muted, lw=0.9, ls=(0, (3, 2)), zorder=1)


def _cell(axes, cell, cca, is_open, y, metric):
    values = [float(v) for v in cell.loc[cell["mark"] == "replication", metric.column]]
    colour = cca_colour(cca)
    spread = JITTER if len(values) > 1 else 0
    axes.plot(
        values, [y - DOTS_UP + spread * (van_der_corput(i + 1) - 0.5) for i in range(len(values))],
        ls="none", marker=cca_marker(cca), ms=3.4 if len(values) <= 20 else 2.6, mec=colour,
        mew=0.8, mfc="none" if is_open else colour, zorder=2,
        alpha=0.8 if len(values) <= 20 else 0.4,
    )  # fmt: skip
    for mean in cell[cell["mark"] == "mean"].to_dict("records"):
        if is_missing(mean[metric.column]):
            axes.text(
                0.01, y, "no valid run" if mean["n"] == 0 else "no value", size=SMALL_SIZE_PT - 1,
                style="italic", color=LIGHT.muted, va="center_baseline",
                transform=axes.get_yaxis_transform(),
                bbox={"facecolor": LIGHT.paper, "edgecolor": "none", "pad": 1},
            )  # fmt: skip
            continue
        if not is_missing(mean["ci_low"]):
            _interval(axes, float(mean["ci_low"]), float(mean["ci_high"]), y + MEAN_DOWN)
        axes.plot(
            [float(mean[metric.column])], [y + MEAN_DOWN], marker="|", ms=5.5, mew=1.3,
            color=LIGHT.ink, zorder=3,
        )  # fmt: skip


def _interval(axes, low, high, y):
    left, right = axes.get_xlim()
    ends = [max(low, left), min(high, right)]
    axes.plot(ends, [y, y], color=LIGHT.ink, lw=1, zorder=3)
    for end, beyond, arrow in ((left, low < left, "<"), (right, high > right, ">")):
        if beyond:
            axes.plot([end], [y], ls="none", marker=arrow, ms=3, mew=0, color=LIGHT.ink, zorder=3)


def van_der_corput(index):
    """Return term `index` of the base-2 van der Corput sequence: even jitter without chance."""
    value, part = 0.0, 0.5
    while index:
        value, index, part = value + part * (index & 1), index >> 1, part / 2
    return value


def write_cell_figure(runs, descriptive, scenarios, metric, svg_path, csv_path):
    """Draw one metric and write figure and data.

    Parameters
    ----------
    runs, descriptive, scenarios : pandas.DataFrame
        The tables of these names.
    metric : Metric
    svg_path, csv_path : str or path
    """
    data = figure_data(runs, descriptive, metric)
    references = {}
    for name, group in runs.groupby("scenario", sort=False):
        value = group[metric.reference].iloc[0] if metric.reference else None
        references[name] = None if is_missing(value) else float(value)
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    figure, panels = draw_cell_figure(data, scenarios, references, ccas, ip_versions, metric)
    save_svg(figure, svg_path, f"{metric.name} by scenario, CCA and IP version", panels)
    plt.close(figure)
    data.to_csv(csv_path, index=False, lineterminator="\n")
