"""Plot one metric by scenario, CCA and IP version: a dot for each replication, and the mean.

There is one panel per scenario, with one row per CCA. Each row contains one line per IP version: filled marks for IPv4 and, below them,
open marks for IPv6.
"""

from collections import defaultdict

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import panel_axes, relative_axes
from figure_parts.figure_style import LIGHT, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_figure import ScenarioFigure
from figure_parts.scenario_panels import (
    interval_line,
    reference_entry,
    reference_line,
    remark,
    replication_entries,
    row_labels_pt,
)
from figure_parts.tooltips import cell_name, run_words, tell, value_words
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.metrics import metric_by_slug
from run_tables.run_keys import CELL
from study_files.study_design import cell_words
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words

# Height in points of a row with two lines, one per IP version, and of a row with a single line.
ROW_PT, LOW_ROW_PT = 24, 17
# Lengths in units of a row's height: the step from one IP version's line to the other's, the offsets of the dots (up) and of the mean
# (down) from the middle of a line, and the height over which the dots are spread.
IP_STEP, DOTS_UP, MEAN_DOWN, JITTER = 0.46, 0.10, 0.10, 0.13


def _figure_rows(runs, descriptive, metric) -> pd.DataFrame:
    """Return the figure's data: one row for each valid replication with a value, and one for each mean."""
    dots = runs[runs["valid"] & runs[metric.column].notna()].assign(mark="replication")
    means = descriptive[descriptive["metric"] == metric.column]
    means = means.rename(columns={"mean": metric.column}).astype({"n": int}).assign(mark="mean")
    columns = [*CELL[:1], "scenario_label", *CELL[1:], "mark", "replication", metric.column]
    rows = [*dots[columns].to_dict("records"), *means.to_dict("records")]
    columns += ["ci_low", "ci_high", "n", "note"]
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in columns}, dtype=object)


def _reference(runs, metric) -> float | None:
    """Return a metric's reference value, averaged over a scenario's runs, or None if no value is known.

    Runs of one scenario may have different reference values, because the capacity may vary.
    """
    value = runs[metric.reference].mean() if metric.reference else None
    return None if is_missing(value) else float(value)


def _axes_of_panels(data, scenarios, references, metric):
    panels, relative = [], metric.reference == "rtt_path_ms"
    for name in scenarios["scenario"]:
        cells = data[data["scenario"] == name]
        shown = [float(value) for value in cells[metric.column] if not is_missing(value)]
        if references[name] is not None and not relative:
            shown.append(references[name])
        panels.append(shown + _ends_within_reach(cells, shown))
    if relative:
        return relative_axes(panels, [references[name] for name in scenarios["scenario"]])
    return panel_axes(panels)


def _ends_within_reach(cells, shown):
    # The t interval for the mean of two values is 13 times as wide as the difference between them. Intervals may extend an axis on either
    # side by half of the range of values; those that extend further end in an arrowhead.
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


def _draw_cell(axes, marks, cca, is_open, y, metric, has_valid_run):
    dots = [mark for mark in marks if mark["mark"] == "replication"]
    values = [float(mark[metric.column]) for mark in dots]
    colour = cca_colour(cca)
    spread = JITTER if len(values) > 1 else 0
    (drawn,) = axes.plot(
        values, [y - DOTS_UP + spread * (_van_der_corput(i + 1) - 0.5) for i in range(len(values))],
        ls="none", marker=cca_marker(cca), ms=3.4 if len(values) <= 20 else 2.6, mec=colour,
        mew=0.8, mfc="none" if is_open else colour, zorder=2,
        alpha=0.8 if len(values) <= 20 else 0.4,
    )  # fmt: skip
    tell(
        drawn, [run_words(mark, value_words(mark[metric.column], unit=metric.unit)) for mark in dots], cell_name(marks)
    )
    for mean in (mark for mark in marks if mark["mark"] == "mean"):
        if is_missing(mean[metric.column]):
            remark(axes, y, "no value" if has_valid_run else "no valid run")
            continue
        if not is_missing(mean["ci_low"]):
            interval_line(axes, mean["ci_low"], mean["ci_high"], y + MEAN_DOWN)
        look = {"marker": "|", "ms": 5.5, "mew": 1.3, "color": LIGHT.ink, "zorder": 3}
        (drawn,) = axes.plot([mean[metric.column]], [y + MEAN_DOWN], **look)
        words = value_words(mean[metric.column], mean["ci_low"], mean["ci_high"], metric.unit, mean["n"])
        tell(drawn, [f"mean {words}"], cell_name(marks))


def _van_der_corput(index) -> float:
    """Return term `index` of the base-2 van der Corput sequence, which spreads dots evenly and deterministically."""
    value, part = 0.0, 0.5
    while index:
        value, index, part = value + part * (index & 1), index >> 1, part / 2
    return value


def _describe(cells, scenario, metric) -> str:
    parts = []
    for cca, group in cells[cells["mark"] == "mean"].groupby("cca", sort=False):
        values = (
            f"{ip_words(ip_version)} {'none' if is_missing(mean) else number(mean)}"
            for ip_version, mean in zip(group["ip_version"], group[metric.column], strict=True)
        )
        parts.append(f"{cca}: {', '.join(values)}")
    return f"{metric.name} in {heading(scenario)} ({conditions(scenario)}). Means in {metric.unit}: {'; '.join(parts)}."


def plot_metric(runs, scenarios, descriptive, metric) -> Drawing:
    """Return the figure and its data."""
    metric = metric_by_slug(metric)
    data = _figure_rows(runs, descriptive, metric)
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    centres = runs_at_centre(runs, scenarios).groupby("scenario", sort=False)
    references = {name: _reference(group, metric) for name, group in centres}
    row_pt = ROW_PT if len(ip_versions) > 1 else LOW_ROW_PT
    title, key = f"{metric.name}, {metric.unit}", _key(metric, ip_versions, references)
    drawn = ScenarioFigure(title, key, len(scenarios), row_pt * len(ccas), row_labels_pt(ccas))
    axis_of_panels = _axes_of_panels(data, scenarios, references, metric)
    with_valid_runs = {*runs.loc[runs["valid"], CELL].itertuples(index=False, name=None)}
    marks_of_cells = defaultdict(list)
    for mark in data.to_dict("records"):
        marks_of_cells[tuple(mark[factor] for factor in CELL)].append(mark)
    for scenario, axis in zip(scenarios.to_dict("records"), axis_of_panels, strict=True):
        cells = data[data["scenario"] == scenario["scenario"]]
        axes = drawn.add_rows(scenario, axis, metric.unit, ccas)
        reference_line(axes, references[scenario["scenario"]])
        for row, cca in enumerate(ccas):
            for line, ip_version in enumerate(ip_versions):
                y = row + (line - (len(ip_versions) - 1) / 2) * IP_STEP
                cell = (scenario["scenario"], cca, ip_version)
                _draw_cell(axes, marks_of_cells[cell], cca, ip_version == "ipv6", y, metric, cell in with_valid_runs)
        drawn.finish(axes, _describe(cells, scenario, metric))
    return drawn.drawing(f"{metric.name} by {cell_words(ccas, ip_versions)}", data)
