"""Draw how far IPv6 is from IPv4 in each cell, with intervals and the margins of equivalence."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from figure_parts.axis_scales import difference_axis
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Panel, save_figure
from figure_parts.scenario_panels import (
    MINUS,
    TITLE_PT,
    header,
    interval_line,
    reference_entry,
    reference_line,
    remark,
    rows_of,
    scenario_grid,
    scenario_title,
    unclipped,
    unit_below,
    value_axis,
)  # fmt: skip
from rule_script import run_rule
from run_tables.metrics import metric_by_slug
from run_tables.reading import read_runs, read_table
from run_tables.tidy_tables import SCENARIOS
from topics.ip_version.tables import IP_VERSION_TESTS
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading

ROW_PT, LABELS_PT, RIGHT_PT, AXIS_PT = 20, 56, 10, 32
EXPECTED = "ratio of the MSSs"
NUMBERS = ["effect", "ci_low", "ci_high", "ci90_low", "ci90_high", "expected_effect", "margin"]


def difference_data(table, metric, scenarios, ccas) -> pd.DataFrame:
    """Collect what the figure shows: a row a scenario and CCA, whether the table has it or not.

    Parameters
    ----------
    table : pandas.DataFrame
        ``analysis/ip_versions.csv``.
    metric : Metric
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``.
    ccas : list of str

    Returns
    -------
    pandas.DataFrame
        scenario, scenario_label, cca, pairs, effect (IPv6 less IPv4), ci_low, ci_high, ci90_low,
        ci90_high, expected_effect, margin, all in effect_unit; verdict and note.
    """
    of_metric = table[table["metric"] == metric.column]
    known = {(row["scenario"], row["cca"]): row for row in of_metric.to_dict("records")}
    rows = []
    for scenario in scenarios.to_dict("records"):
        for cca in ccas:
            row = known.get((scenario["scenario"], cca), {"pairs": 0.0})
            numbers = {name: _known(row.get(name)) for name in NUMBERS}
            rows.append(
                {
                    "scenario": scenario["scenario"], "scenario_label": scenario["label"], "cca": cca,
                    "pairs": int(_known(row["pairs"]) or 0), **numbers, "effect_unit": metric.effect_unit,
                    "verdict": row.get("verdict", ""), "note": row.get("note", ""),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, dtype=object)


def _known(value):
    return None if is_missing(value) else float(value)


def draw_differences(data, scenarios, ccas, metric, confidence, significance) -> tuple[Figure, list[Panel]]:
    """Draw the figure.

    Parameters
    ----------
    data : pandas.DataFrame
        As `difference_data` gives.
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``, a panel a row.
    ccas : list of str
        Rows from the top.
    metric : Metric
    confidence, significance : float
        Of the wide interval; the narrow one is of 1 - 2 x significance.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of Panel
    """
    apply_style()
    grid = scenario_grid(len(scenarios), TITLE_PT + ROW_PT * len(ccas) + AXIS_PT)
    figure = grid.figure()
    header(figure, f"{metric.name}: IPv6 less IPv4", _key(data, confidence, significance))
    axis = difference_axis(*_shown(data))
    panels = []
    for position, scenario in enumerate(scenarios.to_dict("records")):
        axes = grid.axes(figure, position, LABELS_PT, RIGHT_PT, TITLE_PT, AXIS_PT)
        cells = data[data["scenario"] == scenario["scenario"]].to_dict("records")
        value_axis(axes, "x", axis, spaced=True)
        rows_of(axes, ccas)
        unit = "%" if metric.effect_unit == "%" else "percentage points"
        unit_below(axes, axis, f"IPv6 {MINUS} IPv4, {unit}")
        scenario_title(axes, scenario, LABELS_PT)
        for margin in _first(cells, "margin"):
            axes.axvspan(-margin, margin, fc=LIGHT.line, ec="none", lw=0, alpha=0.6, zorder=0.2)
        axes.axvline(0, color=LIGHT.muted, lw=0.9, zorder=1)
        for expected in _first(cells, "expected_effect"):
            reference_line(axes, expected)
        for cell in cells:
            _row(axes, cell, ccas.index(cell["cca"]))
        unclipped(axes)
        panels.append(grid.panel(position, _describe(cells, scenario, metric, confidence)))
    return figure, panels


def _first(cells, name):
    return [cell[name] for cell in cells if cell[name] is not None][:1]


def _shown(data):
    # Effects, margins and the expected ratio are always on the axis. Intervals may widen it by
    # half; what reaches further gets an arrowhead.
    shown = [v for name in ("effect", "expected_effect") for v in data[name] if v is not None]
    margin = max([v for v in data["margin"] if v is not None], default=None)
    low, high = min([-(margin or 0.0), *shown]), max([margin or 0.0, *shown])
    room = (high - low) / 2
    names = ("ci_low", "ci_high", "ci90_low", "ci90_high")
    ends = [v for name in names for v in data[name] if v is not None]
    if low == high:  # no margin, and the same effect everywhere
        return shown + ends, margin
    return shown + [min(max(end, low - room), high + room) for end in ends], margin


def _key(data, confidence, significance):
    entries = [
        Line2D([], [], ls="none", marker="o", ms=5, mec=LIGHT.ink, mfc=LIGHT.ink, label="mean of the pairs"),
        Line2D([], [], color=LIGHT.ink, lw=1, label=f"{100 * confidence:g} % interval"),
        Line2D([], [], color=LIGHT.muted, lw=3, label=f"{100 * (1 - 2 * significance):g} % interval"),
    ]
    if data["margin"].notna().any():
        entries.append(Patch(fc=LIGHT.line, ec="none", label="within the margins"))
    if data["expected_effect"].notna().any():
        entries.append(reference_entry(EXPECTED))
    return entries


def _row(axes, cell, row):
    if cell["effect"] is None:
        remark(axes, row, "no value" if cell["pairs"] else "no pair")
        return
    colour = cca_colour(cell["cca"])
    if cell["ci90_low"] is not None:
        left, right = axes.get_xlim()
        ends = [max(cell["ci90_low"], left), min(cell["ci90_high"], right)]
        axes.plot(ends, [row, row], color=colour, lw=3, solid_capstyle="butt", alpha=0.55, zorder=2)
    if cell["ci_low"] is not None:
        interval_line(axes, cell["ci_low"], cell["ci_high"], row)
    axes.plot(
        [cell["effect"]], [row], ls="none", marker=cca_marker(cell["cca"]), ms=5, mec=colour,
        mfc=colour, mew=0.8, zorder=4,
    )  # fmt: skip


def _describe(cells, scenario, metric, confidence):
    parts = []
    for cell in cells:
        if cell["effect"] is None:
            parts.append(f"{cell['cca']}: no value")
            continue
        ends = ""
        if cell["ci_low"] is not None:
            ends = f" ({number(cell['ci_low'])} to {number(cell['ci_high'])})"
        verdict = f", {cell['verdict']}" if cell["verdict"] else ""
        parts.append(f"{cell['cca']}: {number(cell['effect'])}{ends}{verdict}")
    unit = "percent" if metric.effect_unit == "%" else "percentage points"
    margins = "".join(f" Margins: {number(m)} to both sides." for m in _first(cells, "margin"))
    return (
        f"{metric.name}, IPv6 less IPv4 in {unit}, with {100 * confidence:g} % interval, in "
        f"{heading(scenario)} ({conditions(scenario)}). {'; '.join(parts)}.{margins}"
    ).replace("-", MINUS)


def main(inputs, outputs, params) -> None:
    """Read runs, scenarios and the comparison, write figure and data."""
    metric = metric_by_slug(params.metric)
    scenarios = read_table(inputs.scenarios, SCENARIOS)
    ccas = list(read_runs(inputs.runs)["cca"].unique())
    data = difference_data(read_table(inputs.ip_versions, IP_VERSION_TESTS), metric, scenarios, ccas)
    figure, panels = draw_differences(data, scenarios, ccas, metric, params.confidence, params.significance)
    save_figure(figure, panels, f"{metric.name}: IPv6 less IPv4 by scenario and CCA", data, outputs)


if "snakemake" in globals():
    run_rule(main, snakemake)
