"""Draw one quantity against another, a panel a scenario: each replication a dot, and the means.

CCAs have their colour and marker and are named beside their means; IPv4 is filled, IPv6 open.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis, panel_axes
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import Panel, save_svg
from figure_parts.named_marks import name_marks, name_missing
from figure_parts.scenario_panels import (
    INDENT_PT,
    TITLE_PT,
    header,
    lines_behind,
    reference_entry,
    reference_line,
    replication_entries,
    scenario_grid,
    scenario_title,
    size_pt,
    unclipped,
    unit_below,
    value_axis,
)  # fmt: skip
from figure_parts.small_dots import DOTS_AT_MOST, draw_dots, draw_mean
from run_tables.tidy_tables import CELL
from study_files.study_design import cell_words
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words

LEFT_PT, RIGHT_PT, AXIS_PT, Y_NAME_PT, PLOT_PT = 36, 10, 32, 13, 128
# Beyond this number of CCAs a panel grows, so that there is room for their names.
CCAS_AT_EASE, PER_CCA_PT = 8, 8


@dataclass(frozen=True)
class Quantity:
    """One direction of the figure: its column, and how it is named on the axis."""

    column: str
    name: str
    unit: str

    @property
    def words(self) -> str:
        """Name and unit."""
        return f"{self.name}, {self.unit}"


def scatter_data(runs, x, y, references=None) -> pd.DataFrame:
    """Collect what the figure shows: a row for each dot, each mean and each reference line.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv`` with columns `x` and `y`.
    x, y : str
        Columns. Only valid runs that have both are shown.
    references : dict of str to float or None, optional
        For each scenario the value of `x` at which a line stands.

    Returns
    -------
    pandas.DataFrame
        scenario, scenario_label, cca, ip_version, mark ("replication", "mean", "reference"),
        replication, x, y, n (of a mean) and note (why a cell has no mean). Of more than
        `DOTS_AT_MOST` replications the first are dots; the mean is that of all.
    """
    rows, lines = [], []
    for cell, group in runs.groupby(CELL, sort=False):
        known = group[group["valid"] & group[x].notna() & group[y].notna()]
        same = {**dict(zip(CELL, cell, strict=True)), "scenario_label": group["scenario_label"].iloc[0]}
        for run in known.head(DOTS_AT_MOST).to_dict("records"):
            dot = {"mark": "replication", "replication": int(run["replication"]), x: run[x], y: run[y]}
            rows.append({**same, **dot})
        mean = {"mark": "mean", "n": len(known)}
        if len(known):
            mean |= {x: float(known[x].mean()), y: float(known[y].mean())}
        else:
            mean["note"] = "no value" if group["valid"].any() else "no valid run"
        rows.append({**same, **mean})
    for scenario, value in (references or {}).items():
        if value is not None:
            label = runs.loc[runs["scenario"] == scenario, "scenario_label"].iloc[0]
            lines.append({"scenario": scenario, "scenario_label": label, "mark": "reference", x: value})
    columns = ["scenario", "scenario_label", "cca", "ip_version", "mark", "replication", x, y, "n", "note"]
    table = {name: [row.get(name) for row in rows + lines] for name in columns}
    return pd.DataFrame(table, dtype=object)


def draw_scatter(data, scenarios, x, y, ccas, ip_versions, better, reference_name=None) -> tuple[Figure, list[Panel]]:
    """Draw the figure.

    Parameters
    ----------
    data : pandas.DataFrame
        As `scatter_data` gives.
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``, a panel a row.
    x, y : Quantity
    ccas, ip_versions : list of str
    better : str
        Where in a panel the good results are, in a few words.
    reference_name : str, optional
        What the dashed line is.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    plot = PLOT_PT + PER_CCA_PT * max(0, len(ccas) - CCAS_AT_EASE)
    top = TITLE_PT + Y_NAME_PT
    grid = scenario_grid(len(scenarios), top + plot + AXIS_PT)
    figure = grid.figure()
    references = data[data["mark"] == "reference"]
    header(figure, f"{y.name} against {x.name}", _key(ip_versions, len(references) > 0, reference_name))
    x_axes, y_axes = (_axes_of_panels(data, scenarios, quantity.column) for quantity in (x, y))
    panels = []
    for position, scenario in enumerate(scenarios.to_dict("records")):
        axes = grid.axes(figure, position, LEFT_PT, RIGHT_PT, top, AXIS_PT)
        rows = data[data["scenario"] == scenario["scenario"]]
        value_axis(axes, "x", x_axes[position], spaced=True)
        value_axis(axes, "y", y_axes[position])
        lines_behind(axes, "xy")
        axes.tick_params(axis="y", labelcolor=LIGHT.muted, labelsize=SMALL_SIZE_PT)
        unit_below(axes, x_axes[position], x.words)
        scenario_title(axes, scenario, LEFT_PT, raised=Y_NAME_PT)
        _line_above(axes, y, y_axes[position], better)
        lines = [float(value) for value in rows.loc[rows["mark"] == "reference", x.column]]
        for value in lines:
            reference_line(axes, value)
        _marks(axes, rows, x.column, y.column, lines)
        unclipped(axes)
        panels.append(grid.panel(position, _describe(rows, scenario, x, y)))
    return figure, panels


def _key(ip_versions, with_reference, reference_name):
    entries = replication_entries(ip_versions)
    entries.append(
        Line2D([], [], ls="none", marker="o", ms=5.5, mec=LIGHT.ink, mfc=LIGHT.ink, label="mean, with the CCA's name")
    )
    return [*entries, reference_entry(reference_name)] if with_reference else entries


def _axes_of_panels(data, scenarios, column):
    values = [
        [float(v) for v in data.loc[data["scenario"] == name, column] if not is_missing(v)]
        for name in scenarios["scenario"]
    ]
    if any(value < 0 for panel in values for value in panel):
        # A real clock can measure less than the path's delay.
        return [linear_axis(min(panel, default=0.0), max(panel, default=1.0)) for panel in values]
    return panel_axes(values)


def _line_above(axes, y, axis, better):
    width, height = size_pt(axes)
    name = y.words if axis.kind == "linear" else f"{y.words}, log."
    for text, place, side in ((name, -(LEFT_PT - INDENT_PT) / width, "left"), (better, 1.0, "right")):
        axes.text(
            place, 1 + 5 / height, text, size=SMALL_SIZE_PT, color=LIGHT.muted, ha=side,
            va="baseline", transform=axes.transAxes, style="normal" if side == "left" else "italic",
        )  # fmt: skip


def _marks(axes, rows, x, y, lines):
    everywhere, means, missing = [], {}, []
    for (cca, ip_version), cell in rows.groupby(["cca", "ip_version"], sort=False):
        points = [(float(row[x]), float(row[y])) for row in cell[cell["mark"] == "replication"].to_dict("records")]
        draw_dots(axes, points, cca, ip_version == "ipv6")
        everywhere += points
        for mean in cell[cell["mark"] == "mean"].to_dict("records"):
            if is_missing(mean[y]):
                missing.append((f"{cca} {ip_words(ip_version)}", mean["note"]))
                continue
            draw_mean(axes, float(mean[x]), float(mean[y]), cca, ip_version == "ipv6")
            means.setdefault(cca, []).append((float(mean[x]), float(mean[y])))
    name_marks(axes, means, everywhere, lines)
    name_missing(axes, missing)


def _describe(rows, scenario, x, y):
    parts = []
    for row in rows[rows["mark"] == "mean"].to_dict("records"):
        cell = f"{row['cca']} {ip_words(row['ip_version'])}"
        if is_missing(row[y.column]):
            parts.append(f"{cell}: {row['note']}")
        else:
            values = (f"{number(float(row[q.column]))} {q.unit}" for q in (y, x))
            parts.append(f"{cell}: {' at '.join(values)}")
    lines = [f" Dashed line at {number(float(value))} {x.unit}."
             for value in rows.loc[rows["mark"] == "reference", x.column]]  # fmt: skip
    return (
        f"{y.name} against {x.name} in {heading(scenario)} ({conditions(scenario)}). "
        f"Means: {'; '.join(parts)}.{''.join(lines)}"
    )


def write_scatter(runs, scenarios, x, y, better, svg_path, csv_path, references=None, reference_name=None) -> None:
    """Draw `y` against `x` and write figure and data.

    Parameters
    ----------
    runs, scenarios : pandas.DataFrame
        The tables of these names, the runs with both columns.
    x, y : Quantity
    better, reference_name : str
        As `draw_scatter`.
    svg_path, csv_path : str or path
    references : dict of str to float or None, optional
        As `scatter_data`.
    """
    data = scatter_data(runs, x.column, y.column, references)
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    figure, panels = draw_scatter(data, scenarios, x, y, ccas, ip_versions, better, reference_name)
    save_svg(figure, svg_path, f"{y.name} against {x.name}, by {cell_words(ccas, ip_versions)}", panels)
    plt.close(figure)
    data.to_csv(csv_path, index=False, lineterminator="\n")
