"""Plot each quantity's error at each point, with the measurement's uncertainty and the part of the error that has a known cause."""

from dataclasses import dataclass

from figure_parts.axis_scales import difference_axis
from figure_parts.category_panels import CategoryPanels, draw_interval, slots
from figure_parts.figure_style import LIGHT, apply_style
from figure_parts.figure_svg import Drawing
from figure_parts.tooltips import tell, value_words
from wording.number_format import is_missing, number, plain, tick

TITLE = "Error of each quantity, point by point"
#: Half the length of a dash, as a share of a slot's width.
DASH = 0.3
#: An uncertainty that extends beyond this multiple of the largest error, and beyond this value in ppm, ends in an arrowhead.
REACH, LEAST_PPM = 3, 50


@dataclass(frozen=True)
class ErrorPanel:
    """A panel of the figure: the quantity, the label below the slots, and the column that is plotted."""

    quantity: str
    slots: str
    value: str = "error_ppm"


PANELS = (
    ErrorPanel("rate", "Mbit/s"),
    ErrorPanel("delay", "ms, there and back"),
    ErrorPanel("serialisation", "µs, there and back"),
    ErrorPanel("loss", "% set", "z"),
    ErrorPanel("jitter", "ms expected", "z"),
)


def draw_errors(table) -> CategoryPanels:
    """Draw the errors in ``analysis/calibration.csv``."""
    apply_style()
    plan = [(panel, rows) for panel in PANELS if len(rows := _rows_of(table, panel))]
    drawn = CategoryPanels(TITLE, len(plan), columns=min(2, len(plan)) or 1)
    for panel, rows in plan:
        unit = "error in ppm" if panel.value == "error_ppm" else "error over standard error"
        axes = drawn.add(panel.quantity.capitalize(), unit, _axis_of(rows, panel))
        names = [tick(float(f"{row['expected']:.3g}")) for row in rows]
        slots(axes, names, panel.slots)
        axes.tick_params(axis="x", labelsize=5.5)
        axes.axhline(0, color=LIGHT.muted, lw=0.7, zorder=1)
        for place, row in enumerate(rows):
            _draw_point(axes, place, row, panel)
        values = ", ".join(f"{name}: {number(row[panel.value], 1)}" for name, row in zip(names, rows, strict=True))
        drawn.finish(axes, f"{panel.quantity.capitalize()}, {unit} by {panel.slots}: {values}.")
    return drawn


def _rows_of(table, panel):
    rows = table[(table["quantity"] == panel.quantity) & table[panel.value].notna()]
    return rows.sort_values("expected", kind="stable").to_dict("records")


def _axis_of(rows, panel):
    """Return an axis long enough for all errors, and for their uncertainties unless these are far larger than the errors."""
    if panel.value == "z":
        return difference_axis([row["z"] for row in rows], least=3.5)
    values = [row[name] for row in rows for name in ("error_ppm", "known_ppm")]
    reach = max(LEAST_PPM, REACH * max(map(abs, values)))
    ends = [row["error_ppm"] + side * row["uncertainty_ppm"] for row in rows for side in (-1, 1)]
    return difference_axis([*values, *(end for end in ends if abs(end) <= reach)], least=LEAST_PPM)


def _draw_point(axes, place, row, panel):
    if panel.value == "error_ppm":
        if not is_missing(row["uncertainty_ppm"]) and row["uncertainty_ppm"]:
            ends = row["error_ppm"] - row["uncertainty_ppm"], row["error_ppm"] + row["uncertainty_ppm"]
            draw_interval(axes, place, *ends, LIGHT.blue)
        if row["known_ppm"]:
            axes.plot([place - DASH, place + DASH], [row["known_ppm"]] * 2, color=LIGHT.muted, lw=0.9, zorder=2)
    colour = LIGHT.maroon if row["verdict"] == "off" else LIGHT.blue
    (mark,) = axes.plot([place], [row[panel.value]], ls="none", marker="o", ms=3.6, mew=0, color=colour, zorder=3)
    unit = "standard errors" if panel.value == "z" else "ppm"
    tell(
        mark, [f"{value_words(row[panel.value], unit=unit)} at {plain(row['expected'])} {row['unit']}"], row["scenario"]
    )


def plot_errors(calibration) -> Drawing:
    """Return the figure and its data."""
    return draw_errors(calibration).drawing(TITLE, calibration)
