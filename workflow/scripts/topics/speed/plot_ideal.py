"""Plot, as a heat map, the percentage of the ideal goodput that each CCA reaches in each scenario."""

import math

import pandas as pd
from matplotlib.patches import Rectangle

from figure_parts.figure_style import (
    FONT_SIZE_PT,
    LIGHT,
    RAMP_STEPS,
    SMALL_SIZE_PT,
    apply_style,
    ramp_colour,
    ramp_text_colour,
)  # fmt: skip
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import LETTER_SHARE, Grid, PanelFigure, panel_title, parts_of
from figure_parts.scenario_rows import LABELS_PT, ROW_PT, label_rows, shared_and_own
from figure_parts.tooltips import cell_name, tell, value_words
from run_tables.run_keys import CELL
from study_files.study_design import cell_words
from wording.number_format import is_missing
from wording.scenario_words import heading, ip_words

# Bounds in % between the steps of the colour ramp, from below 1 % to at least 90 %.
BOUNDS_PERCENT = (1, 3, 10, 30, 60, 90)
# If there are more CCAs than this, they are split into several panels, so that tiles stay legible on a phone.
CCAS_A_PANEL = 8
TILE_PT, RIGHT_PT, NAMES_PT, TITLE_PT, KEY_PT, HEADER_PT = 23, 14, 36, 32, 34, 32
# Type size of the CCAs' names above the columns, and their slope in degrees.
NAME_PT, SLOPE = FONT_SIZE_PT - 0.5, 50
NO_IDEAL = "no ideal known"


def _ideal_shares(runs) -> pd.DataFrame:
    """Return one row per cell, with means over the valid runs.

    ``percent`` is the mean goodput as a percentage of the ideal; if it is missing, ``note`` gives the reason.
    """
    rows = []
    for (scenario, *cell), group in runs.groupby(CELL, sort=False):
        valid = group[group["valid"] & group["goodput_mbps"].notna()]
        known = valid[valid["ideal_goodput_mbps"] > 0]
        note = "no value" if group["valid"].any() else "no valid run"
        if len(valid):
            note = "" if len(known) else NO_IDEAL
        of_means = valid["goodput_mbps"], known["ideal_goodput_mbps"], known["ideal_percent"]
        means = (values.mean() for values in of_means)
        rows.append((scenario, group["scenario_label"].iloc[0], *cell, len(valid), *means, note))
    columns = ["scenario", "scenario_label", "cca", "ip_version", "n", "goodput_mbps", "ideal_goodput_mbps", "percent"]
    return pd.DataFrame(rows, columns=[*columns, "note"]).astype(object)


def ramp_step(percent) -> int:
    """Return the step of the colour ramp, 1 to 7, for a share of the ideal in percent."""
    return 1 + sum(percent >= bound for bound in BOUNDS_PERCENT)


def share_words(percent) -> str:
    """Return the text of a tile for a share of the ideal: <0.01, 0.04, 3.2, 97.1, 100."""
    if 0 < percent < 0.005:
        return "<0.01"
    if percent >= 99.95:
        return f"{percent:.0f}"
    return f"{percent:.1f}" if percent >= 0.095 or percent == 0 else f"{percent:.2f}"


def _draw(shares, scenarios, ccas, ip_versions) -> PanelFigure:
    """Draw one panel per IP version, with a row of tiles for each scenario and a column for each CCA."""
    apply_style()
    parts = parts_of(ccas, CCAS_A_PANEL)
    shown = [(ip_version, part) for part in parts for ip_version in ip_versions]
    # Long names, such as those of mixes and programs, need more space above the tiles and to their right.
    long, slope = LETTER_SHARE * NAME_PT * max(map(len, ccas), default=0), math.radians(SLOPE)
    names = max(NAMES_PT, long * math.sin(slope) + 4)
    beside = max(RIGHT_PT, long * math.cos(slope) - TILE_PT / 2)
    width = LABELS_PT + TILE_PT * max(6, len(parts[0])) + beside
    top = TITLE_PT + names
    grid = Grid(len(shown), len(ip_versions), width, top + ROW_PT * len(scenarios) + KEY_PT, HEADER_PT)
    drawn = PanelFigure("Goodput over the ideal, %", grid, (LABELS_PT, beside, top, KEY_PT))
    places = {name: row for row, name in enumerate(scenarios["scenario"])}
    for ip_version, part in shown:
        right = width - LABELS_PT - TILE_PT * len(part)
        axes = drawn.next_axes(right)
        of_panel = shares[
            (shares["ip_version"] == ip_version) & shares["cca"].isin(part) & shares["scenario"].isin(places)
        ]
        axes.set_xlim(0, len(part))
        axes.set_ylim(len(scenarios) - 0.5, -0.5)
        axes.set_axis_off()
        panel_title(axes, ip_words(ip_version), _below_title(of_panel, scenarios), LABELS_PT, names, right)
        label_rows(axes, scenarios)
        for column, cca in enumerate(part):
            axes.text(
                column + 0.45, -0.5 - 4 / ROW_PT, cca, size=NAME_PT, color=LIGHT.ink,
                rotation=SLOPE, rotation_mode="anchor", ha="left", va="baseline",
            )  # fmt: skip
        for cell in of_panel.to_dict("records"):
            _tile(axes, part.index(cell["cca"]), places[cell["scenario"]], cell)
        _key(axes, len(scenarios))
        drawn.finish(axes, _describe(of_panel, scenarios, ip_version))
    return drawn


def _below_title(of_panel, scenarios):
    if len(of_panel) and (of_panel["note"] == NO_IDEAL).all():
        return "no ideal: neither the link nor the sender has a limit"
    shared, _ = shared_and_own(scenarios)
    return f"% of the ideal goodput, {shared}" if shared else "% of the ideal goodput"


def _tile(axes, column, row, cell):
    gap_x, gap_y = 1 / TILE_PT, 1 / ROW_PT
    known = not is_missing(cell["percent"])
    step = ramp_step(cell["percent"]) if known else None
    tile = axes.add_patch(
        Rectangle(
            (column + gap_x / 2, row - 0.5 + gap_y / 2), 1 - gap_x, 1 - gap_y,
            fc=ramp_colour(step) if known else "none", ec="none" if known else LIGHT.line,
            lw=0 if known else 0.8, ls="-" if known else (0, (2, 2)),
        )
    )  # fmt: skip
    words = value_words(cell["percent"], unit="% of the ideal", n=cell["n"])
    goodput = value_words(cell["goodput_mbps"], unit="Mbit/s")
    tell(tile, [f"{words}, goodput {goodput}" if known else cell["note"]], cell_name([cell]))
    text = share_words(cell["percent"]) if known else "?" if cell["note"] == NO_IDEAL else "none"
    axes.text(
        column + 0.5, row, text, size=SMALL_SIZE_PT if known and len(text) < 5 else SMALL_SIZE_PT - 0.5 - known, ha="center",
        va="center_baseline", color=ramp_text_colour(step) if known else LIGHT.muted,
        style="normal" if known else "italic",
    )  # fmt: skip


def _key(axes, rows):
    # The steps are drawn side by side, with the bounds between successive steps below them.
    width = 6 / RAMP_STEPS
    top, height = rows - 0.5 + 9 / ROW_PT, 7 / ROW_PT
    for step in range(1, RAMP_STEPS + 1):
        axes.add_patch(Rectangle(((step - 1) * width, top), width, height, fc=ramp_colour(step), ec="none", lw=0))
    for step, bound in enumerate(BOUNDS_PERCENT, 1):
        axes.text(
            step * width, top + height + 8 / ROW_PT, f"{bound}", size=SMALL_SIZE_PT - 0.5,
            color=LIGHT.muted, ha="center", va="baseline",
        )  # fmt: skip
    axes.text(
        -5 / TILE_PT, top + height / 2, "% of the ideal", size=SMALL_SIZE_PT - 0.5,
        color=LIGHT.muted, ha="right", va="center_baseline",
    )  # fmt: skip


def _describe(of_panel, scenarios, ip_version):
    parts = []
    for scenario in scenarios.to_dict("records"):
        cells = of_panel[of_panel["scenario"] == scenario["scenario"]].to_dict("records")
        values = ", ".join(
            f"{cell['cca']} {cell['note'] if is_missing(cell['percent']) else share_words(cell['percent'])}"
            for cell in cells
        )
        parts.append(f"{heading(scenario)}: {values}")
    return f"Mean goodput as a percentage of the ideal, {ip_words(ip_version)}. {'; '.join(parts)}."


def plot_ideal(runs, scenarios) -> Drawing:
    """Return the figure and its data."""
    shares = _ideal_shares(runs)
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    known = shares[shares["note"] != NO_IDEAL]
    if len(known):
        scenarios = scenarios[scenarios["scenario"].isin(known["scenario"])]
    drawn = _draw(shares, scenarios, ccas, ip_versions)
    return drawn.drawing(f"Goodput relative to the ideal, by {cell_words(ccas, ip_versions)}", shares)
