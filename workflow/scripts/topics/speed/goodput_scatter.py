"""Plot goodput against another quantity, with one panel per scenario, one dot per replication, and the means.

Each CCA is shown in its own colour and with its own marker, and is named next to its mean. Markers are filled for IPv4 and open for IPv6.
If the other quantity is a delay, the axes are those of `delay_plane`, with an ellipse around each CCA's dots.
"""

from dataclasses import dataclass

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from figure_parts.axis_scales import axis_for, linear_axis, panel_axes
from figure_parts.delay_plane import delay_axis, draw_ellipse, ellipse_entry, reach
from figure_parts.figure_style import LIGHT, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.named_marks import name_marks, name_missing
from figure_parts.scenario_figure import NAME_PT, PLOT_PT, ScenarioFigure
from figure_parts.scenario_panels import reference_entry, reference_line, replication_entries
from figure_parts.tooltips import cell_name, run_words, tell, value_words
from run_tables.run_keys import CELL
from study_files.study_design import cell_words
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words

LEFT_PT = 36
# If the other quantity is a delay, the goodput axis extends down at least to this fraction of the highest value, so that tiny
# differences aren't magnified.
LEAST_DEPTH = 0.95
# If there are more CCAs than this, the panels are enlarged to make room for the names.
CCAS_AT_EASE, PER_CCA_PT = 8, 8
# Up to this number of dots per cell are drawn with the CCA's marker; more are drawn as a cloud of small dots, which takes fewer bytes.
MARKERS_AT_MOST = 20
# If a cell contains more replications than this, only the first ones are plotted; the mean is over all replications.
DOTS_AT_MOST = 100


@dataclass(frozen=True)
class Quantity:
    """A quantity on an axis of the figure: its column in ``tidy/runs.csv``, its name on the axis, and its unit."""

    column: str
    name: str
    unit: str
    is_delay: bool = False

    @property
    def words(self) -> str:
        """Name and unit."""
        return f"{self.name}, {self.unit}"


GOODPUT = Quantity("goodput_mbps", "Goodput", "Mbit/s")


def scatter(runs, scenarios, x, references=None, reference_name=None) -> Drawing:
    """Draw goodput against a quantity; return the figure and its data.

    Parameters
    ----------
    runs, scenarios : pandas.DataFrame
        ``tidy/runs.csv``, with the column of `x`, and ``tidy/scenarios.csv``.
    x : Quantity
    references : dict of str to float or None, optional
        Scenario -> value of `x` that a dashed line marks.
    reference_name : str, optional
        Label of the dashed line.
    """
    data = _figure_rows(runs, x.column, references or {})
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    title = f"{GOODPUT.name} against {x.name}"
    key = _key(ip_versions, reference_name if (data["mark"] == "reference").any() else None, x.is_delay)
    plot_pt = PLOT_PT + PER_CCA_PT * max(0, len(ccas) - CCAS_AT_EASE)
    drawn = ScenarioFigure(title, key, len(scenarios), plot_pt, LEFT_PT, above=NAME_PT)
    x_axes, y_axes = (_axes_of_panels(data, scenarios, quantity, x.is_delay) for quantity in (x, GOODPUT))
    for scenario, x_axis, y_axis in zip(scenarios.to_dict("records"), x_axes, y_axes, strict=True):
        rows = data[data["scenario"] == scenario["scenario"]]
        y_words = GOODPUT.words if y_axis.kind == "linear" else f"{GOODPUT.words}, log."
        better = "better: up, right" if x.is_delay else "better: up, left"
        axes = drawn.add_plot(scenario, x_axis, x.words, y_axis, y_words, better)
        if x.is_delay:
            axes.invert_xaxis()
            for cca, dots in _dots_by_cca(rows):
                draw_ellipse(axes, dots[x.column], dots[GOODPUT.column], cca)
        lines = [float(value) for value in rows.loc[rows["mark"] == "reference", x.column]]
        for value in lines:
            reference_line(axes, value)
        _marks(axes, rows, x, lines)
        drawn.finish(axes, _describe(rows, scenario, x, lines))
    return drawn.drawing(f"{title}, by {cell_words(ccas, ip_versions)}", data)


def _figure_rows(runs, x, references):
    # One row for each dot, each mean (with n, and with a note if there is no mean) and each reference line.
    y = GOODPUT.column
    rows = []
    for cell, group in runs.groupby(CELL, sort=False):
        known = group[group["valid"] & group[x].notna() & group[y].notna()]
        same = {**dict(zip(CELL, cell, strict=True)), "scenario_label": group["scenario_label"].iloc[0]}
        dots = known.head(DOTS_AT_MOST)[["replication", x, y]].to_dict("records")
        rows += [same | {"mark": "replication"} | dot for dot in dots]
        mean = {"mark": "mean", "n": len(known)}
        if len(known):
            mean |= {x: float(known[x].mean()), y: float(known[y].mean())}
        else:
            mean["note"] = "no value" if group["valid"].any() else "no valid run"
        rows.append(same | mean)
    labels = dict(zip(runs["scenario"], runs["scenario_label"], strict=True))
    for scenario, value in references.items():
        if value is not None:
            rows.append({"scenario": scenario, "scenario_label": labels[scenario], "mark": "reference", x: value})
    columns = ["scenario", "scenario_label", "cca", "ip_version", "mark", "replication", x, y, "n", "note"]
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in columns}, dtype=object)


def _dots_by_cca(rows):
    return rows[rows["mark"] == "replication"].groupby("cca", sort=False)


def _key(ip_versions, reference_name, ellipses):
    mean = Line2D(
        [], [], ls="none", marker="o", ms=5.5, mec=LIGHT.ink, mfc=LIGHT.ink, label="mean, with the CCA's name"
    )
    spread = [ellipse_entry()] if ellipses else []
    return [
        *replication_entries(ip_versions),
        mean,
        *spread,
        *([reference_entry(reference_name)] if reference_name else []),
    ]


def _axes_of_panels(data, scenarios, quantity, ellipses):
    build = delay_axis if quantity.is_delay else axis_for
    panels = []
    for name in scenarios["scenario"]:
        rows = data[data["scenario"] == name]
        values = [float(v) for v in rows[quantity.column] if not is_missing(v)]
        if ellipses and values:
            kind = build(values).kind
            values += [end for _, dots in _dots_by_cca(rows) for end in reach(dots[quantity.column], kind)]
            if not quantity.is_delay and kind == "linear":
                values.append(LEAST_DEPTH * max(values))
        panels.append(values)
    if any(value < 0 for panel in panels for value in panel):
        # Under a real clock, the measured RTT can be less than the path's delay.
        return [linear_axis(min(panel, default=0.0), max(panel, default=1.0)) for panel in panels]
    return panel_axes(panels, build)


def _marks(axes, rows, quantity, lines):
    x, y = quantity.column, GOODPUT.column
    everywhere, means, missing = [], {}, []
    for (cca, ip_version), cell in rows.groupby(["cca", "ip_version"], sort=False):
        dots = cell[cell["mark"] == "replication"]
        points = [(float(a), float(b)) for a, b in zip(dots[x], dots[y], strict=True)]
        face = "none" if ip_version == "ipv6" else cca_colour(cca)
        drawn = _dots(axes, points, cca, face)
        if drawn is not None:
            records = dots.to_dict("records")
            tell(drawn, [run_words(dot, _words(dot, quantity)) for dot in records], cell_name(records))
        everywhere += points
        for mean in cell[cell["mark"] == "mean"].to_dict("records"):
            if is_missing(mean[y]):
                missing.append((f"{cca} {ip_words(ip_version)}", mean["note"]))
                continue
            means.setdefault(cca, []).append((float(mean[x]), float(mean[y])))
            (drawn,) = axes.plot(
                [float(mean[x])], [float(mean[y])], ls="none", marker=cca_marker(cca), ms=5.5, mec=cca_colour(cca),
                mew=1.3, mfc=face, zorder=3,
            )  # fmt: skip
            tell(drawn, [f"mean {_words(mean, quantity)}, n = {mean['n']}"], cell_name([mean]))
    name_marks(axes, means, everywhere, lines)
    name_missing(axes, missing)


def _words(row, quantity):
    ends = [f"{value_words(row[one.column], unit=one.unit)}" for one in (GOODPUT, quantity)]
    return f"{ends[0]}, {quantity.name} {ends[1]}"


def _dots(axes, points, cca, face):
    """Draw a cell's replications; return the line object of their markers, or None if they are drawn as a cloud of dots."""
    colour = cca_colour(cca)
    if len(points) <= MARKERS_AT_MOST:
        return axes.plot(
            [x for x, _ in points], [y for _, y in points], ls="none", marker=cca_marker(cca),
            ms=2.8, mec=colour, mew=0.7, mfc=face, alpha=0.6, zorder=2,
        )[0]  # fmt: skip
    # Each dot is a line of zero length.
    path = Outline([point for point in points for _ in range(2)], [Outline.MOVETO, Outline.LINETO] * len(points))
    axes.add_patch(PathPatch(path, fill=False, ec=colour, lw=1.6, capstyle="round", alpha=0.45, zorder=2))
    return None


def _describe(rows, scenario, x, lines):
    parts = []
    for row in rows[rows["mark"] == "mean"].to_dict("records"):
        values = (f"{number(row[quantity.column])} {quantity.unit}" for quantity in (GOODPUT, x))
        words = row["note"] if is_missing(row[GOODPUT.column]) else " at ".join(values)
        parts.append(f"{row['cca']} {ip_words(row['ip_version'])}: {words}")
    return (
        f"{GOODPUT.name} against {x.name} in {heading(scenario)} ({conditions(scenario)}). Means: {'; '.join(parts)}."
        + "".join(f" Dashed line at {number(value)} {x.unit}." for value in lines)
    )
