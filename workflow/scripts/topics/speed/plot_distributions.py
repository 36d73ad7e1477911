"""Plot the empirical distribution function of goodput in each cell."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import Axis, axis_for
from figure_parts.figure_style import LIGHT, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.named_marks import name_marks, name_missing
from figure_parts.scenario_figure import NAME_PT, PLOT_PT, ScenarioFigure
from figure_parts.scenario_panels import parts_of
from figure_parts.tooltips import tell_line
from run_tables.metrics import metric_by_slug
from run_tables.run_keys import CELL
from wording.number_format import is_missing, number
from wording.scenario_words import conditions, heading, ip_words

METRIC = metric_by_slug("goodput")
LEFT_PT, RIGHT_PT = 30, 12
# If there are more CCAs than this, they are split into several panels, so that lines can be told apart.
CCAS_A_PANEL = 8
# Largest number of steps that are plotted. If there are more values, the steps are evenly spaced in rank.
STEPS_AT_MOST = 200
# Heights at which a name may be placed next to its line.
NAMED_AT = (0.15, 0.35, 0.5, 0.65, 0.85)
# Number of heights at which the positions of lines are determined, so that names don't overlap the lines.
HEIGHTS_KEPT_FREE = 30
SHARES = Axis("linear", 0.0, 1.0, (0, 0.5, 1))
LINES = {"ipv4": "-", "ipv6": (0, (2.2, 1.4))}


def steps(values) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of an empirical distribution function.

    ``values`` (float, shape (n,)) contains at least one element. Returns the sorted values and, for each sorted value, the share of
    values that aren't larger. Both arrays contain n elements, or at most `STEPS_AT_MOST` if n is larger.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    ranks = np.arange(n)
    if n > STEPS_AT_MOST:
        ranks = np.unique(np.linspace(0, n - 1, STEPS_AT_MOST).round().astype(int))
    return ordered[ranks], (ranks + 1) / n


def _figure_rows(runs) -> pd.DataFrame:
    """Return the figure's data: one row per step; for a cell without values, one row with the reason."""
    rows = []
    for (scenario, *cell), group in runs.groupby(CELL, sort=False):
        known = group.loc[group["valid"] & group[METRIC.column].notna(), METRIC.column]
        first = (scenario, group["scenario_label"].iloc[0], *cell, len(known))
        if len(known):
            rows += [(*first, value, share, "") for value, share in zip(*steps(known), strict=True)]
        else:
            rows.append((*first, None, None, "no value" if group["valid"].any() else "no valid run"))
    columns = ["scenario", "scenario_label", "cca", "ip_version", "n", METRIC.column, "share", "note"]
    return pd.DataFrame(rows, columns=columns).astype(object)


def _key(ip_versions):
    return [
        Line2D([], [], color=LIGHT.ink, lw=1.2, ls=LINES.get(name, "-"), marker="o", ms=4,
               mfc="none" if name == "ipv6" else LIGHT.ink, mec=LIGHT.ink, label=ip_words(name))
        for name in ip_versions
    ]  # fmt: skip


def _draw_cells(axes, data) -> str:
    """Draw the lines of a panel; return, in words, each cell's minimum, median and maximum."""
    anchors, dots, missing, words = {}, [], [], []
    for (cca, ip_version), cell in data.groupby(["cca", "ip_version"], sort=False):
        name = f"{cca} {ip_words(ip_version)}"
        if is_missing(cell[METRIC.column].iloc[0]):
            missing.append((name, cell["note"].iloc[0]))
            words.append(f"{name}: {cell['note'].iloc[0]}")
            continue
        values, shares = (cell[column].to_numpy(float) for column in (METRIC.column, "share"))
        colour = cca_colour(cca)
        xs, ys = [values[0], *values], [0.0, *shares]
        (line,) = axes.step(xs, ys, where="post", color=colour, lw=1.1, ls=LINES.get(ip_version, "-"), zorder=2)
        tell_line(line, name, METRIC.unit, "of the replications")
        middle = values[np.searchsorted(shares, 0.5)]
        axes.plot(
            [middle], [0.5], ls="none", marker=cca_marker(cca), ms=4.2, mec=colour, mew=1,
            mfc="none" if ip_version == "ipv6" else colour, zorder=3,
        )  # fmt: skip
        anchors.setdefault(cca, []).extend(zip(values[np.searchsorted(shares, NAMED_AT)], NAMED_AT, strict=True))
        heights = np.linspace(0.02, 1, HEIGHTS_KEPT_FREE)
        dots += zip(values[np.searchsorted(shares, heights - 1e-9)], heights, strict=True)
        words.append(f"{name}: {number(values[0])}, {number(middle)}, {number(values[-1])}")
    name_marks(axes, anchors, dots, dot_cost=12, leader_from=2)
    name_missing(axes, missing)
    return "; ".join(words)


def plot_distributions(runs, scenarios) -> Drawing:
    """Return the figure and its data."""
    data, name = _figure_rows(runs), METRIC.name
    parts = parts_of(list(runs["cca"].unique()), CCAS_A_PANEL)
    drawn = ScenarioFigure(
        f"{name}: distribution of the replications", _key(runs["ip_version"].unique()), len(scenarios) * len(parts),
        PLOT_PT, LEFT_PT, RIGHT_PT, above=NAME_PT,
    )  # fmt: skip
    for scenario in scenarios.to_dict("records"):
        of_scenario = data[data["scenario"] == scenario["scenario"]]
        # Each scenario has its own axis, because this figure is about the curves' shapes.
        axis = axis_for([value for value in of_scenario[METRIC.column] if not is_missing(value)])
        for part in parts:
            x_words = f"{name}, {METRIC.unit}"
            axes = drawn.add_plot(scenario, axis, x_words, SHARES, "share of replications at or below")
            cells = _draw_cells(axes, of_scenario[of_scenario["cca"].isin(part)])
            drawn.finish(
                axes,
                f"Distribution of {name.lower()} over the replications in {heading(scenario)} "
                f"({conditions(scenario)}). Smallest value, median and largest value in {METRIC.unit}: {cells}.",
            )
    return drawn.drawing(f"Distribution of {name.lower()} in each cell", data)
