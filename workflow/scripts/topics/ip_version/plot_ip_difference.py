"""Plot the difference between IPv6 and IPv4 in each cell, with intervals and the margins of equivalence."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from figure_parts.axis_scales import difference_axis
from figure_parts.figure_style import LIGHT, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_figure import ScenarioFigure
from figure_parts.scenario_panels import MINUS, interval_line, reference_entry, reference_line, remark, row_labels_pt
from figure_parts.tooltips import tell
from run_tables.metrics import metric_by_slug
from topics.ip_version.tables import MSS_RATIO
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading

ROW_PT = 20
NUMBERS = ["effect", "ci_low", "ci_high", "ci90_low", "ci90_high", "expected_effect", "margin"]


def _figure_rows(table, metric, scenarios, ccas) -> pd.DataFrame:
    """Return the figure's data: one row per scenario and CCA, including cells that are missing from ``table``."""
    of_metric = table[table["metric"] == metric.column]
    known = {(row["scenario"], row["cca"]): row for row in of_metric.to_dict("records")}
    rows = []
    for scenario, label in zip(scenarios["scenario"], scenarios["label"], strict=True):
        for cca in ccas:
            row = known.get((scenario, cca), {"pairs": 0.0})
            numbers = {name: _known(row.get(name)) for name in NUMBERS}
            rows.append(
                {
                    "scenario": scenario, "scenario_label": label, "cca": cca,
                    "pairs": int(_known(row["pairs"]) or 0), **numbers, "effect_unit": metric.effect_unit,
                    "verdict": row.get("verdict", ""), "note": row.get("note", ""),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, dtype=object)


def _known(value):
    return None if is_missing(value) else float(value)


def _values(data, *names):
    return [value for name in names for value in data[name] if value is not None]


def _axis(data):
    # The axis always includes effects, margins and the expected ratio. Intervals may widen the axis by
    # half; those that extend further end in an arrowhead.
    shown = _values(data, "effect", "expected_effect")
    margin = max(_values(data, "margin"), default=None)
    low, high = min([-(margin or 0.0), *shown]), max([margin or 0.0, *shown])
    room = (high - low) / 2
    ends = _values(data, "ci_low", "ci_high", "ci90_low", "ci90_high")
    if low != high:  # otherwise there is no margin, and the effect is the same everywhere
        ends = [min(max(end, low - room), high + room) for end in ends]
    return difference_axis(shown + ends, margin)


def _key(data, confidence, significance):
    entries = [
        Line2D([], [], ls="none", marker="o", ms=5, mec=LIGHT.ink, mfc=LIGHT.ink, label="mean of the pairs"),
        Line2D([], [], color=LIGHT.ink, lw=1, label=f"{100 * confidence:g} % interval"),
        Line2D([], [], color=LIGHT.muted, lw=3, label=f"{100 * (1 - 2 * significance):g} % interval"),
    ]
    if data["margin"].notna().any():
        entries.append(Patch(fc=LIGHT.line, ec="none", label="within the margins"))
    if data["expected_effect"].notna().any():
        entries.append(reference_entry(MSS_RATIO))
    return entries


def _draw_row(axes, cell, row):
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
    (drawn,) = axes.plot(
        [cell["effect"]], [row], ls="none", marker=cca_marker(cell["cca"]), ms=5, mec=colour,
        mfc=colour, mew=0.8, zorder=4,
    )  # fmt: skip
    tell(drawn, [_cell_words(cell).replace("-", MINUS)], cell["scenario"])


def _cell_words(cell):
    if cell["effect"] is None:
        return f"{cell['cca']}: no value"
    ends = "" if cell["ci_low"] is None else f" ({number(cell['ci_low'])} to {number(cell['ci_high'])})"
    return f"{cell['cca']}: {number(cell['effect'])}{ends}{', ' if cell['verdict'] else ''}{cell['verdict']}"


def plot_ip_difference(scenarios, runs, ip_versions, metric, confidence, significance) -> Drawing:
    """Return the figure and its data."""
    metric = metric_by_slug(metric)
    ccas = list(runs["cca"].unique())
    data = _figure_rows(ip_versions, metric, scenarios, ccas)
    title, axis = f"{metric.name}: IPv6 minus IPv4", _axis(data)
    key = _key(data, confidence, significance)
    drawn = ScenarioFigure(title, key, len(scenarios), ROW_PT * len(ccas), row_labels_pt(ccas))
    below, unit = ("%", "percent") if metric.effect_unit == "%" else ["percentage points"] * 2
    for scenario in scenarios.to_dict("records"):
        cells = data[data["scenario"] == scenario["scenario"]]
        axes = drawn.add_rows(scenario, axis, f"IPv6 {MINUS} IPv4, {below}", ccas)
        margins = _values(cells, "margin")[:1]
        for margin in margins:
            axes.axvspan(-margin, margin, fc=LIGHT.line, ec="none", lw=0, alpha=0.6, zorder=0.2)
        axes.axvline(0, color=LIGHT.muted, lw=0.9, zorder=1)
        for expected in _values(cells, "expected_effect")[:1]:
            reference_line(axes, expected)
        for row, cell in enumerate(cells.to_dict("records")):
            _draw_row(axes, cell, row)
        description = (
            f"{metric.name}, IPv6 minus IPv4 in {unit}, with {100 * confidence:g} % interval, in "
            f"{heading(scenario)} ({conditions(scenario)}). {'; '.join(map(_cell_words, cells.to_dict('records')))}."
            + "".join(f" Margins: {number(margin)} to both sides." for margin in margins)
        )
        drawn.finish(axes, description.replace("-", MINUS))
    return drawn.drawing(f"{title} by scenario and CCA", data)
