"""Draw one metric by scenario, CCA and IP version: each replication a dot, and the mean.

One panel a scenario, one row a CCA, in it one line an IP version: IPv4 filled, IPv6 open below
it. Panels stand alone, with their own title, rows and axis, so that a page can reflow them.
"""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figure_parts.axis_scales import panel_axes, relative_axes
from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Panel
from figure_parts.scenario_panels import (
    INDENT_PT,
    LETTER_SHARE,
    TITLE_PT,
    header,
    interval_line,
    reference_entry,
    reference_line,
    remark,
    replication_entries,
    rows_of,
    scenario_grid,
    scenario_title,
    unclipped,
    unit_below,
    value_axis,
)  # fmt: skip
from study_files.study_design import MIX
from topics.cells.cell_figure_data import describe_panel
from wording.number_format import is_missing

# A row with a line for each of two IP versions, and one with a single line.
ROW_PT, LOW_ROW_PT = 24, 17
LABELS_PT, RIGHT_PT, AXIS_PT = 56, 10, 32
# As shares of a row: from one IP version to the other, from the line's middle up to the dots and
# down to the mean, and the height over which dots are spread.
IP_STEP, DOTS_UP, MEAN_DOWN, JITTER = 0.46, 0.10, 0.10, 0.13


def draw_cell_figure(data, scenarios, references, ccas, ip_versions, metric) -> tuple[Figure, list[Panel]]:
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
    row_pt = ROW_PT if len(ip_versions) > 1 else LOW_ROW_PT
    grid = scenario_grid(len(scenarios), TITLE_PT + row_pt * len(ccas) + AXIS_PT)
    labels = labels_pt(ccas)
    figure = grid.figure()
    header(figure, f"{metric.name}, {metric.unit}", _key(metric, ip_versions, references))
    panels = []
    axes_of = _axes_of_panels(data, scenarios, references, metric)
    for position, scenario in enumerate(scenarios.to_dict("records")):
        axes = grid.axes(figure, position, labels, RIGHT_PT, TITLE_PT, AXIS_PT)
        cells = data[data["scenario"] == scenario["scenario"]]
        value_axis(axes, "x", axes_of[position], spaced=True)
        rows_of(axes, ccas)
        unit_below(axes, axes_of[position], metric.unit)
        scenario_title(axes, scenario, labels)
        reference_line(axes, references.get(scenario["scenario"]))
        for row, cca in enumerate(ccas):
            for line, ip_version in enumerate(ip_versions):
                y = row + (line - (len(ip_versions) - 1) / 2) * IP_STEP
                cell = cells[(cells["cca"] == cca) & (cells["ip_version"] == ip_version)]
                _cell(axes, cell, cca, ip_version == "ipv6", y, metric)
        unclipped(axes)
        panels.append(grid.panel(position, describe_panel(cells, scenario, metric)))
    return figure, panels


def labels_pt(ccas) -> float:
    """Return how wide the rows' names are, in points: a mix of CCAs takes more than a CCA."""
    # A plus takes a third more than a letter, and the axis keeps 5 points to itself.
    mixes = [len(cca) + cca.count(MIX) / 3 for cca in ccas if MIX in cca]
    return max(LABELS_PT, INDENT_PT + 5 + LETTER_SHARE * FONT_SIZE_PT * max(mixes)) if mixes else LABELS_PT


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


def _key(metric, ip_versions, references):
    mean = Line2D([], [], color=LIGHT.ink, marker="|", ms=5.5, mew=1.3, lw=1, label="mean, 95 % interval")
    entries = [*replication_entries(ip_versions), mean]
    if any(value is not None for value in references.values()):
        entries.append(reference_entry(metric.reference_name))
    return entries


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
            remark(axes, y, "no valid run" if mean["n"] == 0 else "no value")
            continue
        if not is_missing(mean["ci_low"]):
            interval_line(axes, float(mean["ci_low"]), float(mean["ci_high"]), y + MEAN_DOWN)
        axes.plot(
            [float(mean[metric.column])], [y + MEAN_DOWN], marker="|", ms=5.5, mew=1.3,
            color=LIGHT.ink, zorder=3,
        )  # fmt: skip


def van_der_corput(index) -> float:
    """Return term `index` of the base-2 van der Corput sequence: even jitter without chance."""
    value, part = 0.0, 0.5
    while index:
        value, index, part = value + part * (index & 1), index >> 1, part / 2
    return value


def reference_value(runs, metric) -> float | None:
    """Return what a scenario sets for a metric, None if nothing: of a rate that of all its paths together."""
    value = runs[metric.reference].iloc[0] if metric.reference else None
    if is_missing(value):
        return None
    return float(value) * (runs["paths"].iloc[0] if metric.reference == "rate_mbps" else 1)
