"""Draw the empirical distribution of goodput in each cell."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis, axis_for
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Panel, save_figure
from figure_parts.named_marks import name_marks, name_missing
from figure_parts.scenario_panels import (
    INDENT_PT,
    TITLE_PT,
    header,
    lines_behind,
    parts_of,
    scenario_grid,
    scenario_title,
    size_pt,
    unclipped,
    unit_below,
    value_axis,
)  # fmt: skip
from rule_script import run_rule
from run_tables.metrics import metric_by_slug
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import CELL, SCENARIOS
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words

LEFT_PT, RIGHT_PT, AXIS_PT, Y_NAME_PT, PLOT_PT = 30, 12, 32, 13, 128
# More CCAs than these are spread over several panels, so that lines can be told apart.
CCAS_A_PANEL = 8
# Of more values so many steps are drawn, evenly spaced in rank.
STEPS_AT_MOST = 200
# A name may stand beside its line at these heights.
NAMED_AT = (0.15, 0.35, 0.5, 0.65, 0.85)
# Names keep off the lines, which are looked at at so many heights.
HEIGHTS_KEPT_FREE = 30
SHARES = Axis("linear", 0.0, 1.0, (0, 0.5, 1))
LINES = {"ipv4": "-", "ipv6": (0, (2.2, 1.4))}


def steps(values) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of an empirical distribution.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        At least one.

    Returns
    -------
    values, shares : array of float, shape (m,)
        Sorted values, and the share of all that is at most as large; m is n, or `STEPS_AT_MOST`.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    ranks = np.arange(n)
    if n > STEPS_AT_MOST:
        ranks = np.unique(np.linspace(0, n - 1, STEPS_AT_MOST).round().astype(int))
    return ordered[ranks], (ranks + 1) / n


def distribution_data(runs, column) -> pd.DataFrame:
    """Collect what the figure shows: a row a step, or one that says why a cell has none.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    column : str
        The metric's column.

    Returns
    -------
    pandas.DataFrame
        scenario, scenario_label, cca, ip_version, n, the column, share, note.
    """
    rows = []
    for cell, group in runs.groupby(CELL, sort=False):
        known = group.loc[group["valid"] & group[column].notna(), column]
        first = (*cell, group["scenario_label"].iloc[0], len(known))
        if len(known):
            rows += [(*first, value, share, "") for value, share in zip(*steps(known), strict=True)]
        else:
            note = "no value" if group["valid"].any() else "no valid run"
            rows.append((*first, None, None, note))
    columns = [*CELL, "scenario_label", "n", column, "share", "note"]
    data = pd.DataFrame(rows, columns=columns).astype(object)
    return data[["scenario", "scenario_label", "cca", "ip_version", "n", column, "share", "note"]]


def draw_distributions(data, scenarios, metric, ccas, ip_versions) -> tuple[Figure, list[Panel]]:
    """Draw the figure.

    Parameters
    ----------
    data : pandas.DataFrame
        As `distribution_data` gives.
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``, a panel a row, or several for many CCAs.
    metric : Metric
    ccas, ip_versions : list of str

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    top = TITLE_PT + Y_NAME_PT
    parts = parts_of(ccas, CCAS_A_PANEL)
    grid = scenario_grid(len(scenarios) * len(parts), top + PLOT_PT + AXIS_PT)
    figure = grid.figure()
    header(figure, f"{metric.name}: distribution of the replications", _key(ip_versions))
    panels = []
    for scenario in scenarios.to_dict("records"):
        of_scenario = data[data["scenario"] == scenario["scenario"]]
        # An axis of its own for each scenario: this figure is about shapes.
        axis = axis_for([value for value in of_scenario[metric.column] if not is_missing(value)])
        for part in parts:
            axes = grid.axes(figure, len(panels), LEFT_PT, RIGHT_PT, top, AXIS_PT)
            shown = of_scenario[of_scenario["cca"].isin(part)]
            _frame(axes, axis, scenario, metric)
            _lines(axes, shown, metric.column)
            unclipped(axes)
            panels.append(grid.panel(len(panels), _describe(shown, scenario, metric)))
    return figure, panels


def _key(ip_versions):
    return [
        Line2D([], [], color=LIGHT.ink, lw=1.2, ls=LINES.get(name, "-"), marker="o", ms=4,
               mfc="none" if name == "ipv6" else LIGHT.ink, mec=LIGHT.ink, label=ip_words(name))
        for name in ip_versions
    ]  # fmt: skip


def _frame(axes, axis, scenario, metric):
    value_axis(axes, "x", axis, spaced=True)
    value_axis(axes, "y", SHARES)
    lines_behind(axes, "xy")
    axes.tick_params(axis="y", labelcolor=LIGHT.muted, labelsize=SMALL_SIZE_PT)
    unit_below(axes, axis, f"{metric.name}, {metric.unit}")
    scenario_title(axes, scenario, LEFT_PT, raised=Y_NAME_PT)
    width, height = size_pt(axes)
    axes.text(
        -(LEFT_PT - INDENT_PT) / width, 1 + 5 / height, "share of replications at or below",
        size=SMALL_SIZE_PT, color=LIGHT.muted, va="baseline", transform=axes.transAxes,
    )  # fmt: skip


def _lines(axes, data, column):
    anchors, dots, missing = {}, [], []
    for (cca, ip_version), cell in data.groupby(["cca", "ip_version"], sort=False):
        if is_missing(cell[column].iloc[0]):
            missing.append((f"{cca} {ip_words(ip_version)}", cell["note"].iloc[0]))
            continue
        values, shares = (cell[name].to_numpy(float) for name in (column, "share"))
        colour, is_open = cca_colour(cca), ip_version == "ipv6"
        xs, ys = [values[0], *values], [0.0, *shares]
        axes.step(xs, ys, where="post", color=colour, lw=1.1, ls=LINES.get(ip_version, "-"), zorder=2)
        middle = values[int(np.searchsorted(shares, 0.5))]
        axes.plot(
            [middle], [0.5], ls="none", marker=cca_marker(cca), ms=4.2, mec=colour, mew=1,
            mfc="none" if is_open else colour, zorder=3,
        )  # fmt: skip
        at = [float(values[int(np.searchsorted(shares, share))]) for share in NAMED_AT]
        anchors.setdefault(cca, []).extend(zip(at, NAMED_AT, strict=True))
        heights = np.linspace(0.02, 1, HEIGHTS_KEPT_FREE)
        dots += zip(values[np.searchsorted(shares, heights - 1e-9)], heights, strict=True)
    name_marks(axes, anchors, dots, dot_cost=12, leader_from=2)
    name_missing(axes, missing)


def _describe(data, scenario, metric):
    parts = []
    for (cca, ip_version), cell in data.groupby(["cca", "ip_version"], sort=False):
        name = f"{cca} {ip_words(ip_version)}"
        if is_missing(cell[metric.column].iloc[0]):
            parts.append(f"{name}: {cell['note'].iloc[0]}")
            continue
        values, shares = (cell[key].to_numpy(float) for key in (metric.column, "share"))
        middle = values[int(np.searchsorted(shares, 0.5))]
        parts.append(f"{name}: {number(values[0])}, {number(middle)}, {number(values[-1])}")
    return (
        f"Distribution of {metric.name.lower()} over the replications in {heading(scenario)} "
        f"({conditions(scenario)}). Smallest, middle and largest in {metric.unit}: {'; '.join(parts)}."
    )


def main(inputs, outputs, params) -> None:
    """Read runs and scenarios, write figure and data."""
    metric = metric_by_slug("goodput")
    runs = read_runs(inputs.runs)
    data = distribution_data(runs, metric.column)
    figure, panels = draw_distributions(
        data, read_table(inputs.scenarios, SCENARIOS), metric, list(runs["cca"].unique()),
        list(runs["ip_version"].unique()),
    )  # fmt: skip
    save_figure(figure, panels, f"Distribution of {metric.name.lower()} in each cell", data, outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
