"""Plot the accuracy of the emulation: realised minus configured loss and RTT."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.axis_scales import difference_axis
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.scenario_panels import (
    MINUS,
    Grid,
    PanelFigure,
    interval_line,
    panel_title,
    remark,
    rows_of,
    unit_below,
    value_axis,
)  # fmt: skip
from figure_parts.scenario_rows import LABELS_PT, ROW_PT, label_rows
from figure_parts.tooltips import tell
from topics.validity.emulation_check import realised_loss, smallest_rtt
from wording.number_format import is_missing, number, plain
from wording.scenario_words import heading, shared_and_own

WIDTH_PT, RIGHT_PT, TITLE_PT, AXIS_PT = 290, 50, 44, 32
# The axes extend to at least this value on both sides of 0, in the quantity's unit.
LEAST = {"loss": 0.01, "smallest RTT": 1.0}
TITLES = {"loss": "Loss of the link", "smallest RTT": "Smallest round-trip time"}
UNITS = {"loss": "percentage points", "smallest RTT": "ms"}


def _draw_emulation(checks, scenarios, confidence):
    """Return the figure, with one panel for each of the tables `checks`; `confidence` applies to the interval of the loss."""
    apply_style()
    grid = Grid(len(checks), len(checks), WIDTH_PT, TITLE_PT + ROW_PT * len(scenarios) + AXIS_PT)
    key = [
        Line2D([], [], ls="none", marker="o", ms=4.5, mew=0, color=LIGHT.blue, label="realised"),
        Line2D([], [], color=LIGHT.ink, lw=1, label=f"loss: {100 * confidence:g} % interval; RTT: range of the runs"),
    ]
    margins = LABELS_PT, RIGHT_PT, TITLE_PT, AXIS_PT
    drawn = PanelFigure("Emulation: realised minus configured", grid, margins, key)
    shared, _ = shared_and_own(scenarios)
    for checked in checks:
        quantity = checked["quantity"].iloc[0]
        off = checked[["realised", "low", "high"]].to_numpy(float) - checked[["configured"]].to_numpy(float)
        axis = difference_axis(off[~np.isnan(off)].tolist(), least=LEAST[quantity])
        axes = drawn.next_axes()
        value_axis(axes, "x", axis, spaced=True)
        rows_of(axes, [""] * len(scenarios))
        label_rows(axes, scenarios)
        unit_below(axes, axis, f"realised {MINUS} configured, {UNITS[quantity]}")
        panel_title(axes, TITLES[quantity], shared, LABELS_PT, TITLE_PT - 32, RIGHT_PT)
        axes.axvline(0, color=LIGHT.muted, lw=0.9, zorder=1)
        _beside(axes, -1, "realised", LIGHT.muted)
        for row, (cell, values) in enumerate(zip(checked.to_dict("records"), off, strict=True)):
            _row(axes, row, cell, *values)
        drawn.finish(axes, _describe(checked, scenarios, confidence))
    return drawn


def _row(axes, row, cell, deviation, low, high):
    if is_missing(cell["realised"]):
        remark(axes, row, cell["note"])
        return
    interval_line(axes, low, high, row)
    (mark,) = axes.plot([deviation], [row], ls="none", marker="o", ms=4.5, mew=0, color=LIGHT.blue, zorder=4)
    ends = f"{number(cell['low'])} to {number(cell['high'])} {cell['unit']}"
    words = f"configured {plain(cell['configured'])} {cell['unit']}, realised {_words(cell)} {cell['unit']} ({ends})"
    tell(mark, [words], cell["scenario"])
    _beside(axes, row, f"{_words(cell)} {cell['unit']}", LIGHT.ink)


def _words(cell):
    # Enough decimals to show whether the realised value equals the configured value.
    return plain(cell["realised"]) if cell["realised"] in (0, cell["configured"]) else number(cell["realised"])


def _beside(axes, row, text, colour):
    y = row if row >= 0 else -0.5 - 5 / ROW_PT
    axes.text(
        1.03, y, text, size=SMALL_SIZE_PT - 0.5, color=colour, va="center_baseline",
        transform=axes.get_yaxis_transform(),
    )  # fmt: skip


def _describe(checked, scenarios, confidence):
    parts = []
    for scenario, cell in zip(scenarios.to_dict("records"), checked.to_dict("records"), strict=True):
        unit = cell["unit"]
        if is_missing(cell["realised"]):
            words = cell["note"]
        else:
            words = f"{_words(cell)} {unit} ({number(cell['low'])} to {number(cell['high'])} {unit})"
        parts.append(f"{heading(scenario)}: configured {plain(cell['configured'])} {unit}, realised {words}")
    quantity = checked["quantity"].iloc[0]
    line = f"{100 * confidence:g} % interval" if quantity == "loss" else "the range of the runs"
    return f"{TITLES[quantity]}, realised and configured values, with {line}. {'; '.join(parts)}."


def plot_emulation(runs, scenarios, confidence, loss_changing, rtt_shifts_ms) -> Drawing:
    """Return the figure and its data."""
    loss = realised_loss(runs, scenarios, confidence, loss_changing)
    checks = [loss, smallest_rtt(runs, scenarios, rtt_shifts_ms)]
    drawn = _draw_emulation(checks, scenarios, confidence)
    title = "Realised minus configured loss and round-trip time"
    return drawn.drawing(title, pd.concat(checks, ignore_index=True))
