"""Plot, side by side, the mean goodput of the same cells in two studies."""

from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis, log_axis
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import (
    TITLE_PT,
    PanelFigure,
    remark,
    row_labels_pt,
    rows_of,
    scenario_grid,
    scenario_title,
    unit_below,
    value_axis,
)  # fmt: skip
from figure_parts.tooltips import cell_name, tell, value_words
from run_tables.metrics import metric_by_slug
from run_tables.run_keys import CELL
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words

ROW_PT, RIGHT_PT, AXIS_PT = 24, 10, 32
IP_STEP = 0.42
NOTHING = "The studies have no cells in common."


def _common_cells(descriptive, other, metric):
    """Pair the two studies' means for each cell that both studies contain, in this study's order.

    The columns are scenario, scenario_label, cca, ip_version, n, the metric, other_n, other_<metric> and note (the reason why a cell can't
    be compared). A missing value is None.
    """
    here, there = (table[table["metric"] == metric.column] for table in (descriptive, other))
    cells = here.merge(there[[*CELL, "n", "mean"]], on=CELL, suffixes=("", "_there"))
    cells["note"] = [_note(means) for means in zip(cells["mean"], cells["mean_there"], strict=True)]
    names = {"mean": metric.column, "n_there": "other_n", "mean_there": f"other_{metric.column}"}
    cells = cells.rename(columns=names).astype({"n": int, "other_n": int})
    columns = [CELL[0], "scenario_label", *CELL[1:], "n", metric.column, *list(names.values())[1:], "note"]
    return cells[columns].astype(object).where(cells[columns].notna(), None)


def _note(values):
    missing = [is_missing(value) for value in values]
    if any(missing):
        return "no value in either" if all(missing) else "no value here" if missing[0] else "no value there"
    return "nothing got through" if min(values) <= 0 else ""


def _draw_methods(cells, scenarios, metric, names):
    """Draw the cells of `_common_cells`, with one panel for each scenario that contains such cells.

    ``names`` contains the name of this study and that of the other study.
    """
    apply_style()
    shown = scenarios[scenarios["scenario"].isin(set(cells["scenario"]))]
    ccas, ip_versions = list(cells["cca"].unique()), list(cells["ip_version"].unique())
    left = row_labels_pt(ccas)
    grid = scenario_grid(len(shown), TITLE_PT + ROW_PT * max(1, len(ccas)) + AXIS_PT, left)
    title, key = f"{metric.name}: {names[0]} and {names[1]}", _key(ip_versions, names)
    drawn = PanelFigure(title, grid, (left, RIGHT_PT, TITLE_PT, AXIS_PT), key)
    if shown.empty:
        axes = drawn.next_axes()
        axes.set_axis_off()
        axes.text(0, 0.5, NOTHING, size=SMALL_SIZE_PT, color=LIGHT.muted, transform=axes.transAxes)
        drawn.finish(axes, NOTHING)
        return drawn
    axis = _one_axis(cells, metric)
    for scenario in shown.to_dict("records"):
        axes = drawn.next_axes()
        of_scenario = cells[cells["scenario"] == scenario["scenario"]].to_dict("records")
        value_axis(axes, "x", axis, spaced=True)
        rows_of(axes, ccas)
        unit_below(axes, axis, metric.unit)
        scenario_title(axes, scenario, left)
        for cell in of_scenario:
            line = ip_versions.index(cell["ip_version"]) - (len(ip_versions) - 1) / 2
            _dumbbell(axes, cell, ccas.index(cell["cca"]) + line * IP_STEP, metric)
        drawn.finish(axes, _describe(of_scenario, scenario, metric, names))
    return drawn


def _one_axis(cells, metric):
    # All panels use the same axis, so that lines of equal length show equal ratios.
    drawn = cells[cells["note"] == ""]
    values = [*drawn[metric.column], *drawn[f"other_{metric.column}"]]
    if not values:
        return Axis("linear", 0.0, 1.0, (0, 1))
    low, high = min(values), max(values)
    return log_axis(low / 1.05, high * 1.05) if high / low > 2 else log_axis(low / 2, high * 2)


def _key(ip_versions, names):
    entries = [
        Line2D([], [], ls="none", marker="o", ms=4.5, mec=LIGHT.ink, mew=1,
               mfc="none" if ip_version == "ipv6" else LIGHT.ink, label=f"{names[0]}, {ip_words(ip_version)}")
        for ip_version in ip_versions
    ]  # fmt: skip
    cross = Line2D([], [], ls="none", marker="x", ms=4.5, mew=1.2, color=LIGHT.ink, label=names[1])
    return [*entries, cross]


def _dumbbell(axes, cell, y, metric):
    if cell["note"]:
        remark(axes, y, cell["note"])
        return
    here, there = cell[metric.column], cell[f"other_{metric.column}"]
    colour = cca_colour(cell["cca"])
    axes.plot([here, there], [y, y], color=colour, lw=1.4, alpha=0.5, zorder=2)
    axes.plot([there], [y], ls="none", marker="x", ms=4.5, mew=1.2, color=LIGHT.ink, zorder=3)
    (mark,) = axes.plot(
        [here], [y], ls="none", marker=cca_marker(cell["cca"]), ms=4.8, mec=colour, mew=1.1,
        mfc="none" if cell["ip_version"] == "ipv6" else colour, zorder=4,
    )  # fmt: skip
    words = f"{value_words(here, unit=metric.unit)}, in the other study {value_words(there, unit=metric.unit)}"
    tell(mark, [words], cell_name([cell]))


def _describe(cells, scenario, metric, names):
    parts = []
    for cell in cells:
        name = f"{cell['cca']} {ip_words(cell['ip_version'])}"
        values = (number(cell[metric.column]), number(cell[f"other_{metric.column}"]))
        parts.append(f"{name}: {cell['note'] or ' and '.join(values)}")
    return (
        f"Mean {metric.name.lower()} in {metric.unit} in {names[0]} and in {names[1]}, in "
        f"{heading(scenario)} ({conditions(scenario)}). {'; '.join(parts)}."
    )


def plot_methods(descriptive, other_descriptive, scenarios, name, other_name) -> Drawing:
    """Return the figure that compares two studies' mean goodput, and its data."""
    metric = metric_by_slug("goodput")
    cells = _common_cells(descriptive, *other_descriptive, metric)
    drawn = _draw_methods(cells, scenarios, metric, (name, other_name))
    return drawn.drawing(f"{metric.name} of the same cells in two studies", cells)
